//! Measures selectors against hand-written code, a peer, and each other.

mod lookup;
mod parse;
mod scan;
mod sqlite;
mod time;

use contextree::query::{Plan, plan, resolve_on_tree};
use contextree::{Context, Edition, NewNode, Place};

use crate::measure::Row;
use crate::rows::Scale;
use crate::work::text;

/// Measures every row on selectors.
pub fn rows(scale: Scale, take: &mut impl FnMut(Row)) {
    take(parse::row(scale));
    scan::rows(scale, take);
    lookup::rows(scale, take);
    time::rows(scale, take);
}

/// Returns the plan of a selector without a time prefix.
fn planned(selector: &str, edition: Edition) -> Plan {
    let parsed = contextree_selector::parse(selector, edition).expect("the text is a selector");
    plan(resolve_on_tree(&parsed).expect("the selector has no time prefix"))
}

/// Returns a context of turns with one core of three blocks, which `block` creates from turn and
/// position.
fn context(turns: usize, mut block: impl FnMut(usize, usize) -> NewNode) -> Context {
    let mut context = Context::new();
    for turn in 0..turns {
        for place in 0..3 {
            context.add(Place::head(), block(turn, place)).expect("a block fits into the head");
        }
        context.commit().expect("a commit without a policy cannot fail");
    }
    context
}

/// Returns a block without special headers.
fn plain(turn: usize, place: usize) -> NewNode {
    NewNode::text(text(turn * 3 + place, 120)).kind("text")
}
