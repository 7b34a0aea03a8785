//! `ctx contexts`: the contexts of a store, as a list or as a graph of forks.

use std::collections::BTreeMap;

use contextree::json::{Object, Value};
use contextree_app::command::contexts::{self, ContextBranch, ContextsRequest};
use contextree_app::wire::{self, ContextRow};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, word};

/// List the contexts of the store, by name, with the origin of forks
///
/// `--graph` draws every context below the one that it was forked from. `*` marks the context that commands use without `-c`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx contexts
  ctx contexts --graph                    forks below their origin
  ctx contexts --jsonl | jq -r .name
  ctx contexts --after m --limit 100      a page of them")]
pub(crate) struct Args {
    /// Only names after this one
    #[arg(long, value_name = "NAME")]
    after: Option<String>,

    /// At most N
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Draw forks below their origin
    #[arg(long, conflicts_with_all = ["after", "limit"])]
    graph: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ContextsRequest { after: args.after.clone(), limit: args.limit, branches: true };
    let found = call
        .on(&call.store(), |workspace, control| contexts::contexts(workspace, &request, control))?;
    let (rows, branches) = (found.contexts, found.branches.unwrap_or_default());
    let origins: BTreeMap<&str, &ContextBranch> =
        branches.iter().map(|branch| (branch.context.as_str(), branch)).collect();
    if call.output.format() != Format::Human {
        let values = rows.iter().map(|row| value(row, origins.get(row.name.as_str()).copied()));
        let values = values.collect();
        call.output.values(values);
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        call.output.note("there is no context yet: `ctx new` creates one");
        return Ok(Exit::Ok);
    }
    let titles = ["context", "", "newest", "snapshots", "from", "revision", "written"];
    let mut table = Table::new(&titles).right(3).right(5).spare(&[5, 3]);
    let drawn = match args.graph {
        true => graph(&rows, &origins),
        false => rows.iter().map(|row| (String::new(), row)).collect(),
    };
    for (lines, row) in drawn {
        let origin = origins.get(row.name.as_str());
        table.row(vec![
            format!("{}{}", paint(style::DIM, lines), paint(style::ID, word(&row.name))),
            if row.name == call.global.context { "*".to_owned() } else { String::new() },
            row.head.as_ref().map_or_else(|| "–".to_owned(), |head| format!("@c{}", head.cycle)),
            row.snapshots.to_string(),
            origin.map(|origin| from(origin)).unwrap_or_default(),
            row.revision.to_string(),
            ago(row.updated_ns, call.environment.now),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    Ok(Exit::Ok)
}

/// Returns where a context was forked, as an address that `ctx diff` reads.
fn from(origin: &ContextBranch) -> String {
    let name = origin.from.as_deref().map(word);
    match (name, origin.cycle) {
        (Some(name), 0) => format!("{name}, before its first commit"),
        (Some(name), cycle) => format!("{name}@c{cycle}"),
        (None, cycle) => format!("@c{cycle} of a context that is not here"),
    }
}

/// Returns a row for programs: with its origin, if it has one.
fn value(row: &ContextRow, origin: Option<&ContextBranch>) -> Value {
    let mut value = wire::to_value(row);
    if let (Value::Object(object), Some(origin)) = (&mut value, origin) {
        let name = origin.from.as_deref().map_or(Value::Null, Value::from);
        let fields = [("context", name), ("cycle", Value::from(origin.cycle))];
        object.insert("origin", Value::Object(Object::from_iter(fields)));
    }
    value
}

/// Returns the contexts with the lines of a graph: each below its origin, forks by the commit that they begin with.
fn graph<'r>(
    rows: &'r [ContextRow],
    origins: &BTreeMap<&str, &ContextBranch>,
) -> Vec<(String, &'r ContextRow)> {
    let mut below: BTreeMap<&str, Vec<(u32, &ContextRow)>> = BTreeMap::new();
    let mut tops = Vec::new();
    for row in rows {
        match origins.get(row.name.as_str()).map(|origin| (origin.from.as_deref(), origin.cycle)) {
            Some((Some(from), cycle)) => below.entry(from).or_default().push((cycle, row)),
            _ => tops.push(row),
        }
    }
    for forks in below.values_mut() {
        forks.sort_by(|left, right| (left.0, &left.1.name).cmp(&(right.0, &right.1.name)));
    }
    let mut drawn = Vec::with_capacity(rows.len());
    // What is left to draw, the next one last: a stack, because a chain of forks may be long.
    let mut left: Vec<(String, String, &ContextRow)> =
        tops.into_iter().rev().map(|row| (String::new(), String::new(), row)).collect();
    while let Some((lines, rest, row)) = left.pop() {
        drawn.push((lines, row));
        let Some(forks) = below.get(row.name.as_str()) else { continue };
        for (index, (_, fork)) in forks.iter().enumerate().rev() {
            let is_last = index + 1 == forks.len();
            let (branch, line) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            left.push((format!("{rest}{branch}"), format!("{rest}{line}"), fork));
        }
    }
    drawn
}
