//! Typed steps on top of events, for callers that know what to expect.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;

use super::grammar::{State, Token};
use super::{ParseError, ParseErrorKind, Reader};
use crate::Number;

impl<'a> Reader<'a> {
    /// Reads `{`.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type; likewise for each of the methods below.
    pub fn begin_object(&mut self) -> Result<(), ParseError> {
        match self.advance()? {
            Token::ObjectStart => Ok(()),
            _ => Err(self.wrong_type("an object")),
        }
    }

    /// Reads `[`.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type.
    pub fn begin_array(&mut self) -> Result<(), ParseError> {
        match self.advance()? {
            Token::ArrayStart => Ok(()),
            _ => Err(self.wrong_type("an array")),
        }
    }

    /// Reads the next key of the current object; reads its `}` and returns `None` after the last.
    ///
    /// Whether the key is new in its object is for the caller to check.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the last value has not been read, or no object is open.
    pub fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, ParseError> {
        match self.advance()? {
            Token::Key(text) => Ok(Some(self.cow(&text))),
            Token::ObjectEnd => Ok(None),
            _ => Err(self.wrong_type("a key")),
        }
    }

    /// Returns whether the current array has another element, which can then be read; reads its `]`
    /// if not.
    ///
    /// # Errors
    ///
    /// A [`ParseError`] for invalid text; `UnexpectedType` if no array is open.
    pub fn next_element(&mut self) -> Result<bool, ParseError> {
        let byte = self.peek();
        self.start = self.position;
        match (&self.state, byte) {
            (State::ArrayFirst | State::ArrayNext, Some(b']')) => {
                self.close(Token::ArrayEnd);
                return Ok(false);
            }
            (State::ArrayNext, Some(b',')) => {
                self.position += 1;
                self.state = State::Value;
            }
            (State::ArrayFirst, _) => self.state = State::Value,
            (State::Value, _) => {}
            (State::ArrayNext | State::Failed(_), _) => {
                self.advance()?;
            }
            _ => return Err(self.wrong_type("an array")),
        }
        Ok(true)
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type.
    pub fn read_string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        match self.advance()? {
            Token::String(text) => Ok(self.cow(&text)),
            _ => Err(self.wrong_type("a string")),
        }
    }

    /// Reads a number.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type.
    pub fn read_number(&mut self) -> Result<Number, ParseError> {
        match self.advance()? {
            Token::Number(number) => Ok(number),
            _ => Err(self.wrong_type("a number")),
        }
    }

    /// Reads an integer; `1.0` is not an integer.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type or does not fit.
    pub fn read_i64(&mut self) -> Result<i64, ParseError> {
        match self.advance()? {
            Token::Number(number) => number.as_i64(),
            _ => None,
        }
        .ok_or_else(|| self.wrong_type("a 64-bit integer"))
    }

    /// Reads an unsigned integer; `1.0` is not an integer.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type or does not fit.
    pub fn read_u64(&mut self) -> Result<u64, ParseError> {
        match self.advance()? {
            Token::Number(number) => number.as_u64(),
            _ => None,
        }
        .ok_or_else(|| self.wrong_type("an unsigned 64-bit integer"))
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// `UnexpectedType` if the next value has another type.
    pub fn read_bool(&mut self) -> Result<bool, ParseError> {
        match self.advance()? {
            Token::Bool(truth) => Ok(truth),
            _ => Err(self.wrong_type("`true` or `false`")),
        }
    }

    /// Reads `null` if it is next and returns whether it was; leaves any other value unread.
    ///
    /// Call this where a value is expected: after a key, after [`next_element`](Self::next_element)
    /// or at the start.
    ///
    /// # Errors
    ///
    /// A [`ParseError`] for invalid text.
    pub fn read_null(&mut self) -> Result<bool, ParseError> {
        let is_null = matches!(self.state, State::Value) && self.peek() == Some(b'n');
        if is_null {
            self.advance()?;
        }
        Ok(is_null)
    }

    /// Checks that the value is complete and only whitespace follows.
    ///
    /// # Errors
    ///
    /// `TrailingData` if anything follows, `UnexpectedType` if the value is not complete.
    pub fn expect_end(&mut self) -> Result<(), ParseError> {
        match self.advance()? {
            Token::End => Ok(()),
            _ => Err(self.wrong_type("the end")),
        }
    }

    /// Returns the error for a token of a type that the caller did not ask for.
    #[cold]
    pub(super) fn wrong_type(&mut self, expected: &'static str) -> ParseError {
        self.fail(ParseErrorKind::UnexpectedType { expected }, self.start)
    }
}
