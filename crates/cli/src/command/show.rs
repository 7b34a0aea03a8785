//! `ctx show`: the tree, or a part of it.

use contextree::{Answer, NodeRef, SelectOptions, Selection};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Address, Range, Source, State, is_name};
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
    let source = Source::open(call)?;
    let found = find(&source, args.what.as_deref())?;
    let nodes = found.nodes(call);
    if call.output.format() != Format::Human {
        let all =
            nodes.iter().flat_map(|node| node.subtree()).map(|(_, node)| node::to_value(node));
        call.output.values(all.collect());
        return Ok(Exit::Ok);
    }
    if nodes.is_empty() {
        call.output.note("nothing matches");
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

/// What is to be drawn.
enum Found<'s> {
    Tree(State),
    Node(State, String),
    Selection(Selection<'s>),
}

impl Found<'_> {
    fn nodes(&self, call: &Call<'_>) -> Vec<NodeRef<'_>> {
        match self {
            Found::Tree(state) => vec![state.tree().root()],
            Found::Node(state, id) => state.tree().resolve(id).into_iter().collect(),
            Found::Selection(selection) => {
                for warning in &selection.warnings {
                    call.output.warning(&warning.to_string());
                }
                tops(&selection.nodes)
            }
        }
    }
}

fn find<'s>(source: &'s Source, what: Option<&str>) -> Result<Found<'s>, Failure> {
    let Some(what) = what else { return source.working().map(Found::Tree) };
    if let Ok(address) = what.parse::<Address>() {
        return source.state(address).map(Found::Tree);
    }
    if let Ok(Range { to: Some(_), .. }) = what.parse() {
        return Err(Failure::usage(format!("`{what}` is two states; a tree is of one"))
            .hint(format!("`ctx diff {what}` shows what changed")));
    }
    let working = source.working()?;
    if working.tree().resolve(what).is_some() {
        return Ok(Found::Node(working, what.to_owned()));
    }
    match source.select(what, &SelectOptions::default()) {
        Ok(Answer::Nodes(selection)) => Ok(Found::Selection(selection)),
        Ok(Answer::Range(_)) => {
            Err(Failure::usage(format!("`{what}` is a range, and has no tree"))
                .hint(format!("`ctx select '{what}'` prints what changed in it")))
        }
        // Somebody who writes `block:9.9` means an id.
        Err(_) if is_name(what) => Err(Failure::new(
            "E_NODE_NOT_FOUND",
            format!("there is no node `{what}` in the working state"),
        )
        .detail("place", what)
        .hint(format!("`ctx select \"@* {{ id='{what}' }}\"` looks for it in every snapshot"))),
        Err(failure) => Err(failure),
    }
}

/// Leaves out what stands below another one that is drawn.
fn tops<'t>(nodes: &[NodeRef<'t>]) -> Vec<NodeRef<'t>> {
    let ids: std::collections::BTreeSet<&str> = nodes.iter().map(|node| node.id()).collect();
    let is_top = |node: &NodeRef<'_>| !node.ancestors().any(|above| ids.contains(above.id()));
    nodes.iter().copied().filter(is_top).collect()
}
