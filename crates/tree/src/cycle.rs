//! The numbers of commits.

use std::fmt;

/// The number of a commit, and of the snapshot that it made: 1 for the first, one more for each.
///
/// A type of its own, because positions in a history, revisions of a store and counts of commits are
/// numbers too, and equal to it just often enough to hide a mistake. Documents and records have the
/// plain number.
///
/// ```
/// use contextree_tree::Cycle;
///
/// let cycle = Cycle::FIRST.next();
/// assert_eq!(cycle, 2, "a cycle can be compared with a number");
/// assert_eq!(format!("@c{cycle}"), "@c2");
/// assert_eq!(cycle.plus(3), Cycle(5));
/// assert_eq!(Cycle(5).since(cycle), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Cycle(pub u32);

impl Cycle {
    /// Before the first commit. Nodes of an imported document that has no cycles have it, too.
    pub const ZERO: Cycle = Cycle(0);

    /// The first commit of a context.
    pub const FIRST: Cycle = Cycle(1);

    /// The highest number.
    pub const MAX: Cycle = Cycle(u32::MAX);

    /// Returns the number as documents have it.
    #[must_use]
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the number of the next commit. The highest one is its own successor.
    #[must_use]
    #[inline]
    pub const fn next(self) -> Cycle {
        self.plus(1)
    }

    /// Returns the number of the next commit, `None` for [`Cycle::MAX`].
    #[must_use]
    pub fn checked_next(self) -> Option<Cycle> {
        self.0.checked_add(1).map(Cycle)
    }

    /// Returns the number of the commit before, [`Cycle::ZERO`] at the lowest.
    #[must_use]
    #[inline]
    pub const fn previous(self) -> Cycle {
        self.minus(1)
    }

    /// Returns the number of the commit before, `None` for [`Cycle::ZERO`].
    #[must_use]
    pub fn checked_previous(self) -> Option<Cycle> {
        self.0.checked_sub(1).map(Cycle)
    }

    /// Returns the number this many commits later, [`Cycle::MAX`] at the highest.
    #[must_use]
    #[inline]
    pub const fn plus(self, commits: u32) -> Cycle {
        Cycle(self.0.saturating_add(commits))
    }

    /// Returns the number this many commits earlier, [`Cycle::ZERO`] at the lowest.
    #[must_use]
    #[inline]
    pub const fn minus(self, commits: u32) -> Cycle {
        Cycle(self.0.saturating_sub(commits))
    }

    /// Returns how many commits this is after another one; 0 if it is earlier.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Cycle) -> u32 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// For comparing with a literal: `report.cycle == 3`.
impl PartialEq<u32> for Cycle {
    fn eq(&self, other: &u32) -> bool {
        self.0 == *other
    }
}

impl From<Cycle> for u32 {
    fn from(cycle: Cycle) -> Self {
        cycle.0
    }
}

impl From<Cycle> for u64 {
    fn from(cycle: Cycle) -> Self {
        cycle.0.into()
    }
}

impl From<Cycle> for i64 {
    fn from(cycle: Cycle) -> Self {
        cycle.0.into()
    }
}
