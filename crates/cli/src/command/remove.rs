//! `ctx remove`: nodes go from the working state.

use std::collections::BTreeSet;

use contextree::{Op, Outcome};

use super::Call;
use super::output_ids;
use crate::error::{Exit, Failure};
use crate::source::{Change, targets};

/// Remove nodes from the working state, with everything below them; prints what went
///
/// Snapshots keep them. What stands in the core of a sealed turn is not removed by anybody.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx remove block:3.2
  ctx remove '.block[role=tool]' --dry-run
  ctx select '+draft' | xargs ctx remove")]
pub(crate) struct Args {
    /// Ids of nodes, or selectors without a time
    #[arg(required = true)]
    what: Vec<String>,

    #[command(flatten)]
    change: Change,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let edition = call.global.edition;
    let ids = args.change.make(call, |context| {
        let mut ids = BTreeSet::new();
        for what in &args.what {
            ids.extend(targets(context, what, edition)?);
        }
        // One that stands below another goes with it.
        let is_top = |id: &&String| {
            let node = context.working().get(id);
            !node.is_some_and(|node| node.ancestors().any(|above| ids.contains(above.id())))
        };
        let ops = ids.iter().filter(is_top).map(|id| Op::Remove { node: id.clone() }).collect();
        let outcomes = context.batch(ops).map_err(|batch| Failure::refused(&batch.error))?;
        let gone = outcomes.into_iter().flat_map(|outcome| match outcome {
            Outcome::Removed(ids) => ids,
            _ => Vec::new(),
        });
        Ok(gone.collect::<Vec<String>>())
    })?;
    output_ids(&ids, &args.change, "removed", call);
    Ok(Exit::Ok)
}
