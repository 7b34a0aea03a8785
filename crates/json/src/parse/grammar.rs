//! The grammar as a state machine: each step produces one token, and a stack of brackets replaces
//! recursion.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::string::Text;
use super::{ParseError, ParseErrorKind, Reader, number};
use crate::Number;

/// What the grammar allows next.
#[derive(Debug)]
pub(super) enum State {
    Value,
    ArrayFirst,
    ArrayNext,
    ObjectFirst,
    ObjectNext,
    End,
    Failed(ParseError),
}

/// An open bracket.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bracket {
    Array,
    Object,
}

/// An event whose strings have not been copied yet.
pub(super) enum Token<'a> {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Key(Text<'a>),
    String(Text<'a>),
    Number(Number),
    Bool(bool),
    Null,
    End,
}

impl<'a> Reader<'a> {
    /// Advances by one token.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<Token<'a>, ParseError> {
        let byte = self.peek();
        self.start = self.position;
        match (&self.state, byte) {
            (State::ArrayNext, Some(b',')) => {
                self.position += 1;
                let byte = self.peek();
                self.start = self.position;
                self.value(byte)
            }
            (State::ObjectNext, Some(b',')) => {
                self.position += 1;
                let byte = self.peek();
                self.start = self.position;
                self.key(byte, "a string key")
            }
            (State::ArrayFirst | State::ArrayNext, Some(b']')) => Ok(self.close(Token::ArrayEnd)),
            (State::ObjectFirst | State::ObjectNext, Some(b'}')) => {
                Ok(self.close(Token::ObjectEnd))
            }
            (State::Value | State::ArrayFirst, _) => self.value(byte),
            (State::ObjectFirst, _) => self.key(byte, "a string key or `}`"),
            (State::ArrayNext, _) => Err(self.unexpected("`,` or `]`")),
            (State::ObjectNext, _) => Err(self.unexpected("`,` or `}`")),
            (State::End, None) if self.stop.is_none() => Ok(Token::End),
            (State::End, None) => Err(self.fail_at_end("the end")),
            (State::End, Some(_)) => Err(self.fail(ParseErrorKind::TrailingData, self.position)),
            (State::Failed(error), _) => Err(error.clone()),
        }
    }

    /// Skips whitespace and returns the next byte without consuming it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte(self.position) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.position += 1,
                byte => return byte,
            }
        }
    }

    #[inline]
    pub(super) fn byte(&self, place: usize) -> Option<u8> {
        self.text.as_bytes().get(place).copied()
    }

    #[inline]
    fn value(&mut self, first: Option<u8>) -> Result<Token<'a>, ParseError> {
        let token = match first {
            Some(b'"') => Token::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Token::Number(self.number()?),
            Some(b'{') => return self.open(Bracket::Object),
            Some(b'[') => return self.open(Bracket::Array),
            Some(b't') => self.literal("true", "`true`", Token::Bool(true))?,
            Some(b'f') => self.literal("false", "`false`", Token::Bool(false))?,
            Some(b'n') => self.literal("null", "`null`", Token::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        self.after_value();
        Ok(token)
    }

    #[inline]
    fn key(&mut self, first: Option<u8>, expected: &'static str) -> Result<Token<'a>, ParseError> {
        if first != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let text = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.position += 1;
        self.state = State::Value;
        Ok(Token::Key(text))
    }

    fn open(&mut self, bracket: Bracket) -> Result<Token<'a>, ParseError> {
        if self.stack.len() >= self.limits.max_depth {
            let kind = ParseErrorKind::TooDeep { limit: self.limits.max_depth };
            return Err(self.fail(kind, self.position));
        }
        self.position += 1;
        self.stack.push(bracket);
        let (state, token) = match bracket {
            Bracket::Array => (State::ArrayFirst, Token::ArrayStart),
            Bracket::Object => (State::ObjectFirst, Token::ObjectStart),
        };
        self.state = state;
        Ok(token)
    }

    pub(super) fn close(&mut self, token: Token<'a>) -> Token<'a> {
        self.position += 1;
        self.stack.pop();
        self.after_value();
        token
    }

    #[inline]
    fn after_value(&mut self) {
        self.state = match self.stack.last() {
            None => State::End,
            Some(Bracket::Array) => State::ArrayNext,
            Some(Bracket::Object) => State::ObjectNext,
        };
    }

    fn literal(
        &mut self,
        word: &str,
        expected: &'static str,
        token: Token<'a>,
    ) -> Result<Token<'a>, ParseError> {
        let start = self.position;
        for (index, &letter) in word.as_bytes().iter().enumerate() {
            match self.byte(self.position) {
                Some(found) if found == letter => self.position += 1,
                // One equal letter is not a misspelt literal: `not json` was never meant as `null`.
                Some(_) if index == 1 => {
                    self.position = start;
                    return Err(self.unexpected("a value"));
                }
                _ => return Err(self.unexpected(expected)),
            }
        }
        Ok(token)
    }

    #[inline]
    fn number(&mut self) -> Result<Number, ParseError> {
        let tail = self.text.as_bytes().get(self.position..).unwrap_or_default();
        if let Some((integer, len)) = number::scan_short_integer(tail) {
            self.position += len;
            return Ok(Number::from_i64(integer));
        }
        self.long_number(tail)
    }

    fn long_number(&mut self, tail: &[u8]) -> Result<Number, ParseError> {
        let start = self.position;
        let shape = match number::scan(tail) {
            Ok(shape) => shape,
            Err(len) if len == tail.len() => return Err(self.fail_at_end("a digit")),
            Err(len) => return Err(self.fail(ParseErrorKind::InvalidNumber, start + len)),
        };
        let limit = self.limits.max_number_bytes;
        if shape.len > limit {
            return Err(self.fail(ParseErrorKind::NumberTooLong { limit }, start));
        }
        let end = start + shape.len;
        let digits = self.text.get(start..end).unwrap_or_default();
        match Number::from_scanned(digits, shape.is_integer) {
            Some(number) => {
                self.position = end;
                Ok(number)
            }
            None => Err(self.fail(ParseErrorKind::NumberOutOfRange, start)),
        }
    }
}
