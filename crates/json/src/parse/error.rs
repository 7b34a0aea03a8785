//! What can be wrong with a text, and where.
//!
//! A place is kept as a byte offset; line and column are counted once, when the error is made.

use std::fmt;

/// Why a text could not be read, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Boxed, because results travel through the hot path and errors do not.
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ParseErrorKind,
    offset: usize,
    line: usize,
    column: usize,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else has to stand here: `[1 2]`, `{"a" 1}`, `nul_`, `NaN`.
    UnexpectedByte {
        /// What may stand here.
        expected: &'static str,
    },
    /// The text stops too early: `[1,`, `"abc`, `tru`, or nothing at all.
    UnexpectedEnd {
        /// What has to follow.
        expected: &'static str,
    },
    /// The JSON is good, but the caller of a [`Reader`](crate::Reader) asked for another type.
    UnexpectedType {
        /// What the caller asked for.
        expected: &'static str,
    },
    /// The bytes from here on are not UTF-8.
    InvalidUtf8,
    /// A backslash with something that JSON does not know: `"\x41"`, `"\u12g4"`.
    InvalidEscape,
    /// Half of a surrogate pair: `"\ud800"`, `"\udc00\ud800"`. It stands for no character, so neither
    /// a Rust string nor UTF-8 can hold it. Python reads it; we refuse it.
    LoneSurrogate,
    /// A raw control character (below U+0020) inside a string; it must be escaped.
    ControlCharacter,
    /// A number against the grammar: `01`, `1.`, `-x`, `1e+`.
    InvalidNumber,
    /// A double beyond the largest finite one: `1e400`. Integers are never out of range.
    NumberOutOfRange,
    /// A key that its object already has. Found when the object closes.
    DuplicateKey(Box<str>),
    /// More open arrays and objects than the limit.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More bytes than the limit; reported at the start, because nothing was read.
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// A number with more bytes than the limit.
    NumberTooLong {
        /// The limit.
        limit: usize,
    },
    /// Something other than blanks after the value: `1 2`, `{}]`.
    TrailingData,
}

impl ParseError {
    /// Returns the error for a place in `text`; an `offset` beyond the end means the end.
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

    /// Returns what is wrong.
    pub fn kind(&self) -> &ParseErrorKind {
        &self.inner.kind
    }

    /// Returns the stable code: `E_LIMIT` if a limit was passed, otherwise `E_JSON_INVALID`.
    pub fn code(&self) -> &'static str {
        match self.inner.kind {
            ParseErrorKind::TooDeep { .. }
            | ParseErrorKind::TooLarge { .. }
            | ParseErrorKind::NumberTooLong { .. } => "E_LIMIT",
            _ => "E_JSON_INVALID",
        }
    }

    /// Returns the place in bytes from the start of the text.
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

    /// Returns the message for a text that is itself a line of another: it has the column only.
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

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParseErrorKind::*;
        match self {
            UnexpectedByte { expected } | UnexpectedType { expected } => {
                write!(f, "expected {expected}")
            }
            UnexpectedEnd { expected } => write!(f, "text ends where {expected} was expected"),
            InvalidUtf8 => f.write_str("invalid UTF-8"),
            InvalidEscape => f.write_str("invalid escape in a string"),
            LoneSurrogate => f.write_str("lone surrogate in a string"),
            ControlCharacter => f.write_str("control character in a string must be escaped"),
            InvalidNumber => f.write_str("invalid number"),
            NumberOutOfRange => f.write_str("number is out of range"),
            DuplicateKey(key) => write!(f, "duplicate key `{key}`"),
            TooDeep { limit } => write!(f, "nesting is deeper than {limit}"),
            TooLarge { limit } => write!(f, "text is larger than {limit} bytes"),
            NumberTooLong { limit } => write!(f, "number is longer than {limit} bytes"),
            TrailingData => f.write_str("unexpected data after the value"),
        }
    }
}
