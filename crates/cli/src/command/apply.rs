//! `ctx apply`: a batch of operations in one durable step.

use contextree_app::command::apply::{self, ApplyRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::count;
use crate::source::{ChangeOptions, document};

/// Carry out a batch of operations from JSON Lines, all of them or none, in one durable step
///
/// One operation per line, in the form that the library and the server use. A line that is wrong or refused is named, and nothing has
/// changed. A place is `parent` with `offset` or `cue` (`start`, `end`, `+2`, `-2`), `turn` with `zone` (`pre`, `core`, `post`), or `at`
/// with a position; without one, a node is added to the core of the turn in progress.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx apply operations.jsonl
  jq -c '{op:\"add\",node:{role:\"user\",content:.}}' texts.json | ctx apply -
  ctx apply operations.jsonl --dry-run

Operations:
  {\"op\":\"add\",\"parent\":\"^sys\",\"node\":{\"role\":\"system\",\"content\":\"You are helpful.\",\"pinned\":true}}
  {\"op\":\"edit\",\"node\":\"block:1.2\",\"content\":\"Hello\",\"set\":{\"data_x\":1},\"unset\":[\"key\"]}
  {\"op\":\"move\",\"node\":\"block:1.2\",\"parent\":\"^ah\",\"offset\":1}
  {\"op\":\"remove\",\"node\":\"block:1.2\"}   also pin and unpin
  {\"op\":\"set_priority\",\"node\":\"block:1.2\",\"priority\":5,\"policy\":\"my-rules\"}")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    operations: String,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let operations = document(&args.operations)?;
    let request = ApplyRequest { operations, change: args.change.to_change() };
    let done =
        call.on(&call.store(), |workspace, control| apply::apply(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.forms(&done.applied);
        return Ok(Exit::Ok);
    }
    let lines = done.applied.iter().map(|one| format!("{} {}\n", one.op, one.node));
    let lines: String = lines.collect();
    call.output.text(&lines);
    let number = count(done.applied.len(), "operation");
    let note = match args.change.dry_run {
        true => format!("{number} could be carried out (--dry-run)"),
        false => format!("{number} in one step"),
    };
    call.output.note(&note);
    let destroys = |op: &str| ["edit", "move", "remove"].contains(&op);
    if !args.change.dry_run && done.applied.iter().any(|one| destroys(&one.op)) {
        call.output.note(super::UNDO);
    }
    Ok(Exit::Ok)
}
