//! The cursor over a selector's text: characters, names, strings, numbers. It never fails; the
//! parser reports what it did not find.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic
)]

use crate::{MAX_NUMBER_DIGITS, Number, Span};

/// A position in a text. Offsets between tokens are always character boundaries, because every byte
/// that ends a token is ASCII.
#[derive(Clone)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    position: usize,
}

/// The result of scanning digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// There is no digit here.
    None,
    /// The number.
    Number(u64),
    /// More than an `i64` can hold.
    TooLarge,
}

/// The result of scanning a string literal.
pub(crate) enum Quoted {
    /// The text between the quotes, escapes resolved.
    Text(Box<str>),
    /// The closing quote is missing; the scanner is at the end of the text.
    Unclosed,
    /// A backslash before something other than a quote or backslash, at this span, where it does not
    /// stand for itself. The scanner is after the closing quote, if there is one.
    BadEscape(Span),
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    #[inline]
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + ahead).copied()
    }

    /// Skips ASCII bytes that were just peeked at.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.position = (self.position + bytes).min(self.text.len());
    }

    /// Skips `byte` if it is next, and returns whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    pub(crate) fn go_to_end(&mut self) {
        self.position = self.text.len();
    }

    /// Skips one character of any width.
    pub(crate) fn advance_character(&mut self) {
        let rest = self.text.get(self.position..).unwrap_or("");
        self.position += rest.chars().next().map_or(0, char::len_utf8);
    }

    /// Skips whitespace; returns whether there was any.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) -> bool {
        let start = self.position;
        while self.peek().is_some_and(is_blank) {
            self.position += 1;
        }
        self.position > start
    }

    /// Returns the text from `start` to here.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.position).unwrap_or_default()
    }

    /// Returns the span from `start` to here.
    #[inline]
    pub(crate) fn span_since(&self, start: usize) -> Span {
        Span::new(start, self.position)
    }

    /// Skips the bytes that satisfy `keep` and returns them.
    #[inline]
    pub(crate) fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'t str {
        let start = self.position;
        // Runs are short: a plain loop is faster than anything that needs setup.
        while self.peek().is_some_and(&keep) {
            self.position += 1;
        }
        self.since(start)
    }

    /// Returns the name here without skipping it: letters, digits, `_`, `-`.
    pub(crate) fn peek_word(&self) -> &'t str {
        self.clone().take_while(is_word)
    }

    /// Scans a type, id or key: word characters and colons, up to a colon that begins a
    /// pseudo-class.
    pub(crate) fn take_name(&mut self) -> &'t str {
        let start = self.position;
        loop {
            self.take_while(is_word);
            if self.peek() != Some(b':') {
                break;
            }
            let mut ahead = self.clone();
            ahead.advance(1);
            if is_reserved(ahead.take_while(is_word)) {
                break;
            }
            *self = ahead;
        }
        self.since(start)
    }

    /// Scans decimal digits.
    #[inline]
    pub(crate) fn take_digits(&mut self) -> Digits {
        let start = self.position;
        let mut number = 0_u64;
        let mut fits = true;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            let next =
                number.checked_mul(10).and_then(|ten| ten.checked_add(u64::from(byte - b'0')));
            fits &= next.is_some();
            number = next.unwrap_or(number);
            self.position += 1;
        }
        match fits && i64::try_from(number).is_ok() {
            _ if self.position == start => Digits::None,
            true => Digits::Number(number),
            false => Digits::TooLarge,
        }
    }

    /// Scans a decimal number with an optional sign; returns `None` if it has too many digits. The
    /// caller has seen a digit, or a sign and a digit.
    pub(crate) fn take_number(&mut self) -> Option<Number> {
        let start = self.position;
        let negative = self.peek() == Some(b'-');
        if matches!(self.peek(), Some(b'-' | b'+')) {
            self.position += 1;
        }
        let (mut coefficient, mut scale, mut digits) = (0_i128, 0_u32, 0_usize);
        let mut in_fraction = false;
        loop {
            match self.peek() {
                Some(byte @ b'0'..=b'9') => {
                    digits += 1;
                    if digits <= MAX_NUMBER_DIGITS {
                        coefficient = coefficient * 10 + i128::from(byte - b'0');
                        scale += u32::from(in_fraction);
                    }
                }
                Some(b'.') if !in_fraction && self.peek_at(1).is_some_and(is_digit) => {
                    in_fraction = true;
                }
                _ => break,
            }
            self.position += 1;
        }
        if digits > MAX_NUMBER_DIGITS {
            return None;
        }
        let number = Number::new(if negative { -coefficient } else { coefficient }, scale)?;
        let written = self.since(start);
        let is_plain = is_plain_number(written.as_bytes());
        Some(if is_plain { number } else { number.spelled(written) })
    }

    /// Scans a string literal. The caller has seen its opening quote. With `plain_backslash`, a
    /// backslash before anything but a quote or a backslash stands for itself.
    pub(crate) fn take_quoted(&mut self, plain_backslash: bool) -> Quoted {
        let Some(quote) = self.peek() else { return Quoted::Unclosed };
        self.position += 1;
        let start = self.position;
        let plain = self.take_while(|byte| byte != quote && byte != b'\\');
        if self.eat(quote) {
            return Quoted::Text(plain.into());
        }
        let mut bad_escape = None;
        let mut text = String::from(self.since(start));
        while let Some(byte) = self.peek() {
            if byte == quote {
                self.position += 1;
                return bad_escape.map_or(Quoted::Text(text.into()), Quoted::BadEscape);
            }
            if byte == b'\\' {
                let escape = self.position;
                self.position += 1;
                match self.peek() {
                    Some(escaped @ (b'\\' | b'\'' | b'"')) => {
                        text.push(char::from(escaped));
                        self.position += 1;
                    }
                    _ if plain_backslash => text.push('\\'),
                    _ => {
                        self.advance_character();
                        bad_escape.get_or_insert(self.span_since(escape));
                    }
                }
            } else {
                text.push_str(self.take_while(|byte| byte != quote && byte != b'\\'));
            }
        }
        Quoted::Unclosed
    }

    /// Skips to just after the next `close` that is not inside a string, or to the end. Returns
    /// whether it was found.
    pub(crate) fn skip_past(&mut self, close: u8) -> bool {
        // After an unclosed quote, all further quotes are ordinary characters: searching for the
        // end of each would take time quadratic in the text.
        let mut quotes = true;
        while let Some(byte) = self.peek() {
            if quotes && (byte == b'\'' || byte == b'"') {
                let mut ahead = self.clone();
                quotes = !matches!(ahead.take_quoted(true), Quoted::Unclosed);
                if quotes {
                    *self = ahead;
                    continue;
                }
            }
            self.position += 1;
            if byte == close {
                return true;
            }
        }
        false
    }
}

