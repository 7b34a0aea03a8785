//! Parses the argument of `:depth(…)` and `depth(…)`.

use super::report::quote;
use super::{Parsed, Parser};
use crate::ast::{DepthItem, DepthKind, DepthSet, OneOrMore};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::is_digit;
use crate::{Edition, Span};

/// The name of a depth in messages.
const DEPTH: &str = "a whole number";

impl Parser<'_> {
    /// Parses `(1-3)`, `(0, 2..4)`, `(<0)`, `({1,2})`. On failure everything up to the parenthesis
    /// has been skipped.
    pub(super) fn depth_set(&mut self) -> Parsed<DepthSet> {
        let start = self.scan.position();
        if !self.scan.eat(b'(') {
            let error = self.unexpected_error("`(` and a depth");
            return Err(self.report(error.help("for example `:depth(1)`, the newest turn")));
        }
        let set = self.depth_items(start);
        if set.is_err() {
            self.scan.skip_past(b')');
        }
        set
    }

    fn depth_items(&mut self, start: usize) -> Parsed<DepthSet> {
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b')') {
            let span = Span::new(start, self.scan.position() + 1);
            let error = SelectorError::new(ErrorKind::Empty, span, "`depth()`", "a depth");
            return Err(self.report(error.help("for example `depth(1)`, the newest turn")));
        }
        let brace = self.scan.position();
        let in_braces = self.scan.eat(b'{');
        if in_braces {
            self.needs(Edition::V0_2, self.scan.span_since(brace), "a set of depths");
        }
        let mut items = OneOrMore::new(self.depth_item()?);
        while self.scan.eat(b',') {
            items.push(self.depth_item()?);
        }
        if in_braces && !self.scan.eat(b'}') {
            return Err(self.not_closed(brace, '}', "`,` or `}`"));
        }
        self.scan.skip_blanks();
        if !self.scan.eat(b')') {
            return Err(self.not_closed(start, ')', "`,` or `)`"));
        }
        Ok(DepthSet { items })
    }

    /// Parses a member and the whitespace around it.
    fn depth_item(&mut self) -> Parsed<DepthItem> {
        self.count();
        self.scan.skip_blanks();
        let start = self.scan.position();
        let kind = match self.scan.peek() {
            Some(b'<' | b'>') => self.depth_comparison()?,
            _ => {
                let first = self.signed(false, DEPTH)?;
                self.depth_range(start, first)?
            }
        };
        let span = self.scan.span_since(start);
        self.scan.skip_blanks();
        Ok(DepthItem { kind, span })
    }

    fn depth_comparison(&mut self) -> Parsed<DepthKind> {
        let start = self.scan.position();
        let below = self.scan.eat(b'<');
        if !below {
            self.scan.advance(1);
        }
        let inclusive = self.scan.eat(b'=');
        self.needs(Edition::V0_2, self.scan.span_since(start), "a comparison of depths");
        self.scan.skip_blanks();
        let number = self.signed(false, DEPTH)?;
        Ok(match (below, inclusive) {
            (true, false) => DepthKind::Below(number),
            (true, true) => DepthKind::AtMost(number),
            (false, false) => DepthKind::Above(number),
            (false, true) => DepthKind::AtLeast(number),
        })
    }

    /// Parses the rest of a range whose first end has been parsed. A `-` directly after it is the
    /// range operator, not a sign (ER-051).
    fn depth_range(&mut self, start: usize, first: i64) -> Parsed<DepthKind> {
        if self.scan.eat(b'-') {
            self.scan.skip_blanks();
        } else {
            let mut ahead = self.scan.clone();
            ahead.skip_blanks();
            let operator = ahead.position();
            if !(ahead.eat(b'.') && ahead.eat(b'.')) {
                return Ok(DepthKind::One(first));
            }
            self.needs(Edition::V0_2, ahead.span_since(operator), "`..` between depths");
            ahead.skip_blanks();
            self.scan = ahead;
        }
        // `1..<3` and `1-x` are rejected by the number; only a digit or a sign may follow.
        if !self.scan.peek().is_some_and(|byte| byte == b'-' || is_digit(byte)) {
            return Err(self.unexpected("the end of the range, a whole number"));
        }
        let last = self.signed(false, DEPTH)?;
        if first > last {
            let span = self.scan.span_since(start);
            let found = quote(span.of(self.scan.text()));
            let expected = format!("`{last}-{first}`");
            let error = SelectorError::new(ErrorKind::Descending, span, found, expected);
            self.report(error.help("the smaller depth must be first; depth 1 is the newest turn"));
            return Ok(DepthKind::Range(last, first));
        }
        Ok(if first == last { DepthKind::One(first) } else { DepthKind::Range(first, last) })
    }
}
