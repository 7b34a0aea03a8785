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

/// Numbers without a pattern that a processor could learn; the same in every run.
struct Random(u64);

impl Random {
    /// Returns a number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap_or(0)
    }
}