/// Returns whether a number is written as its value is printed: no `+`, no leading zeros, no
/// trailing zeros in a fraction, no `-0`.
fn is_plain_number(written: &[u8]) -> bool {
    let digits = written.strip_prefix(b"-").unwrap_or(written);
    match digits {
        [b'0'] => digits.len() == written.len(),
        [b'0', b'.', .., last] => *last != b'0',
        [b'0' | b'+', ..] => false,
        _ => !(digits.ends_with(b"0") && digits.contains(&b'.')),
    }
}

/// One bit per class of characters; a table lookup is faster than comparing ranges.
const BLANK: u8 = 1;
const DIGIT: u8 = 2;
const WORD: u8 = 4;
const IDENTIFIER: u8 = 8;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let mut class = 0;
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) {
            class |= BLANK;
        }
        if byte.is_ascii_digit() {
            class |= DIGIT;
        }
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            class |= WORD | IDENTIFIER;
        }
        if byte == b':' {
            class |= IDENTIFIER;
        }
        #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
        {
            classes[byte as usize] = class;
        }
        byte += 1;
    }
    classes
};

#[inline]
fn is_in(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}

#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    is_in(byte, BLANK)
}

#[inline]
pub(crate) fn is_digit(byte: u8) -> bool {
    is_in(byte, DIGIT)
}

/// Letters, digits, `_`, `-`.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    is_in(byte, WORD)
}

/// Characters of an identifier after its first letter: word characters and `:`.
#[inline]
pub(crate) fn is_identifier(byte: u8) -> bool {
    is_in(byte, IDENTIFIER)
}

/// Returns whether `text` is an identifier: a letter, then letters, digits, `_`, `-`, `:`.
pub(crate) fn is_identifier_text(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && text.bytes().all(is_identifier)
}

/// The names that end an identifier when they follow a colon (ER-050).
pub(crate) const RESERVED: [&str; 7] = ["pre", "core", "post", "depth", "first", "last", "nth"];

pub(crate) fn is_reserved(segment: &str) -> bool {
    matches!(segment, "pre" | "core" | "post" | "depth" | "first" | "last" | "nth")
}

/// Returns whether no segment after a colon is a reserved name, so that the name can be written
/// without quotes.
pub(crate) fn has_no_reserved_segment(name: &str) -> bool {
    !name.split(':').skip(1).any(is_reserved)
}
