//! Selectors: what they cost against hand-written code, a peer, and each other.

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

/// Returns a selector without a time, ready to be evaluated.
fn planned(selector: &str, edition: Edition) -> Plan {
    let parsed = contextree_selector::parse(selector, edition).expect("the text is a selector");
    plan(resolve_on_tree(&parsed).expect("the selector says nothing about time"))
}

/// Returns a context of turns of one core with three blocks, which `block` makes from turn and place.
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

/// A block without anything special.
fn plain(turn: usize, place: usize) -> NewNode {
    NewNode::text(text(turn * 3 + place, 120)).kind("text")
}
