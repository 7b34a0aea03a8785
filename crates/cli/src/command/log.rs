//! `ctx log`: the history, one entry per commit, with the model calls.

use contextree_app::command::log::{self, LogCall, LogEntry, LogRequest, LogResponse};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, count, one_line, word};

/// List the model calls and other commits, newest first
///
/// Calls are listed by the user message that they serve, with the tokens of the request, the share that was read from the cache, the
/// tokens of the answer, how long the call took and why the model stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx log                  every call and commit
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
        ..LogRequest::default()
    };
    let response = call.read(|workspace, control| log::log(workspace, &request, control))?;
    if call.output.format() == Format::Human {
        human(&response, call);
    } else {
        call.output.forms(&response.entries);
    }
    Ok(Exit::Ok)
}

fn human(found: &LogResponse, call: &mut Call<'_>) {
    let LogResponse { entries, left_out, open } = found;
    for open in open {
        call.output.note(&paint(style::DUE, open_call(open, call.environment.now)));
    }
    if entries.is_empty() {
        call.output
            .note("there is no snapshot yet: the first completed call or `ctx commit` creates it");
        return;
    }
    let width = call.output.width();
    let text = if entries.iter().any(|entry| entry.call.is_some()) {
        calls(entries, call.environment.now).render(width)
    } else {
        commits(entries, call.environment.now).render(width)
    };
    call.output.text(&text);
    if *left_out > 0 {
        call.output.note(&paint(style::DIM, format!("… {}", count(*left_out, "older snapshot"))));
    }
}

/// Returns what became of a call without a snapshot.
fn open_call(open: &LogCall, now: i64) -> String {
    let error = open.error.as_deref().map(|error| format!(": {}", one_line(error)));
    let (attempt, model) = (word(&open.attempt), one_line(&open.model));
    let (status, begun) = (open.status.word(), ago(open.started_at, now));
    format!("{attempt}  {status}{}  {model}, begun {begun}", error.unwrap_or_default())
}

/// Draws calls by the message that they serve; commits without a call are between them.
fn calls(entries: &[LogEntry], now: i64) -> Table {
    let titles =
        ["snapshot", "", "when", "tokens", "cached", "output", "took", "stop", "added", "removed"];
    let mut table = [3, 4, 5, 6, 8, 9].into_iter().fold(Table::new(&titles), Table::right);
    table = table.spare(&[5, 6, 7, 4, 1]);
    let mut serves: Option<&str> = None;
    for entry in entries {
        let made = entry.call.as_ref();
        let served = made.and_then(|made| made.serves.as_deref());
        if served.is_some() && served != serves {
            serves = served;
            let question = made.and_then(|made| made.question.as_deref()).or(served);
            table.heading(paint(style::DIM, one_line(question.unwrap_or_default())));
        }
        let number = |number: Option<u64>| number.map(|it| it.to_string()).unwrap_or_default();
        let share = made.and_then(|made| {
            Some(format!("{} %", (made.cached? * 100).checked_div(made.token_in?)?))
        });
        let mut stop = match made {
            Some(made) => one_line(made.stop_reason.as_deref().unwrap_or_default()),
            None => "no call".to_owned(),
        };
        if entry.retried > 0 {
            let space = if stop.is_empty() { "" } else { " " };
            stop.push_str(&format!("{space}(after {} that ended without)", entry.retried));
        }
        table.row(vec![
            paint(style::TITLE, format!("@c{}", entry.cycle)),
            paint(style::DIM, &entry.address),
            entry.sealed_at_ns.map_or_else(String::new, |time| ago(time, now)),
            number(made.and_then(|made| made.token_in)),
            share.unwrap_or_default(),
            number(made.and_then(|made| made.token_out)),
            made.and_then(|made| made.duration_ms).map(took).unwrap_or_default(),
            stop,
            nodes(style::ADDED, '+', entry.added),
            nodes(style::REMOVED, '-', entry.removed),
        ]);
    }
    table
}

/// Returns a duration: `0.4 s`, `12 s`, `3 min`.
fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..=9_999 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        10_000..=119_999 => format!("{} s", milliseconds / 1000),
        _ => format!("{} min", milliseconds / 60_000),
    }
}

fn nodes(style: anstyle::Style, mark: char, number: Option<usize>) -> String {
    number.map_or_else(String::new, |number| paint(style, format!("{mark}{number}")))
}

fn commits(entries: &[LogEntry], now: i64) -> Table {
    let titles = ["snapshot", "", "turn", "when", "added", "removed", "changed", "nodes", "digest"];
    let table = Table::new(&titles).right(4).right(5).right(6).right(7);
    let mut table = table.spare(&[7, 6, 2, 1]);
    for entry in entries {
        let turn = entry.turn.as_deref();
        table.row(vec![
            paint(style::TITLE, format!("@c{}", entry.cycle)),
            paint(style::DIM, &entry.address),
            turn.map_or_else(String::new, |turn| paint(style::ID, turn)),
            entry.sealed_at_ns.map_or_else(String::new, |time| ago(time, now)),
            nodes(style::ADDED, '+', entry.added),
            nodes(style::REMOVED, '-', entry.removed),
            nodes(style::CHANGED, '~', entry.changed),
            entry.nodes.to_string(),
            entry.digest.chars().take(12).collect(),
        ]);
    }
    table
}
