//! Strings: borrowed from the text if they contain no escape, otherwise decoded into a buffer.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;

use super::scan::plain_len;
use super::{ParseError, ParseErrorKind, Reader};

/// The content of the string that was just read.
pub(super) enum Text<'a> {
    /// A part of the text.
    Borrowed(&'a str),
    /// The reader's buffer, until the next string is read.
    Buffered,
}

impl<'a> Reader<'a> {
    /// Reads the string whose opening quote is at the current position.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'a>, ParseError> {
        let begin = self.position + 1;
        let end = self.plain_end(begin);
        if self.byte(end) == Some(b'"') {
            self.position = end + 1;
            return Ok(Text::Borrowed(self.slice(begin, end)));
        }
        self.escaped_string(begin, end)
    }

    /// Returns the content of the string that was just read, valid until the next one is read.
    pub(super) fn borrowed<'b>(&'b self, text: &Text<'b>) -> &'b str {
        match text {
            Text::Borrowed(text) => text,
            Text::Buffered => &self.buffer,
        }
    }

    /// Returns the content of the string that was just read, borrowed from the text if possible.
    pub(super) fn cow(&self, text: &Text<'a>) -> Cow<'a, str> {
        match text {
            Text::Borrowed(text) => Cow::Borrowed(text),
            Text::Buffered => Cow::Owned(self.buffer.clone()),
        }
    }

    /// Continues reading a string that is plain from `begin` to `end`.
    fn escaped_string(&mut self, begin: usize, end: usize) -> Result<Text<'a>, ParseError> {
        self.buffer.clear();
        let (mut begin, mut end) = (begin, end);
        loop {
            self.buffer.push_str(self.slice(begin, end));
            match self.byte(end) {
                Some(b'"') => {
                    self.position = end + 1;
                    return Ok(Text::Buffered);
                }
                Some(b'\\') => begin = self.escape(end)?,
                Some(_) => return Err(self.fail(ParseErrorKind::ControlCharacter, end)),
                None => return Err(self.fail_at_end("`\"`")),
            }
            end = self.plain_end(begin);
        }
    }

    /// Decodes the escape whose backslash is at `place` and returns the position after it.
    fn escape(&mut self, place: usize) -> Result<usize, ParseError> {
        let character = match self.byte(place + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(place),
            Some(_) => return Err(self.fail(ParseErrorKind::InvalidEscape, place)),
            None => return Err(self.fail_at_end("an escape")),
        };
        self.buffer.push(character);
        Ok(place + 2)
    }

    /// Decodes `\uXXXX`, or a surrogate pair of two of them.
    fn unicode_escape(&mut self, place: usize) -> Result<usize, ParseError> {
        let first = self.code_unit(place)?;
        if let Some(character) = char::from_u32(first) {
            self.buffer.push(character);
            return Ok(place + 6);
        }
        // A pair must begin with a high surrogate, and a low surrogate must follow.
        if first < 0xdc00 {
            for (distance, expected) in [(6, b'\\'), (7, b'u')] {
                match self.byte(place + distance) {
                    Some(byte) if byte == expected => {}
                    Some(_) => return Err(self.fail(ParseErrorKind::LoneSurrogate, place)),
                    None => return Err(self.fail_at_end("the second half of a surrogate pair")),
                }
            }
            let second = self.code_unit(place + 6)?;
            if (0xdc00..0xe000).contains(&second) {
                let code_point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                self.buffer.extend(char::from_u32(code_point));
                return Ok(place + 12);
            }
        }
        Err(self.fail(ParseErrorKind::LoneSurrogate, place))
    }

    /// Returns the value of `\uXXXX` with the backslash at `place`.
    fn code_unit(&mut self, place: usize) -> Result<u32, ParseError> {
        let mut unit = 0;
        for distance in 2..6 {
            let Some(byte) = self.byte(place + distance) else {
                return Err(self.fail_at_end("a hexadecimal digit"));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.fail(ParseErrorKind::InvalidEscape, place));
            };
            unit = unit << 4 | digit;
        }
        Ok(unit)
    }

    #[inline]
    fn plain_end(&self, begin: usize) -> usize {
        begin + plain_len(self.text.as_bytes().get(begin..).unwrap_or_default())
    }

    /// Returns a slice of the text. Both ends are next to an ASCII byte, so no character is split.
    #[inline]
    fn slice(&self, begin: usize, end: usize) -> &'a str {
        self.text.get(begin..end).unwrap_or_default()
    }
}
