//! `ctx show`: the tree, or a part of it.

use contextree::Code;
use contextree_app::command::show::{self, ShowRequest};

use super::Call;
use crate::args::of_other_context;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::argument;
use crate::view::tree;

/// Draw the tree, with ttl, offsets and sizes
///
/// Without an argument the working state is drawn. An address (`@t0`, `@c12`, `12`, `@` for the working state) draws that
/// snapshot, an id that node, and a selector what it matches, each with everything below.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx show                        the working state
  ctx show @t-1                   the snapshot before the newest
  ctx show block:1.2 --full       one node, with its whole content
  ctx show '@t0 ^ah'              what a selector matches, and everything below
  ctx show -f snapshot.json       a file instead of a store")]
pub(crate) struct Args {
    /// An address, the id of a node, or a selector
    what: Option<String>,

    /// Draw only the newest N turns
    #[arg(long, value_name = "N")]
    turns: Option<usize>,

    /// Print contents whole, below their nodes
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ShowRequest { what: args.what.clone() };
    let response = call
        .read(|workspace, control| show::show(workspace, &request, control))
        .map_err(|error| in_other_context(error, args))?;
    for warning in &response.warnings {
        call.output.warning(warning);
    }
    let has_turns = response.nodes.iter().any(|node| ["^root", "^seq"].contains(&node.node_type()));
    if args.turns.is_some() && !has_turns && !response.nodes.is_empty() {
        call.output.warning("`turns` is ignored: it belongs to the whole tree or `^seq`");
    }
    if call.output.format() != Format::Human {
        call.output.forms(&response.nodes);
        return Ok(Exit::Ok);
    }
    if response.nodes.is_empty() {
        call.output.note("no node matches");
        return Ok(Exit::Ok);
    }
    let options = tree::Options {
        width: call.output.width(),
        turns: args.turns,
        full: args.full,
        now: call.environment.now,
    };
    let text = tree::draw(&response.nodes, &options);
    call.output.text(&text);
    Ok(Exit::Ok)
}

/// Names the command for a state of another context.
fn in_other_context(error: Failure, args: &Args) -> Failure {
    match args.what.as_deref().and_then(of_other_context) {
        Some((context, at)) if error.code() == Code::NodeNotFound => {
            let text = format!("`ctx -c {} show {at}` shows that state of it", argument(context));
            error.with_hint(text)
        }
        _ => error,
    }
}
