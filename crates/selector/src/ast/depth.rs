//! Sets of depths: the argument of `:depth(…)` and `depth(…)`.

use super::OneOrMore;
use crate::Span;

/// A union of depths, `1-3` or `0,2..4` or `<0`. A written set `{1,2}` is the list `1,2`.
///
/// Depth 1 is the newest sealed turn. From edition 0.2 on, 0 is the active head and -1 the system
/// region; in edition 0.1 those numbers are valid and match nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthSet {
    /// The members in written order.
    pub items: OneOrMore<DepthItem>,
}

impl DepthSet {
    /// Returns whether `depth` is in the set.
    pub fn contains(&self, depth: i64) -> bool {
        self.items.iter().any(|item| item.contains(depth))
    }
}

/// One member of a [`DepthSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthItem {
    /// The depths that the member covers.
    pub kind: DepthKind,
    /// Its span in the text.
    pub span: Span,
}

/// The depths that one member of a set covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthKind {
    /// `2`.
    One(i64),
    /// `1-3` or `1..3`, including both ends; the first is the smaller one. `1-1` is parsed as
    /// `One`.
    Range(i64, i64),
    /// `<0`.
    Below(i64),
    /// `<=-1`.
    AtMost(i64),
    /// `>0`.
    Above(i64),
    /// `>=2`.
    AtLeast(i64),
}

impl DepthItem {
    /// Returns whether `depth` is covered.
    pub fn contains(&self, depth: i64) -> bool {
        match self.kind {
            DepthKind::One(number) => depth == number,
            DepthKind::Range(first, last) => (first..=last).contains(&depth),
            DepthKind::Below(number) => depth < number,
            DepthKind::AtMost(number) => depth <= number,
            DepthKind::Above(number) => depth > number,
            DepthKind::AtLeast(number) => depth >= number,
        }
    }

    /// Returns the smallest and the largest depth covered; `None` if no depth is (`<` the smallest
    /// integer).
    pub fn bounds(&self) -> Option<(i64, i64)> {
        Some(match self.kind {
            DepthKind::One(number) => (number, number),
            DepthKind::Range(first, last) => (first, last),
            DepthKind::Below(number) => (i64::MIN, number.checked_sub(1)?),
            DepthKind::AtMost(number) => (i64::MIN, number),
            DepthKind::Above(number) => (number.checked_add(1)?, i64::MAX),
            DepthKind::AtLeast(number) => (number, i64::MAX),
        })
    }
}
