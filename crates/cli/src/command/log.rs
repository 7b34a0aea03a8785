//! `ctx log`: the history, one entry per commit.

use contextree::diff;
use contextree::{Class, Region, Snapshot};
use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, count};
use crate::source::Source;

/// List the snapshots, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx log                  every commit: what it sealed, what came, went and changed
  ctx log -n 5             the newest five
  ctx log --jsonl | jq .digest")]
pub(crate) struct Args {
    /// Print at most N entries
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Oldest first
    #[arg(long)]
    reverse: bool,
}

/// What is known of one commit.
struct Entry<'s> {
    snapshot: &'s Snapshot,
    /// How far back it is.
    back: usize,
    /// What it did; nothing for the oldest snapshot of a history that begins later than commit 1.
    diff: Option<diff::Diff>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call.global)?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let mut entries = Vec::new();
    let mut snapshots = source.snapshots().enumerate().peekable();
    while let Some((back, snapshot)) = snapshots.next() {
        if entries.len() == limit {
            break;
        }
        let before = snapshots.peek().map(|(_, before)| before.view());
        let diff = before.map(|before| diff::diff(before, snapshot.view()));
        entries.push(Entry { snapshot, back, diff });
    }
    let left = source.snapshot_count() - entries.len();
    if args.reverse {
        entries.reverse();
    }
    if call.output.format() == Format::Human {
        human(&entries, left, call);
    } else {
        call.output.values(entries.iter().map(to_value).collect());
    }
    Ok(Exit::Ok)
}

/// The turn that the commit sealed: the newest one.
fn sealed<'s>(snapshot: &'s Snapshot) -> Option<contextree::NodeRef<'s>> {
    snapshot.view().region(Region::Seq).children_rev().next()
}

fn human(entries: &[Entry<'_>], left: usize, call: &mut Call<'_>) {
    if entries.is_empty() {
        call.output.note("there is no snapshot yet: `ctx commit` makes the first");
        return;
    }
    let titles = ["snapshot", "", "turn", "when", "came", "went", "changed", "nodes", "digest"];
    let mut table = Table::new(&titles).right(4).right(5).right(6).right(7);
    for entry in entries {
        let turn = sealed(entry.snapshot);
        let number = |style, pick: fn(&diff::Diff) -> usize, mark: char| match &entry.diff {
            Some(diff) => paint(style, format!("{mark}{}", pick(diff))),
            None => String::new(),
        };
        let digest = entry.snapshot.digest().to_string();
        table.row(vec![
            paint(style::TITLE, format!("@c{}", entry.snapshot.cycle())),
            paint(style::DIM, back(entry.back)),
            turn.map_or_else(String::new, |turn| paint(style::ID, turn.id())),
            turn.map_or_else(String::new, |turn| ago(turn.created_at_ns(), call.environment.now)),
            number(style::ADDED, |diff| diff.added.len(), '+'),
            number(style::REMOVED, |diff| diff.removed.len(), '-'),
            number(style::CHANGED, |diff| diff.changed.len(), '~'),
            entry.snapshot.view().node_count().to_string(),
            digest.chars().take(12).collect(),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    if left > 0 {
        call.output.note(&paint(style::DIM, format!("… {}", count(left, "older snapshot"))));
    }
}

fn back(back: usize) -> String {
    if back == 0 { "@t0".to_owned() } else { format!("@t-{back}") }
}

fn to_value(entry: &Entry<'_>) -> Value {
    let snapshot = entry.snapshot;
    let blocks = snapshot.view().nodes().filter(|(_, node)| node.class() == Class::Block);
    let (number, bytes) = blocks.fold((0_u64, 0_u64), |(number, bytes), (_, block)| {
        (number + 1, bytes + block.content().byte_len() as u64)
    });
    let mut object = Object::from_iter([
        ("address", Value::from(back(entry.back))),
        ("cycle", snapshot.cycle().into()),
        ("digest", snapshot.digest().to_string().into()),
        ("history_digest", snapshot.history_digest().to_string().into()),
        ("nodes", (snapshot.view().node_count() as u64).into()),
        ("blocks", number.into()),
        ("bytes", bytes.into()),
    ]);
    if let Some(turn) = sealed(snapshot) {
        object.insert("turn", turn.id().into());
        object.insert("sealed_at_ns", turn.created_at_ns().into());
        object.insert("sealed_at_iso", turn.created_at_iso().into());
    }
    if let Some(diff) = &entry.diff {
        object.insert("added", (diff.added.len() as u64).into());
        object.insert("removed", (diff.removed.len() as u64).into());
        object.insert("changed", (diff.changed.len() as u64).into());
    }
    object.into()
}
