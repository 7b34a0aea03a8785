//! `ctx contexts`: what is in a store.

use contextree_json::{Object, Value, parse};
use contextree_store::ContextRow;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::ago;
use crate::source::{Access, Home};

/// List the contexts of the store, by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx contexts
  ctx contexts --jsonl | jq -r .name
  ctx contexts --after m --limit 100      a page of them")]
pub(crate) struct Args {
    /// Only names behind this one
    #[arg(long, value_name = "NAME")]
    after: Option<String>,

    /// At most N
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let home = Home::open(call.global, call.environment, Access::Read)?;
    let mut rows: Vec<ContextRow> = Vec::new();
    let limit = args.limit.unwrap_or(usize::MAX);
    while rows.len() < limit {
        let after = rows.last().map(|row| row.name.as_str()).or(args.after.as_deref());
        let page = home.store.contexts(after, 1_000.min(limit - rows.len()))?;
        if page.is_empty() {
            break;
        }
        rows.extend(page);
    }
    if call.output.format() != Format::Human {
        call.output.values(rows.iter().map(row_value).collect());
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        call.output.note("there is no context yet: `ctx new` makes one");
        return Ok(Exit::Ok);
    }
    let titles = ["context", "newest", "snapshots", "revision", "written"];
    let mut table = Table::new(&titles).right(2).right(3);
    for row in &rows {
        table.row(vec![
            paint(style::ID, &row.name),
            row.head.map_or_else(|| "–".to_owned(), |head| format!("@c{}", head.cycle)),
            row.snapshots.to_string(),
            row.revision.to_string(),
            ago(row.updated_ns, call.environment.now),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    Ok(Exit::Ok)
}

/// Returns a context of a store for programs.
pub(super) fn row_value(row: &ContextRow) -> Value {
    let head = row.head.map_or(Value::Null, |head| {
        let digest = contextree::Hash(head.digest).to_string();
        Value::Object(Object::from_iter([
            ("cycle", Value::from(head.cycle)),
            ("digest", digest.into()),
        ]))
    });
    Value::Object(Object::from_iter([
        ("name", Value::from(row.name.as_str())),
        ("revision", row.revision.into()),
        ("head", head),
        ("snapshots", row.snapshots.into()),
        ("settings", parse(row.settings.as_bytes()).unwrap_or_default()),
        ("created_ns", row.created_ns.into()),
        ("updated_ns", row.updated_ns.into()),
    ]))
}
