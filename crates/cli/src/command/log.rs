//! `ctx log`: the history, one entry per commit.

use contextree_app::command::log::{self, LogEntry, LogRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, count};

/// List the snapshots, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx log                  every commit: the sealed turn, added, removed and changed nodes
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

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = LogRequest {
        limit: args.limit,
        reverse: args.reverse,
        reports: call.output.format() != Format::Human,
    };
    let response = call.read(|workspace, control| log::log(workspace, &request, control))?;
    if call.output.format() == Format::Human {
        human(&response.entries, response.left_out, call);
    } else {
        call.output.forms(&response.entries);
    }
    Ok(Exit::Ok)
}

fn human(entries: &[LogEntry], left_out: usize, call: &mut Call<'_>) {
    if entries.is_empty() {
        call.output.note("there is no snapshot yet: `ctx commit` creates the first");
        return;
    }
    let titles = ["snapshot", "", "turn", "when", "added", "removed", "changed", "nodes", "digest"];
    let mut table = Table::new(&titles).right(4).right(5).right(6).right(7);
    for entry in entries {
        let number = |style, mark: char, number: Option<usize>| match number {
            Some(number) => paint(style, format!("{mark}{number}")),
            None => String::new(),
        };
        let turn = entry.turn.as_deref();
        table.row(vec![
            paint(style::TITLE, format!("@c{}", entry.cycle)),
            paint(style::DIM, &entry.address),
            turn.map_or_else(String::new, |turn| paint(style::ID, turn)),
            entry.sealed_at_ns.map_or_else(String::new, |time| ago(time, call.environment.now)),
            number(style::ADDED, '+', entry.added),
            number(style::REMOVED, '-', entry.removed),
            number(style::CHANGED, '~', entry.changed),
            entry.nodes.to_string(),
            entry.digest.chars().take(12).collect(),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    if left_out > 0 {
        call.output.note(&paint(style::DIM, format!("… {}", count(left_out, "older snapshot"))));
    }
}
