//! Parse errors and their positions.
//!
//! The position is stored as a byte offset; line and column are computed once, when the error is
//! made.

use std::fmt;

/// A parse error with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Boxed to keep `Result`s small: they pass through the hot path, errors do not.
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ParseErrorKind,
    offset: usize,
    line: usize,
    column: usize,
}

/// The kind of a parse error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Another byte was required: `[1 2]`, `{"a" 1}`, `nul_`, `NaN`.
    #[error("expected {expected}")]
    UnexpectedByte {
        /// What is allowed here.
        expected: &'static str,
    },
    /// The text ends too early: `[1,`, `"abc`, `tru`, or an empty text.
    #[error("text ends where {expected} was expected")]
    UnexpectedEnd {
        /// What must follow.
        expected: &'static str,
    },
    /// The JSON is valid, but the caller of a [`Reader`](crate::Reader) asked for another type.
    #[error("expected {expected}")]
    UnexpectedType {
        /// What the caller asked for.
        expected: &'static str,
    },
    /// The bytes from this position on are not UTF-8.
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// An invalid escape: `"\x41"`, `"\u12g4"`.
    #[error("invalid escape in a string")]
    InvalidEscape,
    /// Half of a surrogate pair: `"\ud800"`, `"\udc00\ud800"`. It encodes no character, so neither
    /// a Rust string nor UTF-8 can hold it. Python reads it; this crate rejects it.
    #[error("lone surrogate in a string")]
    LoneSurrogate,
    /// A raw control character (below U+0020) inside a string; it must be escaped.
    #[error("control character in a string must be escaped")]
    ControlCharacter,
    /// A number that violates the grammar: `01`, `1.`, `-x`, `1e+`.
    #[error("invalid number")]
    InvalidNumber,
    /// A double beyond the largest finite one: `1e400`. Integers are never out of range.
    #[error("number is out of range")]
    NumberOutOfRange,
    /// A key that its object already has. Detected when the object closes.
    #[error("duplicate key `{0}`")]
    DuplicateKey(Box<str>),
    /// More open arrays and objects than the limit.
    #[error("nesting is deeper than {limit}")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More bytes than the limit; reported at the start, because nothing was read.
    #[error("text is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A number with more bytes than the limit.
    #[error("number is longer than {limit} bytes")]
    NumberTooLong {
        /// The limit.
        limit: usize,
    },
    /// Anything but whitespace after the value: `1 2`, `{}]`.
    #[error("unexpected data after the value")]
    TrailingData,
}

impl ParseError {
    /// Returns the error at `offset` in `text`; an `offset` beyond the end means the end.
    #[cold]
    pub(crate) fn new(kind: ParseErrorKind, text: &str, offset: usize) -> Self {
        let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let is_newline = |byte: &&u8| **byte == b'\n';
        // Continuation bytes do not begin a character.
        let begins_character = |byte: &&u8| **byte & 0xc0 != 0x80;
        ParseError {
            inner: Box::new(Inner {
                kind,
                offset: before.len(),
                line: before.iter().filter(is_newline).count() + 1,
                column: before.iter().skip(line_start).filter(begins_character).count() + 1,
            }),
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> &ParseErrorKind {
        &self.inner.kind
    }

    /// Returns the stable code: `E_LIMIT` if a limit was exceeded, otherwise `E_JSON_INVALID`.
    pub fn code(&self) -> &'static str {
        match self.inner.kind {
            ParseErrorKind::TooDeep { .. }
            | ParseErrorKind::TooLarge { .. }
            | ParseErrorKind::NumberTooLong { .. } => "E_LIMIT",
            _ => "E_JSON_INVALID",
        }
    }

    /// Returns the byte offset from the start of the text.
    pub fn offset(&self) -> usize {
        self.inner.offset
    }

    /// Returns the line, from 1; lines end with `\n`.
    pub fn line(&self) -> usize {
        self.inner.line
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> usize {
        self.inner.column
    }

    /// Returns the message with the column but no line, for a text that is one line of another.
    pub fn in_line(&self) -> impl fmt::Display + '_ {
        InLine(self)
    }
}

struct InLine<'a>(&'a ParseError);

impl fmt::Display for InLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, column, .. } = &*self.0.inner;
        match kind {
            ParseErrorKind::TooLarge { .. } => kind.fmt(f),
            _ => write!(f, "{kind} at column {column}"),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, line, column, .. } = &*self.inner;
        if let ParseErrorKind::TooLarge { .. } = kind {
            return kind.fmt(f);
        }
        write!(f, "{kind} at line {line}, column {column}")
    }
}

impl std::error::Error for ParseError {}
