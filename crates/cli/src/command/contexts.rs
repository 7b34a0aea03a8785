//! `ctx contexts`: the contexts of a store.

use contextree_app::command::contexts::{self, ContextsRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, word};

/// List the contexts of the store, by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx contexts
  ctx contexts --jsonl | jq -r .name
  ctx contexts --after m --limit 100      a page of them")]
pub(crate) struct Args {
    /// Only names after this one
    #[arg(long, value_name = "NAME")]
    after: Option<String>,

    /// At most N
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ContextsRequest {
        after: args.after.clone(),
        limit: args.limit,
        ..ContextsRequest::default()
    };
    let found = call
        .on(&call.store(), |workspace, control| contexts::contexts(workspace, &request, control))?;
    let rows = found.contexts;
    if call.output.format() != Format::Human {
        call.output.forms(&rows);
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        call.output.note("there is no context yet: `ctx new` creates one");
        return Ok(Exit::Ok);
    }
    let titles = ["context", "newest", "snapshots", "revision", "written"];
    let mut table = Table::new(&titles).right(2).right(3);
    for row in &rows {
        table.row(vec![
            paint(style::ID, word(&row.name)),
            row.head.as_ref().map_or_else(|| "–".to_owned(), |head| format!("@c{}", head.cycle)),
            row.snapshots.to_string(),
            row.revision.to_string(),
            ago(row.updated_ns, call.environment.now),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    Ok(Exit::Ok)
}
