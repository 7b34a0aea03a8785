//! `ctx pin` and `ctx unpin`: protection from pruning.

use contextree::Op;

use super::Call;
use super::output_ids;
use crate::error::{Exit, Failure};
use crate::source::{Change, targets};

/// Protect nodes from pruning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx pin block:1.0
  ctx pin '#rules'")]
pub(crate) struct Args {
    /// Ids of nodes, or selectors without a time
    #[arg(required = true)]
    what: Vec<String>,

    #[command(flatten)]
    change: Change,
}

/// Take the protection from pruning away
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx unpin block:1.0
  ctx unpin '#rules' --dry-run")]
pub(crate) struct UnpinArgs {
    /// Ids of nodes, or selectors without a time
    #[arg(required = true)]
    what: Vec<String>,

    #[command(flatten)]
    change: Change,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    apply(&args.what, &args.change, "pinned", |node| Op::Pin { node }, call)
}

pub(crate) fn run_unpin(args: &UnpinArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    apply(&args.what, &args.change, "unpinned", |node| Op::Unpin { node }, call)
}

fn apply(
    what: &[String],
    change: &Change,
    word: &str,
    op: impl Fn(String) -> Op,
    call: &mut Call<'_>,
) -> Result<Exit, Failure> {
    let edition = call.global.edition;
    let ids = change.make(call, |context| {
        let mut ids = Vec::new();
        for what in what {
            ids.extend(targets(context, what, edition)?);
        }
        let ops = ids.iter().cloned().map(&op).collect();
        context.batch(ops).map_err(|batch| Failure::refused(&batch.error))?;
        Ok(ids)
    })?;
    output_ids(&ids, change, word, call);
    Ok(Exit::Ok)
}
