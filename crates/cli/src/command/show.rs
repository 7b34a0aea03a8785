//! `ctx show`: the tree, or a part of it.

use contextree::{Answer, NodeRef, SelectOptions};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Address, Source};
use crate::view::{node, tree};

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
    let source = Source::open(call.global)?;
    let nodes = find(&source, args.what.as_deref(), call)?;
    if call.output.format() != Format::Human {
        let all =
            nodes.iter().flat_map(|node| node.subtree()).map(|(_, node)| node::to_value(node));
        call.output.values(all.collect());
        return Ok(Exit::Ok);
    }
    let options = tree::Options {
        width: call.output.width(),
        turns: args.turns,
        full: args.full,
        now: call.environment.now,
    };
    let text = tree::draw(&nodes, &options);
    call.output.text(&text);
    Ok(Exit::Ok)
}

fn find<'s>(
    source: &'s Source,
    what: Option<&str>,
    call: &Call<'_>,
) -> Result<Vec<NodeRef<'s>>, Failure> {
    let Some(what) = what else { return Ok(vec![source.working().tree.root()]) };
    if let Ok(address) = what.parse::<Address>() {
        return Ok(vec![source.state(address)?.tree.root()]);
    }
    if let Some(node) = source.working().tree.resolve(what) {
        return Ok(vec![node]);
    }
    match source.select(what, &SelectOptions::default()) {
        Ok(Answer::Nodes(selection)) => {
            for warning in &selection.warnings {
                call.output.warning(&warning.to_string());
            }
            Ok(tops(selection.nodes))
        }
        Ok(Answer::Range(_)) => {
            Err(Failure::usage(format!("`{what}` is a range, and has no tree"))
                .hint(format!("`ctx select '{what}'` prints what changed in it")))
        }
        Err(failure) => Err(failure.hint(format!("there is no node with the id `{what}` either"))),
    }
}

/// Leaves out what stands below another one that is drawn.
fn tops(nodes: Vec<NodeRef<'_>>) -> Vec<NodeRef<'_>> {
    let ids: std::collections::BTreeSet<&str> = nodes.iter().map(|node| node.id()).collect();
    let is_top = |node: &NodeRef<'_>| !node.ancestors().any(|above| ids.contains(above.id()));
    nodes.iter().copied().filter(is_top).collect()
}
