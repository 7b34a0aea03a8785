//! `ctx undo`, `redo`, `reset`, `discard`, `operations`: going back, and the log of what was done.

use contextree_app::Address;
use contextree_app::command::undo::{
    self, OperationRow, OperationsRequest, ResetRequest, UndoRequest, UndoResponse,
};

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, word};

/// Undo the last operation
///
/// Restores the working state, the snapshots and the settings as they were before it. A model call is undone as a whole. Commits that are undone
/// stay in a context of their own until `ctx gc`, and `ctx redo` brings them back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx undo
  ctx undo 3
  ctx operations                  what was done, and what can be undone")]
pub(crate) struct UndoArgs {
    /// How many operations
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

/// Redo what was undone last
///
/// Possible until something else is done.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx redo
  ctx redo 2")]
pub(crate) struct RedoArgs {
    /// How many operations
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

/// Make a snapshot the newest one
///
/// Later commits and the working state leave the context. `ctx undo` brings them back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx reset @c5                   as it was after commit 5
  ctx reset @t-1                  without the newest snapshot")]
pub(crate) struct ResetArgs {
    /// The snapshot
    #[arg(value_parser = parse_address)]
    to: Address,
}

/// Remove what is not committed
///
/// `ctx undo` brings it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx discard
  ctx status                      what is not committed")]
pub(crate) struct DiscardArgs {}

/// List what was done to the context: by which command, when; newest first
///
/// The log has the last 200 operations since `ctx gc`. Redactions are always listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx operations
  ctx operations -n 5 --jsonl")]
pub(crate) struct OperationsArgs {
    /// At most N
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run_undo(args: &UndoArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = UndoRequest { count: Some(args.count) };
    let done =
        call.on(&call.store(), |workspace, control| undo::undo(workspace, &request, control))?;
    Ok(output(&done, "undone", "`ctx redo` brings it back", call))
}

pub(crate) fn run_redo(args: &RedoArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = UndoRequest { count: Some(args.count) };
    let done =
        call.on(&call.store(), |workspace, control| undo::redo(workspace, &request, control))?;
    Ok(output(&done, "redone", super::UNDO, call))
}

pub(crate) fn run_reset(args: &ResetArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ResetRequest { to: args.to };
    let done =
        call.on(&call.store(), |workspace, control| undo::reset(workspace, &request, control))?;
    Ok(output(&done, "reset", super::UNDO, call))
}

pub(crate) fn run_discard(_: &DiscardArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let done = call.on(&call.store(), undo::discard)?;
    Ok(output(&done, "discarded what was not committed", super::UNDO, call))
}

fn output(done: &UndoResponse, what: &str, hint: &str, call: &mut Call<'_>) -> Exit {
    if call.output.format() != Format::Human {
        call.output.form(done);
        return Exit::Ok;
    }
    let mut text = String::new();
    for operation in &done.operations {
        // A budget leaves no trace in snapshots.
        let more = match operation.command.as_str() {
            "budget" => "; `ctx budget show` prints the budget that applies now",
            _ => "",
        };
        text.push_str(&format!(
            "{what}: {} (operation {}){more}\n",
            operation.command, operation.operation
        ));
    }
    let is_same = done.before == done.head;
    text.push_str(&match (done.head, done.before) {
        _ if is_same && done.operations.is_empty() => format!("{what}\n"),
        (Some(newest), _) if is_same => format!("the newest snapshot is @c{newest}, as before\n"),
        (None, None) => "there is no snapshot, as before\n".to_owned(),
        (Some(newest), Some(before)) => {
            format!("the newest snapshot is @c{newest}; it was @c{before}\n")
        }
        (Some(newest), None) => format!("the newest snapshot is @c{newest}; there was none\n"),
        (None, Some(before)) => format!("no snapshot is left; the newest was @c{before}\n"),
    });
    call.output.text(&text);
    for line in &done.lines {
        call.output.note(&format!("the removed commits are in the context `{line}`"));
    }
    call.output.note(hint);
    Exit::Ok
}

fn at(cycle: Option<u32>) -> String {
    cycle.map_or_else(|| "none".to_owned(), |cycle| format!("@c{cycle}"))
}

pub(crate) fn run_operations(args: &OperationsArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = OperationsRequest { limit: args.limit };
    let found = call
        .on(&call.store(), |workspace, control| undo::operations(workspace, &request, control))?;
    let rows = found.operations;
    if call.output.format() != Format::Human {
        call.output.forms(&rows);
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        call.output.note("the operation log is empty");
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["operation", "when", "command", "newest", "what"]).right(0);
    for row in &rows {
        table.row(vec![
            row.operation.to_string(),
            ago(row.at_ns, call.environment.now),
            paint(style::ID, word(&row.command)),
            if row.kind == "redaction" { String::new() } else { at(row.after) },
            what(row),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    Ok(Exit::Ok)
}

fn what(row: &OperationRow) -> String {
    let line = row.line.as_ref().map(|line| format!(", left in `{line}`")).unwrap_or_default();
    match (row.kind.as_str(), row.target) {
        ("undo", Some(target)) => format!("undid {target}{line}"),
        ("redo", Some(target)) => format!("redid what {target} undid{line}"),
        ("note", _) => "nothing to undo".to_owned(),
        ("redaction", _) => match row.reason.as_deref().unwrap_or_default() {
            "" => "cannot be undone".to_owned(),
            reason => format!("cannot be undone: {reason}"),
        },
        _ if row.before != row.after => format!("was {}{line}", at(row.before)),
        _ if row.command == "budget" => "the budget".to_owned(),
        _ => "the working state".to_owned(),
    }
}
