//! Spans: the location of syntax in the text.

use std::fmt;
use std::ops::Range;

/// A half-open range of byte offsets into the selector's text.
///
/// Spans created by this crate are always at character boundaries of the parsed text. A tree built
/// by hand may use [`Span::NONE`] everywhere; only error messages use spans.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just after the last byte.
    pub end: u32,
}

impl Span {
    /// The empty span at the beginning, for syntax without a text.
    pub const NONE: Self = Self { start: 0, end: 0 };

    /// Returns the span from `start` to `end`. Offsets beyond `u32::MAX` are clamped; the parser
    /// rejects texts that long.
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: cut(start), end: cut(end.max(start)) }
    }

    /// Returns the span as a range of `usize`, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns whether the span is empty, as at the end of the text.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the part of `text` in the span; empty if the span exceeds `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }

    /// Returns the smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "⟨{}..{}⟩", self.start, self.end)
    }
}

/// A value with its location in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its span in the text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Returns `value` at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
