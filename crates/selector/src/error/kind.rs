//! The kinds of errors, each with a stable name, and the specification's codes.

use std::fmt;

use crate::Edition;

/// An error code of the specification (`E_LIMIT` is an extension).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// `E_SELECTOR_INVALID`: the selector is invalid in its edition.
    SelectorInvalid,
    /// `E_SNAPSHOT_RANGE_KIND_MISMATCH`: `@t-1..@c3`.
    SnapshotRangeKindMismatch,
    /// `E_SNAPSHOT_RANGE_WILDCARD`: `@t0..@*`.
    SnapshotRangeWildcard,
    /// `E_LIMIT`: the text exceeds [`Limits`](crate::Limits).
    Limit,
}

impl Code {
    /// Returns the code's text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SelectorInvalid => "E_SELECTOR_INVALID",
            Self::SnapshotRangeKindMismatch => "E_SNAPSHOT_RANGE_KIND_MISMATCH",
            Self::SnapshotRangeWildcard => "E_SNAPSHOT_RANGE_WILDCARD",
            Self::Limit => "E_LIMIT",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The kind of an error, with examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something else is expected: `.cb[role=]`, `^sys >`.
    Unexpected,
    /// Nothing is selected: the empty text, `@t0`.
    Nothing,
    /// A bracket that may not be empty: `.cb[]`, `:depth()`, `()`.
    Empty,
    /// A bracket or quote that is not closed: `[role='user]`.
    Unclosed,
    /// `^foo`.
    UnknownRoot,
    /// `:frist`.
    UnknownPseudo,
    /// `@latest .cb`.
    UnknownSnapshot,
    /// `.cb @frist`, `@mode=bogus`.
    UnknownControl,
    /// `(d0, blok)`.
    UnknownHop,
    /// `'a\n'` in editions 0.1 and 0.2: only `\\`, `\'` and `\"` are escapes.
    UnknownEscape,
    /// `{ role }`: a mere name where a comparison is needed.
    NoOperator,
    /// `:nth(0)`, `:depth(1.5)`.
    InvalidNumber,
    /// `:depth(3-1)`.
    Descending,
    /// Something that can be given only once: `.cb.mt`, `@limit=1 @limit=2`.
    Duplicate,
    /// Something that is valid only elsewhere: `.cb @t0`, `#x^seq`.
    Misplaced,
    /// `(d0, end)` in a selector that reads.
    CueInRead,
    /// `? ? { … }`, `(d1, ? { … }, ? { … })`.
    ChainedStep,
    /// `[age<2]` or `@mode` on the working state.
    NeedsSnapshot,
    /// `@t0 (d0, end)` in a write.
    SnapshotInWrite,
    /// A construct of a later edition.
    LaterEdition {
        /// The edition that introduced it.
        needs: Edition,
        /// The edition in which the text is parsed.
        reading: Edition,
    },
    /// `@t-1..@c3`.
    RangeKinds,
    /// `@t0..@*`.
    RangeWildcard,
    /// The text has too many bytes.
    TooLong,
    /// The text has too many syntax nodes.
    TooMany,
    /// A number has too many digits.
    TooLarge,
}

impl ErrorKind {
    /// Returns the kind's stable name, the same in every interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unexpected => "unexpected",
            Self::Nothing => "nothing",
            Self::Empty => "empty",
            Self::Unclosed => "unclosed",
            Self::UnknownRoot => "unknown_root",
            Self::UnknownPseudo => "unknown_pseudo",
            Self::UnknownSnapshot => "unknown_snapshot",
            Self::UnknownControl => "unknown_control",
            Self::UnknownHop => "unknown_hop",
            Self::UnknownEscape => "unknown_escape",
            Self::NoOperator => "no_operator",
            Self::InvalidNumber => "invalid_number",
            Self::Descending => "descending",
            Self::Duplicate => "duplicate",
            Self::Misplaced => "misplaced",
            Self::CueInRead => "cue_in_read",
            Self::ChainedStep => "chained_step",
            Self::NeedsSnapshot => "needs_snapshot",
            Self::SnapshotInWrite => "snapshot_in_write",
            Self::LaterEdition { .. } => "later_edition",
            Self::RangeKinds => "range_kinds",
            Self::RangeWildcard => "range_wildcard",
            Self::TooLong => "too_long",
            Self::TooMany => "too_many",
            Self::TooLarge => "too_large",
        }
    }

    /// Returns the specification's code for the kind.
    pub const fn code(self) -> Code {
        match self {
            Self::RangeKinds => Code::SnapshotRangeKindMismatch,
            Self::RangeWildcard => Code::SnapshotRangeWildcard,
            Self::TooLong | Self::TooMany | Self::TooLarge => Code::Limit,
            _ => Code::SelectorInvalid,
        }
    }
}
