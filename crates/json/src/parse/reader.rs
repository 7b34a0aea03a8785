//! The pull parser: its state, its events and its errors.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;

use super::build::Builder;
use super::grammar::{Bracket, State, Token};
use super::{Limits, ParseError, ParseErrorKind};
use crate::Number;

/// One step through a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// `{`. Keys and values follow in turn, then `ObjectEnd`.
    ObjectStart,
    /// `}`.
    ObjectEnd,
    /// `[`. Values follow, then `ArrayEnd`.
    ArrayStart,
    /// `]`.
    ArrayEnd,
    /// A key with its `:`. Whether it is new in its object is for the caller to check.
    Key(Cow<'a, str>),
    /// A string.
    String(Cow<'a, str>),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// The value is complete and only whitespace followed. Every further step returns this again.
    End,
}

/// A pull parser, for documents that are read straight into typed structures.
///
/// Memory and stack do not grow with the text, except for one byte per open bracket. After an error
/// every further call returns the same error.
///
/// ```
/// use contextree_json::{Event, Reader};
///
/// let mut reader = Reader::new(br#"{"ids": ["a", "b"], "meta": {"k": [1, 2.5]}}"#);
/// let mut ids = Vec::new();
/// let mut meta = None;
/// reader.begin_object()?;
/// while let Some(key) = reader.next_key()? {
///     match &*key {
///         "ids" => {
///             reader.begin_array()?;
///             while reader.next_element()? {
///                 ids.push(reader.read_string()?);
///             }
///         }
///         _ => meta = Some(reader.read_value()?),
///     }
/// }
/// assert_eq!(reader.next()?, Event::End);
/// assert_eq!(ids, ["a", "b"]);
/// assert_eq!(meta.unwrap().to_canonical(), br#"{"k":[1,2.5]}"#);
/// # Ok::<(), contextree_json::ParseError>(())
/// ```
#[derive(Debug)]
pub struct Reader<'a> {
    /// The readable text: all of it, or the part before `stop`.
    pub(super) text: &'a str,
    /// Why `text` is shorter than the given text.
    pub(super) stop: Option<ParseErrorKind>,
    pub(super) limits: Limits,
    /// Where reading continues.
    pub(super) position: usize,
    /// Where the last token began.
    pub(super) start: usize,
    pub(super) state: State,
    pub(super) stack: Vec<Bracket>,
    /// The content of the last string, if it had escapes.
    pub(super) buffer: String,
    pub(super) builder: Builder,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of `text`, with the default [`Limits`].
    pub fn new(text: &'a [u8]) -> Self {
        Self::with_limits(text, &Limits::default())
    }

    /// Returns a reader at the start of `text`.
    ///
    /// A text that is too large or not UTF-8 is reported by the step that reaches the problem.
    pub fn with_limits(text: &'a [u8], limits: &Limits) -> Self {
        let (text, stop) = if text.len() > limits.max_bytes {
            ("", Some(ParseErrorKind::TooLarge { limit: limits.max_bytes }))
        } else {
            match str::from_utf8(text) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = text.get(..error.valid_up_to()).unwrap_or_default();
                    let valid = str::from_utf8(valid).unwrap_or_default();
                    (valid, Some(ParseErrorKind::InvalidUtf8))
                }
            }
        };
        Reader {
            text,
            stop,
            limits: *limits,
            position: 0,
            start: 0,
            state: State::Value,
            stack: Vec::new(),
            buffer: String::new(),
            builder: Builder::default(),
        }
    }

    /// Reads the next event.
    ///
    /// # Errors
    ///
    /// A [`ParseError`] describing the first problem in the text; never `DuplicateKey`.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator would have to end and hide errors"
    )]
    pub fn next(&mut self) -> Result<Event<'a>, ParseError> {
        Ok(match self.advance()? {
            Token::ObjectStart => Event::ObjectStart,
            Token::ObjectEnd => Event::ObjectEnd,
            Token::ArrayStart => Event::ArrayStart,
            Token::ArrayEnd => Event::ArrayEnd,
            Token::Key(text) => Event::Key(self.cow(&text)),
            Token::String(text) => Event::String(self.cow(&text)),
            Token::Number(number) => Event::Number(number),
            Token::Bool(truth) => Event::Bool(truth),
            Token::Null => Event::Null,
            Token::End => Event::End,
        })
    }

    /// Returns the byte offset at which the last event begins.
    pub fn offset(&self) -> usize {
        self.start
    }

    /// Returns the number of open arrays and objects.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns an error located at the last event, for a caller that rejects its value.
    pub fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError::new(kind, self.text, self.start)
    }

    /// Returns the error for anything other than `expected` at the current position.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: &'static str) -> ParseError {
        if self.position >= self.text.len() {
            return self.fail_at_end(expected);
        }
        self.fail(ParseErrorKind::UnexpectedByte { expected }, self.position)
    }

    /// Returns the error for `expected` missing at the end of the readable text.
    #[cold]
    pub(super) fn fail_at_end(&mut self, expected: &'static str) -> ParseError {
        let kind = self.stop.clone().unwrap_or(ParseErrorKind::UnexpectedEnd { expected });
        self.fail(kind, self.text.len())
    }

    /// Returns the error and stores it, so that every further call fails the same way.
    #[cold]
    pub(super) fn fail(&mut self, kind: ParseErrorKind, offset: usize) -> ParseError {
        let error = ParseError::new(kind, self.text, offset);
        self.state = State::Failed(error.clone());
        error
    }
}
