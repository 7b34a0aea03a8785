//! The snapshots that a selector addresses.

use crate::Span;

/// A snapshot prefix: `@t-1`, `@c42`, `@*`, `@t-5..@t-1`, `@history`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// What it addresses.
    pub kind: TimeKind,
    /// Its span in the text.
    pub span: Span,
}

/// What a snapshot prefix addresses. It is not resolved: `@t-99` may not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// One snapshot.
    At(Snapshot),
    /// `@*`: every snapshot, not the working state.
    All,
    /// An inclusive range; makes the result a list of differences.
    Range(SnapshotRange),
}

/// One snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// `@t0` is the latest commit, `@t-1` the one before. Positive numbers (`@t5`, in edition 0.3
    /// also `@t+1`) are valid but never exist.
    Relative(i64),
    /// `@c42`: the snapshot of cycle 42.
    Cycle(i64),
}

/// An inclusive range of snapshots of one kind. The order of the ends has no meaning: results
/// always run from newest to oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotRange {
    /// `@t-5..@t-1`, `@t-5:-1`; `@history` is `@t0..@t-*`.
    Relative {
        /// The end written first.
        from: RelativePoint,
        /// The end written second.
        to: RelativePoint,
    },
    /// `@c10..@c12`, `@c10:12`.
    Cycles {
        /// The end written first.
        from: i64,
        /// The end written second.
        to: i64,
    },
}

impl SnapshotRange {
    /// The range of `@history`.
    pub const HISTORY: Self =
        Self::Relative { from: RelativePoint::At(0), to: RelativePoint::Oldest };
}

/// An end of a range that counts back from the latest commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelativePoint {
    /// `@t-3`.
    At(i64),
    /// `@t-*`: the oldest snapshot available. Edition 0.3.
    Oldest,
}
