//! `ctx remove`: nodes leave the working state.

use contextree_app::command::remove::{self, RemoveRequest};

use super::Call;
use super::output_ids;
use crate::error::{Exit, Failure};
use crate::output::text::parse_word;
use crate::source::ChangeOptions;

/// Remove nodes from the working state, with everything below them; prints their ids
///
/// Snapshots keep them. The core of a sealed turn cannot be removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx remove block:3.2
  ctx remove '.block[role=tool]' --dry-run
  ctx select '+draft' | xargs ctx remove")]
pub(crate) struct Args {
    /// Ids of nodes, or selectors without a time
    #[arg(required = true, value_parser = parse_word)]
    what: Vec<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = RemoveRequest { targets: args.what.clone(), change: args.change.to_change() };
    let done = call.read(|workspace, control| remove::remove(workspace, &request, control))?;
    output_ids(&done, &done.removed, &args.change, "removed", call);
    if !args.change.to_change().dry_run {
        call.output.note(super::UNDO);
    }
    Ok(Exit::Ok)
}
