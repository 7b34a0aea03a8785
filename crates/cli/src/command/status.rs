//! `ctx status`: where things stand, and what is likely to come next.

use contextree::diff;
use contextree::{Class, Region, TreeRef};
use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::text::{count, one_line, size};
use crate::source::Source;
use crate::view::difference::words;

/// Say where things stand: the newest snapshot, what is not committed, what expires next
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx status
  ctx status --json | jq .due      what the coming commit takes away")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call)?;
    let (newest, working) = (source.newest()?, source.working()?);
    let next_cycle = working.tree().next_cycle();
    let pending = diff::diff(newest.tree(), working.tree());
    let due: Vec<&str> = working
        .tree()
        .nodes()
        .filter(|(_, node)| node.ttl() == Some(0))
        .map(|(_, node)| node.id())
        .collect();
    if call.output.format() != Format::Human {
        let head = newest.snapshot().map_or(Value::Null, |snapshot| {
            Value::Object(Object::from_iter([
                ("cycle", Value::from(snapshot.cycle())),
                ("digest", snapshot.digest().to_string().into()),
                ("history_digest", snapshot.history_digest().to_string().into()),
            ]))
        });
        let number = |list: usize| Value::from(list as u64);
        let pending = Object::from_iter([
            ("added", number(pending.added.len())),
            ("removed", number(pending.removed.len())),
            ("changed", number(pending.changed.len())),
        ]);
        let regions = Region::ALL.map(|region| {
            let (blocks, bytes) = contents(working.tree(), region);
            let counts = [("blocks", number(blocks)), ("bytes", Value::from(bytes))];
            (region.word(), Value::Object(Object::from_iter(counts)))
        });
        call.output.value(&Value::Object(Object::from_iter([
            ("place", Value::from(source.place())),
            ("edition", source.edition().as_str().into()),
            ("head", head),
            ("next_cycle", next_cycle.into()),
            ("snapshots", number(source.snapshot_count())),
            ("turns", number(working.tree().turn_count())),
            ("pending", pending.into()),
            ("regions", Value::Object(Object::from_iter(regions))),
            ("due", Value::Array(due.iter().map(|id| Value::from(*id)).collect())),
        ])));
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    let mut line = |label: &str, text: String| {
        out.push_str(&format!("{}{text}\n", paint(style::DIM, format!("{label:<9} "))));
    };
    line("from", one_line(source.place()));
    line(
        "newest",
        match newest.snapshot() {
            Some(snapshot) => {
                let digest: String = snapshot.digest().to_string().chars().take(12).collect();
                let label = paint(style::TITLE, format!("@c{}", snapshot.cycle()));
                format!("{label}  {}, digest {digest}", count(source.snapshot_count(), "snapshot"))
            }
            None => "no snapshot yet".to_owned(),
        },
    );
    for region in Region::ALL {
        let (blocks, bytes) = contents(working.tree(), region);
        let turns = match region {
            Region::Seq => format!("{}, ", count(working.tree().turn_count(), "turn")),
            _ => String::new(),
        };
        line(region.word(), format!("{turns}{}, {}", count(blocks, "block"), size(bytes)));
    }
    line(
        "pending",
        match newest.snapshot() {
            Some(_) => words(&pending),
            None if working.tree().node_count() == 4 => {
                "nothing yet: `ctx add --role user 'Hello'` adds a node".to_owned()
            }
            None => count(working.tree().node_count() - 4, "node"),
        },
    );
    if !due.is_empty() {
        let text =
            format!("{} with commit {}: {}", count(due.len(), "node"), next_cycle, due.join(", "));
        line("expires", paint(style::DUE, text));
    }
    call.output.text(&out);
    Ok(Exit::Ok)
}

/// Blocks of a region, and the bytes of their contents.
fn contents(tree: TreeRef<'_>, region: Region) -> (usize, u64) {
    let blocks = tree.region(region).subtree().filter(|(_, node)| node.class() == Class::Block);
    blocks.fold((0, 0), |(number, bytes), (_, block)| {
        (number + 1, bytes + block.content().byte_len() as u64)
    })
}
