//! Where a node may be added: into a parent, into a zone, at a position.

use super::state::{State, invalid};
use super::tree::{Class, Node, is_core_type};
use crate::script::{Cue, Place, Refusal, Zone};

/// A valid place.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The parent; `None` for the core of the head, which has to be created first.
    pub(crate) parent: Option<String>,
    /// The offset there.
    pub(crate) offset: i64,
    /// Siblings that must follow the node, and do so only after stamps are rotated, in order.
    pub(crate) followers: Vec<String>,
}

/// The node that is to be placed.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    /// Its type.
    pub(crate) node_type: &'a str,
    /// Its offset, if the place does not set one.
    pub(crate) offset: i64,
    /// Its id, if it is in the tree already; it then does not count as a sibling or a core.
    pub(crate) moved: Option<&'a str>,
    /// The stamp and index that it will have there.
    pub(crate) stamp: (u64, u64),
    /// Whether the stamp is new, so that it can be swapped with those of active siblings.
    pub(crate) is_new: bool,
}

/// The kinds of parents.
#[derive(Clone, Copy, PartialEq)]
enum Parent {
    /// `^sys`, a group, or the core of the head.
    Plain,
    /// `^ah`.
    Head,
    /// A sealed turn.
    Turn,
}

/// Returns the name of the parent or turn that a place refers to.
pub(crate) fn target(place: &Place) -> &str {
    match place {
        Place::Into { parent, .. } | Place::Cue { parent, .. } => parent,
        Place::Zone { turn, .. } => turn,
    }
}

impl State {
    /// Resolves a place for a candidate.
    pub(crate) fn spot(&self, place: &Place, candidate: &Candidate<'_>) -> Result<Spot, Refusal> {
        let Some(target) = self.tree.resolve(target(place)) else {
            return Err(invalid("unknown_parent"));
        };
        match place {
            Place::Into { offset, .. } => {
                self.spot_into(target, offset.unwrap_or(candidate.offset), candidate)
            }
            Place::Zone { zone, .. } => {
                if target != "ah" && self.tree.node(&target).class() != Class::Turn {
                    return Err(invalid("not_a_turn"));
                }
                let offset = match zone {
                    Zone::Pre => -1,
                    Zone::Core => 0,
                    Zone::Post => 1,
                };
                self.spot_into(target, offset, candidate)
            }
            Place::Cue { cue, .. } => self.spot_cue(target, *cue, candidate),
        }
    }

    /// Returns the kind of parent of a node, if it can be a parent.
    fn parent_kind(&self, parent: &str) -> Result<Parent, Refusal> {
        match parent {
            "root" => return Err(invalid("extra_region")),
            "seq" => return Err(invalid("not_a_turn")),
            "sys" => return Ok(Parent::Plain),
            "ah" => return Ok(Parent::Head),
            _ => {}
        }
        match self.tree.node(parent).class() {
            Class::Block => Err(invalid("children_under_block")),
            Class::Turn => Ok(Parent::Turn),
            _ if self.tree.in_sealed_core(parent) => Err(self.sealed(parent)),
            _ => Ok(Parent::Plain),
        }
    }

    /// Implements the table of *into*.
    fn spot_into(
        &self,
        parent: String,
        offset: i64,
        candidate: &Candidate<'_>,
    ) -> Result<Spot, Refusal> {
        let is_block = super::tree::class(candidate.node_type) == Class::Block;
        let there = |parent| Ok(Spot { parent: Some(parent), offset, followers: Vec::new() });
        match self.parent_kind(&parent)? {
            Parent::Plain => there(parent),
            Parent::Turn | Parent::Head if offset != 0 => there(parent),
            Parent::Turn if is_block => Err(self.sealed(&parent)),
            Parent::Turn => Err(invalid("second_core")),
            Parent::Head => {
                let core = self
                    .siblings(&parent, candidate)
                    .into_iter()
                    .find(|node| node.offset == 0 && is_core_type(&node.node_type));
                if is_block {
                    let core = core.map(|node| node.id.clone());
                    Ok(Spot { parent: core, offset, followers: Vec::new() })
                } else if !is_core_type(candidate.node_type) {
                    Err(invalid("group_at_core"))
                } else if core.is_some() {
                    Err(invalid("second_core"))
                } else {
                    there(parent)
                }
            }
        }
    }

