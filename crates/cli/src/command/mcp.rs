//! `ctx mcp`: the context as tools for models.

use contextree_app::catalog::Right;
use contextree_mcp::{Caller, run_stdio};

use super::Call;
use super::serve::stored;
use crate::error::{Exit, Failure};

/// Offer the context to a model as tools (Model Context Protocol)
///
/// Speaks the protocol on standard input and output; a client starts it. The model can list contexts, show and compare states, find
/// nodes, and see what uses the tokens; with `--write` it can also add notes, pin, set priorities, fork, and bring back what was pruned.
/// Answers are bounded, and reading changes nothing. `ctx serve` offers the same tools over HTTP at `/mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx mcp
  ctx -c support-42 mcp --write
  claude mcp add contextree -- ctx --store agent.db mcp --write")]
pub(crate) struct Args {
    /// Offer the tools that change contexts as well
    #[arg(long)]
    write: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let right = if args.write { Right::Write } else { Right::Read };
    run_stdio(stored(call)?, Caller::with_right(right))?;
    Ok(Exit::Ok)
}
