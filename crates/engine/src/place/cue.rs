//! Positions among children, and the offsets and stamps that produce them.

use std::cmp::Ordering;

use contextree_tree::{Class, NodeRef, Scalar};

use super::{Parent, Subject, Target, check_parent, is_sealed};
use crate::error::{OpError, Reason};
use crate::op::Cue;

/// A position among the children of a node.
struct Gap<'a> {
    parent: NodeRef<'a>,
    /// The position of the node that is being moved, which is skipped.
    skip: Option<usize>,
    /// Number of siblings.
    count: usize,
    /// Number of siblings before the position.
    at: usize,
    /// Whether offset 0 is excluded because the parent is a turn or the head.
    zoned: bool,
}

pub(super) fn resolve(
    parent: NodeRef<'_>,
    cue: Cue,
    subject: Subject<'_>,
) -> Result<Target, OpError> {
    check_parent(parent)?;
    let skip =
        subject.moving.filter(|node| node.parent_id() == Some(parent.id())).map(NodeRef::position);
    let count = parent.child_count() - usize::from(skip.is_some());
    let out_of_range = || OpError::placement(Reason::PositionOutOfRange, parent.id());
    let child = |number: u32| {
        let number = number as usize;
        if (1..=count).contains(&number) { Ok(number) } else { Err(out_of_range()) }
    };
    let at = match cue {
        Cue::Start => 0,
        Cue::End => count,
        Cue::After(number) => child(number)?,
        Cue::Before(number) => child(number)? - 1,
    };
    let gap = Gap { parent, skip, count, at, zoned: parent.is_zoned() };
    let sealed_turn = parent.class() == Class::Turn;
    let not_expressible = || OpError::placement(Reason::PositionNotExpressible, parent.id());
    let (offset, rotate) = match subject.moving.filter(|node| is_sealed(*node)) {
        // Across regions the node is recreated, so it gets new stamps like any new node.
        Some(node) if node.region() == region_of(parent) => {
            (gap.for_stamps_of(node).ok_or_else(not_expressible)?, Vec::new())
        }
        _ if sealed_turn => (gap.by_offset().ok_or_else(not_expressible)?, Vec::new()),
        _ => {
            let offset = gap.beside_neighbour();
            let following: Vec<_> =
                gap.following().take_while(|node| node.offset() == offset).collect();
            if following.iter().any(|node| is_sealed(*node)) {
                (gap.by_free_offset().ok_or_else(not_expressible)?, Vec::new())
            } else {
                (offset, following.iter().map(|node| node.key_of()).collect())
            }
        }
    };
    Ok(Target {
        parent: Parent::Node(parent.key_of()),
        offset,
        rotate,
        by_cue: true,
        becomes_core: false,
    })
}

fn region_of(parent: NodeRef<'_>) -> Option<contextree_tree::Region> {
    parent.as_region().or_else(|| parent.region())
}

