//! `ctx verify`: every digest, computed again.

use contextree_app::command::verify::verify;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::word;

/// Check everything in the store; exits with 1 if something is damaged
///
/// Every snapshot of every context is read and its digest computed again. Damaged records are named; everything before them, and what
/// follows the next checkpoint, can be saved with `ctx export --salvage`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx verify
  ctx verify --json | jq '.contexts[]|select(.problem)'")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let found = call.on(&call.store(), verify)?;
    let exit = if found.clean { Exit::Ok } else { Exit::No };
    if call.output.format() != Format::Human {
        call.output.form(&found);
        return Ok(exit);
    }
    let mut table = Table::new(&["context", "intact", "result"]).right(1);
    for check in &found.contexts {
        let result = match &check.problem {
            None => "all are intact".to_owned(),
            Some(problem) => format!("{}: {}", problem.record, problem.message),
        };
        table.row(vec![paint(style::ID, word(&check.name)), check.sound.to_string(), result]);
    }
    let mut text = table.render(None);
    for fault in &found.engine {
        text.push_str(&format!("{} {fault}\n", paint(style::ERROR, "engine:")));
    }
    call.output.text(&text);
    if exit == Exit::No {
        call.output.note("`ctx -c NAME export --salvage` writes every intact snapshot");
    }
    Ok(exit)
}
