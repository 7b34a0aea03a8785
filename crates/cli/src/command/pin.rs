//! `ctx pin` and `ctx unpin`: protection from pruning.

use contextree_app::command::pin::{self, PinRequest, UnpinRequest};

use super::Call;
use super::output_ids;
use crate::error::{Exit, Failure};
use crate::output::text::parse_word;
use crate::source::ChangeOptions;

/// Protect nodes from pruning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx pin block:1.0
  ctx pin '#rules'")]
pub(crate) struct Args {
    /// Ids of nodes, or selectors without a time
    #[arg(required = true, value_parser = parse_word)]
    what: Vec<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

/// Remove the protection from pruning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx unpin block:1.0
  ctx unpin '#rules' --dry-run")]
pub(crate) struct UnpinArgs {
    /// Ids of nodes, or selectors without a time
    #[arg(required = true, value_parser = parse_word)]
    what: Vec<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = PinRequest { targets: args.what.clone(), change: args.change.to_change() };
    let done = call.read(|workspace, control| pin::pin(workspace, &request, control))?;
    output_ids(&done, &done.pinned, &args.change, "pinned", call);
    Ok(Exit::Ok)
}

pub(crate) fn run_unpin(args: &UnpinArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = UnpinRequest { targets: args.what.clone(), change: args.change.to_change() };
    let done = call.read(|workspace, control| pin::unpin(workspace, &request, control))?;
    output_ids(&done, &done.unpinned, &args.change, "unpinned", call);
    Ok(Exit::Ok)
}
