//! Parses values and whole numbers.

use super::report::{excerpt, quote};
use super::{Failed, Parsed, Parser};
use crate::ast::Value;
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{Digits, Quoted, is_digit, is_identifier, is_word};
use crate::{Edition, MAX_NUMBER_DIGITS};

impl Parser<'_> {
    /// Parses a single value: `null`, a number, a word or a quoted text.
    pub(super) fn value(&mut self) -> Parsed<Value> {
        self.count();
        let start = self.scan.position();
        match self.scan.peek() {
            Some(b'\'' | b'"') => self.quoted().map(Value::Text),
            Some(byte) if byte.is_ascii_alphabetic() => {
                Ok(match self.scan.take_while(is_identifier) {
                    "null" | "None" => Value::Null,
                    word => Value::Text(word.into()),
                })
            }
            Some(b'0'..=b'9') => self.number(start),
            Some(b'-' | b'+') if self.scan.peek_at(1).is_some_and(is_digit) => self.number(start),
            _ => Err(self.no_value()),
        }
    }

    fn number(&mut self, start: usize) -> Parsed<Value> {
        let plus = self.scan.peek() == Some(b'+');
        let number = self.scan.take_number();
        if plus {
            self.needs(Edition::V0_3, self.scan.span_since(start), "a number with `+`");
        }
        if self.scan.peek().is_some_and(|byte| is_identifier(byte) || byte == b'.') {
            return Err(self.not_a_number(start));
        }
        number.map(Value::Number).ok_or_else(|| {
            let span = self.scan.span_since(start);
            let found = quote(span.of(self.scan.text()));
            let expected = format!("{MAX_NUMBER_DIGITS} digits");
            self.report(SelectorError::new(ErrorKind::TooLarge, span, found, expected))
        })
    }

    #[cold]
    fn not_a_number(&mut self, start: usize) -> Failed {
        self.scan.take_while(|byte| is_identifier(byte) || byte == b'.');
        let span = self.scan.span_since(start);
        let text = span.of(self.scan.text());
        let error =
            SelectorError::new(ErrorKind::InvalidNumber, span, quote(text), "a number or a name");
        let quoted = quote(&format!("'{}'", excerpt(text)));
        self.report(error.help(format!("quote it if it is text: {quoted}")))
    }

    #[cold]
    fn no_value(&mut self) -> Failed {
        let expected = "a value (a number, a word or a quoted text)";
        let error = self.unexpected_error(expected);
        let found = error.span.of(self.scan.text());
        let error = match found {
            "=" => error.help("equality is a single `=`"),
            "[" => error.help("lists cannot be nested"),
            _ => error,
        };
        self.report(error)
    }

    /// Parses a quoted text. The caller has seen its quote.
    pub(super) fn quoted(&mut self) -> Parsed<Box<str>> {
        let start = self.scan.position();
        // Edition 0.3 has one escape, of the quote; any other backslash is part of the text. `\\`
        // stays an escape, because a text that ends with a backslash could not be written otherwise.
        match self.scan.take_quoted(self.edition >= Edition::V0_3) {
            Quoted::Text(text) => Ok(text),
            Quoted::Unclosed => {
                let span = self.scan.span_since(start);
                let text = span.of(self.scan.text());
                let mark = if text.starts_with('"') { '"' } else { '\'' };
                let error = SelectorError::new(
                    ErrorKind::Unclosed,
                    span,
                    format!("the text {}", quote(text)),
                    format!("`{mark}`"),
                );
                let help = if text.contains(&format!("\\{mark}")) {
                    format!("`\\{mark}` does not end the text; write `\\\\` for a backslash")
                } else {
                    format!("add a closing `{mark}`")
                };
                Err(self.report(error.help(help)))
            }
            Quoted::BadEscape(span) => {
                let found = quote(span.of(self.scan.text()));
                let expected = "`\\\\`, `\\'` or `\\\"`";
                let error = SelectorError::new(ErrorKind::UnknownEscape, span, found, expected);
                Err(self.report(error.help("use `\\\\` for a backslash")))
            }
        }
    }

    /// Parses a whole number without sign; `what` describes it in the message.
    pub(super) fn unsigned(&mut self, what: &'static str) -> Parsed<u64> {
        let start = self.scan.position();
        match self.scan.take_digits() {
            Digits::Number(number) if !self.in_fraction_or_word() => Ok(number),
            Digits::TooLarge if !self.in_fraction_or_word() => {
                let span = self.scan.span_since(start);
                let found = quote(span.of(self.scan.text()));
                let error =
                    SelectorError::new(ErrorKind::TooLarge, span, found, i64::MAX.to_string());
                Err(self.report(error))
            }
            Digits::None => Err(self.no_number(start, what)),
            _ => Err(self.no_whole_number(start, what)),
        }
    }

    /// Parses a whole number with an optional `-`, and `+` if `plus` is set.
    pub(super) fn signed(&mut self, plus: bool, what: &'static str) -> Parsed<i64> {
        let start = self.scan.position();
        let negative = self.scan.eat(b'-');
        if !negative && plus && self.scan.eat(b'+') {
            self.needs(Edition::V0_3, self.scan.span_since(start), "a number with `+`");
        }
        let digits = self.unsigned(what)?;
        // The digits never exceed `i64::MAX`, so neither the conversion nor the negation can fail.
        let number = i64::try_from(digits).unwrap_or(i64::MAX);
        Ok(if negative { -number } else { number })
    }

    /// Returns whether the digits just parsed continue as a fraction or as a word: `1.5`, `1a`.
    fn in_fraction_or_word(&self) -> bool {
        match self.scan.peek() {
            Some(b'.') => self.scan.peek_at(1).is_some_and(is_digit),
            Some(b'-') => false,
            Some(byte) => is_word(byte),
            None => false,
        }
    }

    #[cold]
    fn no_number(&mut self, start: usize, what: &'static str) -> Failed {
        if self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return self.no_whole_number(start, what);
        }
        self.unexpected(what)
    }

    #[cold]
    fn no_whole_number(&mut self, start: usize, what: &'static str) -> Failed {
        self.scan.take_while(|byte| byte == b'.' || is_word(byte));
        let span = self.scan.span_since(start);
        let found = quote(span.of(self.scan.text()));
        self.report(SelectorError::new(ErrorKind::InvalidNumber, span, found, what))
    }
}
