//! `ctx log`: the history, one entry per commit.

use std::collections::BTreeMap;

use contextree::diff;
use contextree::{Class, CommitReport, Region, Snapshot};
use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, count};
use crate::source::Source;
use crate::view::report;

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
struct Entry {
    snapshot: Snapshot,
    /// How far back it is.
    back: usize,
    /// How many nodes came, went and changed; nothing for the oldest snapshot of a history that does not begin with the first commit.
    changes: Option<[usize; 3]>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call)?;
    let limit = args.limit.unwrap_or(usize::MAX);
    // One more, to compare the last one with.
    let snapshots = source.newest_snapshots(limit.saturating_add(1))?;
    let mut entries: Vec<Entry> = (0..snapshots.len().min(limit))
        .map(|back| {
            let (snapshot, before) = (snapshots[back].clone(), snapshots.get(back + 1));
            let changes = match before {
                Some(before) => {
                    let diff = diff::diff(before.view(), snapshot.view());
                    Some([diff.added.len(), diff.removed.len(), diff.changed.len()])
                }
                // Before the first commit there were the root and three regions.
                None if snapshot.cycle() == 1 => Some([snapshot.view().node_count() - 4, 0, 0]),
                None => None,
            };
            Entry { snapshot, back, changes }
        })
        .collect();
    let left = source.snapshot_count() - entries.len();
    let oldest = entries.last().map_or(0, |entry| entry.snapshot.cycle());
    let newest = entries.first().map_or(0, |entry| entry.snapshot.cycle());
    let reports = match call.output.format() {
        Format::Human => BTreeMap::new(),
        _ => source.reports(oldest.saturating_sub(1), newest)?,
    };
    if args.reverse {
        entries.reverse();
    }
    if call.output.format() == Format::Human {
        human(&entries, left, call);
    } else {
        let value = |entry: &Entry| to_value(entry, reports.get(&entry.snapshot.cycle()));
        call.output.values(entries.iter().map(value).collect());
    }
    Ok(Exit::Ok)
}

/// The turn that the commit sealed: the newest one.
fn sealed(snapshot: &Snapshot) -> Option<contextree::NodeRef<'_>> {
    snapshot.view().region(Region::Seq).children_rev().next()
}

fn human(entries: &[Entry], left: usize, call: &mut Call<'_>) {
    if entries.is_empty() {
        call.output.note("there is no snapshot yet: `ctx commit` makes the first");
        return;
    }
    let titles = ["snapshot", "", "turn", "when", "came", "went", "changed", "nodes", "digest"];
    let mut table = Table::new(&titles).right(4).right(5).right(6).right(7);
    for entry in entries {
        let turn = sealed(&entry.snapshot);
        let number = |style, index: usize, mark: char| match &entry.changes {
            Some(changes) => paint(style, format!("{mark}{}", changes[index])),
            None => String::new(),
        };
        let digest = entry.snapshot.digest().to_string();
        table.row(vec![
            paint(style::TITLE, format!("@c{}", entry.snapshot.cycle())),
            paint(style::DIM, back(entry.back)),
            turn.map_or_else(String::new, |turn| paint(style::ID, turn.id())),
            turn.map_or_else(String::new, |turn| ago(turn.created_at_ns(), call.environment.now)),
            number(style::ADDED, 0, '+'),
            number(style::REMOVED, 1, '-'),
            number(style::CHANGED, 2, '~'),
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

fn to_value(entry: &Entry, report: Option<&CommitReport>) -> Value {
    let snapshot = &entry.snapshot;
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
    if let Some([added, removed, changed]) = entry.changes {
        object.insert("added", (added as u64).into());
        object.insert("removed", (removed as u64).into());
        object.insert("changed", (changed as u64).into());
    }
    if let Some(report) = report {
        object.insert("report", report::to_value(report));
    }
    object.into()
}
