//! Evaluates chains, step by step over the whole list.

use std::collections::BTreeMap;

use contextree_selector as ast;
use contextree_selector::{Chain, Combinator, Compound, Edition, PartKind, Pseudo, Root, TypeTest};
use contextree_tree::{Class, NodeRef, Region};

use super::filter;
use super::spots::Spots;

/// Returns the positions that match a chain, in document order.
pub(super) fn matches(chain: &Chain, spots: &Spots<'_>) -> Vec<usize> {
    let mut before: Option<Vec<usize>> = None;
    let mut before_is_zone = false;
    for (index, step) in chain.steps.iter().enumerate() {
        let next = chain.steps.get(index + 1);
        let is_zone = step.compound.is_zone()
            && step.combinator == Combinator::Descendant
            && next.is_some_and(|next| next.combinator == Combinator::Descendant);
        let related = |at: usize| match &before {
            None => true,
            Some(before) => before.iter().any(|above| match step.combinator {
                Combinator::Child => spots.is_child(at, *above),
                Combinator::Descendant => {
                    spots.is_below(at, *above) || (before_is_zone && at == *above)
                }
            }),
        };
        let allowed = |at: usize| {
            let place = &spots.places[at];
            let parent = place.parent.and_then(|at| spots.places[at].node);
            match (is_zone, place.node) {
                (true, _) => parent.is_some_and(NodeRef::is_zoned),
                (false, Some(_)) => true,
                (false, None) => next.is_some() && names_container(&step.compound),
            }
        };
        let candidates =
            (0..spots.places.len()).filter(|at| allowed(*at) && related(*at)).collect();
        let found = narrow(&step.compound, spots, candidates);
        before_is_zone = is_zone;
        before = Some(found);
    }
    before.unwrap_or_default()
}

fn names_container(compound: &Compound) -> bool {
    compound.parts.iter().any(|part| match &part.kind {
        PartKind::Type(TypeTest::Class(word)) => word.class() == ast::Class::Container,
        _ => false,
    })
}

/// Applies the parts from left to right.
fn narrow(compound: &Compound, spots: &Spots<'_>, mut candidates: Vec<usize>) -> Vec<usize> {
    for part in &compound.parts {
        let pick: Option<fn(usize, usize, u64) -> bool> = match &part.kind {
            PartKind::Pseudo(Pseudo::First) => Some(|place, _, _| place == 0),
            PartKind::Pseudo(Pseudo::Last) => Some(|place, len, _| place + 1 == len),
            PartKind::Pseudo(Pseudo::Nth(_)) => Some(|place, _, nth| place as u64 + 1 == nth),
            _ => None,
        };
        let Some(pick) = pick else {
            candidates.retain(|at| holds(compound, &part.kind, spots, *at));
            continue;
        };
        let nth = match &part.kind {
            PartKind::Pseudo(Pseudo::Nth(nth)) => *nth,
            _ => 0,
        };
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        match compound.key_equality() {
            Some(key) => {
                let has_key =
                    |at: &usize| spots.places[*at].node.and_then(NodeRef::key) == Some(key);
                let mut group: Vec<usize> = candidates.into_iter().filter(has_key).collect();
                group.sort_by(|left, right| spots.newer_first(*left, *right));
                groups.insert(None, group);
            }
            None => {
                for at in candidates {
                    groups.entry(spots.places[at].parent).or_default().push(at);
                }
            }
        }
        candidates = groups
            .values()
            .flat_map(|group| {
                let chosen =
                    group.iter().enumerate().filter(|(place, _)| pick(*place, group.len(), nth));
                chosen.map(|(_, at)| *at)
            })
            .collect();
        candidates.sort_unstable();
    }
    candidates
}

fn holds(compound: &Compound, part: &PartKind, spots: &Spots<'_>, at: usize) -> bool {
    let place = &spots.places[at];
    let side = place.node.map_or(0, |node| node.offset().signum());
    let region = place.node.and_then(NodeRef::as_region);
    let at_depth = |set: &ast::DepthSet| place.depth.is_some_and(|depth| set.contains(depth));
    match part {
        PartKind::Root(Root::Root) => place.level == 0,
        PartKind::Root(Root::Sys) => region == Some(Region::Sys),
        PartKind::Root(Root::Seq) => region == Some(Region::Seq),
        PartKind::Root(Root::Ah) => region == Some(Region::Head),
        PartKind::Depth(set) => spots.is_on_axis(at) && at_depth(set),
        PartKind::Any => true,
        PartKind::Type(TypeTest::Class(word)) => {
            let counts_as_turn = word.class() == ast::Class::Turn
                && spots.edition != Edition::V0_1
                && has_depth(compound)
                && spots.is_on_axis(at);
            filter::is_class(place.class(), word.class()) || counts_as_turn
        }
        PartKind::Type(TypeTest::ClassKind { word, kind }) => place
            .node
            .is_some_and(|node| node.node_type() == word.as_str() && node.kind() == Some(kind)),
        PartKind::Type(TypeTest::NodeType(text)) => {
            place.node.is_some_and(|node| node.node_type() == &**text)
        }
        PartKind::Id(id) => place.node.is_some_and(|node| node.id() == &**id),
        PartKind::Key(key) => place.node.is_some_and(|node| node.key() == Some(key)),
        PartKind::Attr(each) => filter::holds(each, spots, at),
        PartKind::Pseudo(Pseudo::Pre) => side < 0,
        PartKind::Pseudo(Pseudo::Core) => side == 0,
        PartKind::Pseudo(Pseudo::Post) => side > 0,
        PartKind::Pseudo(Pseudo::Depth(set)) => {
            let is_turn = |part: &ast::Part| match &part.kind {
                PartKind::Type(TypeTest::Class(word)) => word.class() == ast::Class::Turn,
                _ => false,
            };
            let is_bare =
                compound.parts.iter().all(|part| matches!(part.kind, PartKind::Pseudo(_)));
            at_depth(set)
                && match spots.edition {
                    Edition::V0_1 => spots.is_on_axis(at) && place.class() == Class::Turn,
                    _ if is_bare || compound.parts.iter().any(is_turn) => spots.is_on_axis(at),
                    _ => true,
                }
        }
        PartKind::Pseudo(Pseudo::First | Pseudo::Last | Pseudo::Nth(_)) => true,
    }
}

fn has_depth(compound: &Compound) -> bool {
    compound.parts.iter().any(|part| matches!(part.kind, PartKind::Pseudo(Pseudo::Depth(_))))
}
