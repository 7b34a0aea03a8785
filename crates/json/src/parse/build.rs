//! Builds values from events. Open containers are kept on explicit stacks, so a value is built
//! without recursion and each array or object is allocated once, at its final size.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;

use super::grammar::Token;
use super::{Limits, MAX_VALUE_DEPTH, ParseError, ParseErrorKind, Reader};
use crate::key::Key;
use crate::{Event, Object, Value};

/// Parses a text that is exactly one JSON value, with the default [`Limits`].
///
/// # Errors
///
/// A [`ParseError`] describing the first problem in `text`.
pub fn parse(text: &[u8]) -> Result<Value, ParseError> {
    parse_with(text, &Limits::default())
}

/// Parses a text that is exactly one JSON value.
///
/// # Errors
///
/// A [`ParseError`] describing the first problem in `text`.
pub fn parse_with(text: &[u8], limits: &Limits) -> Result<Value, ParseError> {
    let mut reader = Reader::with_limits(text, limits);
    let value = reader.read_value()?;
    reader.expect_end()?;
    Ok(value)
}

/// Buffers reused from one text to the next, for logs of many short texts.
///
/// ```
/// use contextree_json::{Limits, Scratch};
/// let mut scratch = Scratch::default();
/// for line in ["{\"a\":1}", "[\"\\n\"]"] {
///     let value = scratch.parse(line.as_bytes(), &Limits::default())?;
///     assert_eq!(value.to_canonical(), line.as_bytes());
/// }
/// # Ok::<(), contextree_json::ParseError>(())
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    buffer: String,
    builder: Builder,
}

impl Scratch {
    /// Parses a text that is exactly one JSON value, like [`parse_with`].
    ///
    /// # Errors
    ///
    /// A [`ParseError`] describing the first problem in `text`.
    pub fn parse(&mut self, text: &[u8], limits: &Limits) -> Result<Value, ParseError> {
        let mut reader = Reader::with_limits(text, limits);
        std::mem::swap(&mut reader.buffer, &mut self.buffer);
        std::mem::swap(&mut reader.builder, &mut self.builder);
        let value = reader.read_value()?;
        reader.expect_end()?;
        self.buffer = reader.buffer;
        self.builder = reader.builder;
        Ok(value)
    }
}

/// The open containers; kept between values to reuse the memory.
#[derive(Debug, Default)]
pub(super) struct Builder {
    open: Vec<Open>,
    /// The elements of all open arrays, outermost first.
    elements: Vec<Value>,
    /// The entries of all open objects, outermost first; the last may still lack its value.
    entries: Vec<(Key, Value)>,
}

#[derive(Debug)]
enum Open {
    /// The index of its first element.
    Array(usize),
    /// The index of its first entry, and the offset of its bracket.
    Object(usize, usize),
}

/// Removes and returns the items from `first` on, in a vector of exact size.
fn take_from<T>(items: &mut Vec<T>, first: usize) -> Vec<T> {
    // A long list that is alone on the stack is handed over without a copy; a short one is copied,
    // so that the stack keeps its memory.
    const LONG: usize = 256;
    if first > 0 || items.len() < LONG {
        return items.split_off(first);
    }
    let mut items = std::mem::take(items);
    items.shrink_to_fit();
    items
}

impl Reader<'_> {
    /// Reads the next complete value, for example after a key.
    ///
    /// # Errors
    ///
    /// A [`ParseError`] for invalid text, for example `DuplicateKey`, or `TooDeep` beyond
    /// [`MAX_VALUE_DEPTH`]; `UnexpectedType` if a closing bracket, a key or the end is next.
    pub fn read_value(&mut self) -> Result<Value, ParseError> {
        let mut builder = std::mem::take(&mut self.builder);
        let value = self.build(&mut builder)?;
        self.builder = builder;
        Ok(value)
    }

    fn build(&mut self, builder: &mut Builder) -> Result<Value, ParseError> {
        let Builder { open, elements, entries } = builder;
        loop {
            let value = match self.advance()? {
                Token::Null => Value::Null,
                Token::Bool(truth) => Value::Bool(truth),
                Token::Number(number) => Value::Number(number),
                Token::String(text) => Value::String(self.borrowed(&text).into()),
                Token::Key(text) if !open.is_empty() => {
                    entries.push((Key::from(self.borrowed(&text)), Value::Null));
                    continue;
                }
                Token::ArrayStart => {
                    self.check_depth(open.len())?;
                    open.push(Open::Array(elements.len()));
                    continue;
                }
                Token::ObjectStart => {
                    self.check_depth(open.len())?;
                    open.push(Open::Object(entries.len(), self.start));
                    continue;
                }
                Token::ArrayEnd | Token::ObjectEnd | Token::Key(_) | Token::End => {
                    match open.pop() {
                        Some(Open::Array(first)) => Value::Array(take_from(elements, first)),
                        Some(Open::Object(first, offset)) => {
                            match Object::from_entries(take_from(entries, first)) {
                                Some(object) => Value::Object(object),
                                None => return Err(self.duplicate_key(offset)),
                            }
                        }
                        None => return Err(self.wrong_type("a value")),
                    }
                }
            };
            match open.last() {
                None => return Ok(value),
                Some(Open::Array(_)) => elements.push(value),
                Some(Open::Object(..)) => {
                    if let Some((_, waiting)) = entries.last_mut() {
                        *waiting = value;
                    }
                }
            }
        }
    }

    fn check_depth(&mut self, depth: usize) -> Result<(), ParseError> {
        if depth < MAX_VALUE_DEPTH {
            return Ok(());
        }
        Err(self.fail(ParseErrorKind::TooDeep { limit: MAX_VALUE_DEPTH }, self.start))
    }

    /// Returns the error for the first repeated key of the object that opens at `offset`. Reads the
    /// object again to find it, so that the success path need not record key positions.
    #[cold]
    fn duplicate_key(&mut self, offset: usize) -> ParseError {
        let text = self.text.get(offset..).unwrap_or_default();
        let mut again = Reader::with_limits(text.as_bytes(), &self.limits);
        let mut keys = BTreeSet::new();
        loop {
            match again.next() {
                Ok(Event::Key(key)) if again.depth() == 1 => {
                    if let Some(key) = keys.replace(key) {
                        let kind = ParseErrorKind::DuplicateKey(key.into());
                        return self.fail(kind, offset + again.offset());
                    }
                }
                Ok(Event::End) | Err(_) => break,
                Ok(_) => {}
            }
        }
        // Unreachable: the first reading found a repeated key.
        self.fail(ParseErrorKind::DuplicateKey("".into()), offset)
    }
}