    /// Implements the rules of a cue.
    fn spot_cue(
        &self,
        parent: String,
        cue: Cue,
        candidate: &Candidate<'_>,
    ) -> Result<Spot, Refusal> {
        let kind = self.parent_kind(&parent)?;
        let zoned = kind != Parent::Plain;
        let siblings = self.siblings(&parent, candidate);
        let position = position(cue, siblings.len())?;

        if kind == Parent::Turn || !candidate.is_new {
            let offset = offset_alone(&siblings, position, zoned, candidate)?;
            return Ok(Spot { parent: Some(parent), offset, followers: Vec::new() });
        }

        let possible = |offset: i64| !(zoned && offset == 0);
        let prev = position.checked_sub(1).map(|before| siblings[before]);
        let next = siblings.get(position).copied();
        let offset = match (prev, next) {
            (Some(prev), _) if possible(prev.offset) => prev.offset,
            (_, Some(next)) if possible(next.offset) => next.offset,
            (Some(_), _) => 1,
            (None, Some(_)) => -1,
            (None, None) => i64::from(zoned),
        };
        let followers: Vec<&Node> =
            siblings[position..].iter().copied().filter(|node| node.offset == offset).collect();
        if followers.iter().all(|node| !self.is_sealed(node)) {
            let followers = followers.into_iter().map(|node| node.id.clone()).collect();
            return Ok(Spot { parent: Some(parent), offset, followers });
        }
        let offset = match (prev, next) {
            (None, Some(next)) => skip_zero(next.offset.checked_sub(1), -1, zoned),
            (Some(prev), None) => skip_zero(prev.offset.checked_add(1), 1, zoned),
            (Some(prev), Some(next)) => between(prev, next, zoned, candidate),
            (None, None) => None,
        };
        let offset = offset.ok_or_else(|| invalid("position_not_expressible"))?;
        Ok(Spot { parent: Some(parent), offset, followers: Vec::new() })
    }

    /// Returns the children of a parent without the candidate.
    fn siblings(&self, parent: &str, candidate: &Candidate<'_>) -> Vec<&Node> {
        let mut siblings = self.tree.children(parent);
        siblings.retain(|node| Some(node.id.as_str()) != candidate.moved);
        siblings
    }
}

/// Returns the number of siblings before the position.
fn position(cue: Cue, count: usize) -> Result<usize, Refusal> {
    let checked = |number: u32| {
        let number = number as usize;
        if (1..=count).contains(&number) {
            Ok(number)
        } else {
            Err(invalid("position_out_of_range"))
        }
    };
    match cue {
        Cue::Start => Ok(0),
        Cue::End => Ok(count),
        Cue::After(number) => checked(number),
        Cue::Before(number) => Ok(checked(number)? - 1),
    }
}

/// Rule 2: the offset that brings a node to a position without changing stamps.
fn offset_alone(
    siblings: &[&Node],
    position: usize,
    zoned: bool,
    candidate: &Candidate<'_>,
) -> Result<i64, Refusal> {
    let offset = match (siblings.first(), siblings.last()) {
        (Some(first), _) if position == 0 => first.offset.min(0).checked_sub(1),
        (_, Some(last)) if position == siblings.len() => last.offset.max(0).checked_add(1),
        (Some(_), Some(_)) => between(siblings[position - 1], siblings[position], zoned, candidate),
        _ => Some(i64::from(zoned)),
    };
    offset.ok_or_else(|| invalid("position_not_expressible"))
}

/// Returns the offset closest to the first neighbour at which the candidate is between both.
///
/// The offsets of the neighbours are possible only if the candidate's stamp puts it between them; a
/// new stamp is the youngest, so it follows a neighbour with the same offset and never precedes it.
fn between(prev: &Node, next: &Node, zoned: bool, candidate: &Candidate<'_>) -> Option<i64> {
    let (stamp, index) = candidate.stamp;
    let id = candidate.moved.unwrap_or_default();
    let tries = [
        Some(prev.offset),
        prev.offset.checked_add(1),
        prev.offset.checked_add(2),
        Some(next.offset),
    ];
    tries.into_iter().flatten().find(|offset| {
        let order = (*offset, stamp, index, id);
        !(zoned && *offset == 0) && prev.order() < order && order < next.order()
    })
}

/// Returns the offset, or the next one in the direction if it is 0 and must not be.
fn skip_zero(offset: Option<i64>, direction: i64, zoned: bool) -> Option<i64> {
    offset.map(|offset| if zoned && offset == 0 { direction } else { offset })
}