impl<'a> Gap<'a> {
    /// Returns the sibling at a position, skipping the node that is being moved.
    fn sibling(&self, index: usize) -> Option<NodeRef<'a>> {
        let passed = self.skip.is_some_and(|skip| index >= skip);
        if index < self.count { self.parent.child(index + usize::from(passed)) } else { None }
    }

    fn before(&self) -> Option<NodeRef<'a>> {
        self.sibling(self.at.checked_sub(1)?)
    }

    fn after(&self) -> Option<NodeRef<'a>> {
        self.sibling(self.at)
    }

    /// Returns the siblings at and after the position.
    fn following(&self) -> impl Iterator<Item = NodeRef<'a>> {
        (self.at..self.count).map_while(|index| self.sibling(index))
    }

    fn is_possible(&self, offset: Scalar) -> bool {
        !self.zoned || offset.signum() != 0
    }

    /// Returns the offset of a neighbour that can be shared, so that stamps decide the order.
    fn beside_neighbour(&self) -> Scalar {
        let shared = [self.before(), self.after()]
            .into_iter()
            .flatten()
            .map(NodeRef::offset)
            .find(|offset| self.is_possible(*offset));
        shared.unwrap_or(match (self.before(), self.after(), self.zoned) {
            (Some(_), _, _) => Scalar::Int(1),
            (None, Some(_), _) => Scalar::Int(-1),
            (None, None, true) => Scalar::Int(1),
            (None, None, false) => Scalar::ZERO,
        })
    }

    /// Returns an offset for a new node, which is last among equal offsets, if no sibling's stamps
    /// can change.
    fn by_offset(&self) -> Option<Scalar> {
        match (self.before(), self.after()) {
            (_, None) => Some(Scalar::Int(self.beyond_last()?)),
            (None, Some(_)) => Some(Scalar::Int(self.before_first()?)),
            (Some(before), Some(after)) => {
                let (low, high) = (before.offset(), after.offset());
                if self.is_possible(low) && low < high {
                    return Some(low);
                }
                self.between(low, high)
            }
        }
    }

    /// Like [`Gap::by_offset`], but for parents that are not sealed turns: at either end, the
    /// offset next to the neighbour is free.
    fn by_free_offset(&self) -> Option<Scalar> {
        let step = |offset: Scalar, by: i64| {
            let next = whole(offset, by)?.checked_add(by)?;
            Some(Scalar::Int(if next == 0 && self.zoned { by } else { next }))
        };
        match (self.before(), self.after()) {
            (Some(before), None) => step(before.offset(), 1),
            (None, Some(after)) => step(after.offset(), -1),
            (Some(_), Some(_)) => self.by_offset(),
            (None, None) => Some(self.beside_neighbour()),
        }
    }

    /// Returns an offset with which a node's own stamps put it into the gap.
    fn for_stamps_of(&self, node: NodeRef<'_>) -> Option<Scalar> {
        let stamps = |node: NodeRef<'_>| (node.created_at_ns(), node.creation_index());
        let order = |left: NodeRef<'_>, right: NodeRef<'_>| {
            stamps(left).cmp(&stamps(right)).then_with(|| left.id().cmp(right.id()))
        };
        match (self.before(), self.after()) {
            (None, None) if !self.zoned => Some(Scalar::ZERO),
            (_, None) => Some(Scalar::Int(self.beyond_last()?)),
            (None, Some(_)) => Some(Scalar::Int(self.before_first()?)),
            (Some(before), Some(after)) => {
                let (low, high) = (before.offset(), after.offset());
                let follows_before = order(before, node) == Ordering::Less;
                let ahead = order(node, after) == Ordering::Less;
                if low == high {
                    return (self.is_possible(low) && follows_before && ahead).then_some(low);
                }
                if self.is_possible(low) && follows_before {
                    return Some(low);
                }
                self.between(low, high)
                    .or_else(|| (self.is_possible(high) && ahead).then_some(high))
            }
        }
    }

    fn beyond_last(&self) -> Option<i64> {
        let last = self.sibling(self.count.wrapping_sub(1)).map_or(Scalar::ZERO, NodeRef::offset);
        whole(last.max(Scalar::ZERO), 1)?.checked_add(1)
    }

    fn before_first(&self) -> Option<i64> {
        let first = self.sibling(0).map_or(Scalar::ZERO, NodeRef::offset);
        whole(first.min(Scalar::ZERO), -1)?.checked_sub(1)
    }

    /// Returns the integer closest to the lower offset and strictly between the two.
    fn between(&self, low: Scalar, high: Scalar) -> Option<Scalar> {
        let mut next = whole(low, 1)?.checked_add(1)?;
        if next == 0 && self.zoned {
            next = 1;
        }
        (Scalar::Int(next) < high).then_some(Scalar::Int(next))
    }
}

/// Returns the offset as an integer; an imported fraction is rounded against the direction of the
/// next step, so that the step passes it.
fn whole(offset: Scalar, direction: i64) -> Option<i64> {
    match offset {
        Scalar::Int(value) => Some(value),
        Scalar::Float(value) => {
            let rounded = if direction > 0 { value.floor() } else { value.ceil() };
            #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
            (rounded.abs() < 9e15).then_some(rounded as i64)
        }
    }
}
