//! Parses filters in all their brackets: `[…]`, `(…)` after a type, `{…}`, and the behavior
//! bracket.

use super::{Failed, Parsed, Parser};
use crate::ast::{AttrName, Behavior, BehaviorKind, Filter, Flag, Op, Tag, Test, Value};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::is_identifier;
use crate::{Edition, Span};

impl Parser<'_> {
    /// Parses `[name op value]`. On failure everything up to the bracket has been skipped.
    pub(super) fn bracket_filter(&mut self) -> Parsed<Filter> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b']') {
            return Err(self.empty_block(start, "`[]`", "an attribute"));
        }
        let filter = self.filter().and_then(|filter| {
            self.scan.skip_blanks();
            if self.scan.eat(b']') {
                return Ok(filter);
            }
            if self.scan.peek() == Some(b',') {
                let error = self.unexpected_error("`]`");
                return Err(self.report(error.help("use one bracket for each: `[a=1][b=2]`")));
            }
            Err(self.not_closed(start, ']', "an operator or `]`"))
        });
        if filter.is_err() {
            self.scan.skip_past(b']');
        }
        filter
    }

    /// Parses a group `(a=1 b=2, c)` into `push`. On failure everything up to the parenthesis has
    /// been skipped.
    pub(super) fn group_filters(&mut self, mut push: impl FnMut(Filter)) -> Parsed<()> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b')') {
            return Err(self.empty_block(start, "`()`", "an attribute"));
        }
        let read = loop {
            match self.filter() {
                Ok(filter) => push(filter),
                Err(failed) => break Err(failed),
            }
            let blank = self.scan.skip_blanks();
            if self.scan.eat(b')') {
                return Ok(());
            }
            // A comma is a separator, and so is whitespace.
            if self.scan.eat(b',') {
                self.scan.skip_blanks();
            } else if !blank || self.scan.peek().is_none() {
                break Err(self.not_closed(start, ')', "`,`, a space or `)`"));
            }
        };
        self.scan.skip_past(b')');
        read
    }

    /// Parses a property block `{ a=1, b=2 }` into `push`. On failure everything up to the brace
    /// has been skipped.
    pub(super) fn property_block(&mut self, mut push: impl FnMut(Filter)) -> Parsed<()> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.needs(Edition::V0_3, self.scan.span_since(start), "a property block `{…}`");
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b'}') {
            return Err(self.empty_block(start, "`{}`", "a property"));
        }
        let read = loop {
            match self.filter() {
                Ok(filter) => push(filter),
                Err(failed) => break Err(failed),
            }
            self.scan.skip_blanks();
            if self.scan.eat(b'}') {
                return Ok(());
            }
            if !self.scan.eat(b',') {
                break Err(self.not_closed(start, '}', "`,` or `}`"));
            }
            self.scan.skip_blanks();
        };
        self.scan.skip_past(b'}');
        read
    }

    /// Parses `[ ttl>0, ephemeral ]` after a body. On failure everything up to the bracket has been
    /// skipped.
    pub(super) fn behavior_block(&mut self, behavior: &mut Vec<Behavior>) -> Parsed<()> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b']') {
            return Err(self.empty_block(start, "`[]`", "a condition"));
        }
        let read = loop {
            match self.filter() {
                Ok(filter) => behavior.push(self.as_behavior(filter)),
                Err(failed) => break Err(failed),
            }
            self.scan.skip_blanks();
            if self.scan.eat(b']') {
                return Ok(());
            }
            let comma = self.scan.position();
            if !self.scan.eat(b',') {
                break Err(self.not_closed(start, ']', "`,` or `]`"));
            }
            self.needs(Edition::V0_3, self.scan.span_since(comma), "a list of conditions");
            self.scan.skip_blanks();
        };
        self.scan.skip_past(b']');
        read
    }

    fn as_behavior(&self, filter: Filter) -> Behavior {
        let flag = match (&filter.test, filter.name.as_str()) {
            (Test::Present, "ephemeral") => Some(Flag::Ephemeral),
            (Test::Present, "sticky") => Some(Flag::Sticky),
            _ => None,
        };
        let span = filter.span;
        match flag {
            Some(flag) if self.edition >= Edition::V0_3 => {
                Behavior { kind: BehaviorKind::Flag(flag), span }
            }
            _ => Behavior { kind: BehaviorKind::Filter(filter), span },
        }
    }

    /// Parses `name`, `name op value` or `name=[value, …]`.
    fn filter(&mut self) -> Parsed<Filter> {
        self.count();
        let start = self.scan.position();
        if !self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Err(self.no_attribute());
        }
        let name = AttrName::new(self.scan.take_while(is_identifier), self.edition);
        let name_span = self.scan.span_since(start);
        // Whitespace around an operator belongs to it; without an operator it ends the filter.
        let mut ahead = self.scan.clone();
        ahead.skip_blanks();
        if !matches!(ahead.peek(), Some(b'=' | b'!' | b'<' | b'>' | b'~')) {
            return Ok(Filter { name, test: Test::Present, name_span, span: name_span });
        }
        self.scan = ahead;
        let operator = self.operator()?;
        self.scan.skip_blanks();
        let test = match self.scan.peek() {
            Some(b'[') => Test::OneOf(self.list(operator)?),
            _ => Test::Compare(operator, self.value()?),
        };
        Ok(Filter { name, test, name_span, span: self.scan.span_since(start) })
    }

    fn operator(&mut self) -> Parsed<Op> {
        let start = self.scan.position();
        let (operator, length) = match (self.scan.peek(), self.scan.peek_at(1)) {
            (Some(b'='), _) => (Op::Eq, 1),
            (Some(b'!'), Some(b'=')) => (Op::Ne, 2),
            (Some(b'<'), Some(b'=')) => (Op::Le, 2),
            (Some(b'<'), _) => (Op::Lt, 1),
            (Some(b'>'), Some(b'=')) => (Op::Ge, 2),
            (Some(b'>'), _) => (Op::Gt, 1),
            (Some(b'~'), _) => (Op::Contains, 1),
            _ => return Err(self.unexpected("`=`, `!=`, `<`, `<=`, `>`, `>=` or `~`")),
        };
        self.scan.advance(length);
        if operator == Op::Contains {
            self.needs(Edition::V0_3, self.scan.span_since(start), "the operator `~`");
        }
        Ok(operator)
    }

    /// Parses `[a, b]`, the values of which one must match.
    fn list(&mut self, operator: Op) -> Parsed<Vec<Value>> {
        let start = self.scan.position();
        if operator != Op::Eq {
            let found = format!("a list after `{}`", operator.as_str());
            let span = Span::new(start, start + 1);
            self.report(SelectorError::new(ErrorKind::Misplaced, span, found, "`=`"));
        }
        let list = self.value_list();
        if list.is_err() {
            self.scan.skip_past(b']');
        }
        list
    }

    /// Parses `[a, b]`. On failure the scanner is at the error.
    pub(super) fn value_list(&mut self) -> Parsed<Vec<Value>> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.needs(Edition::V0_3, self.scan.span_since(start), "a list of values");
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b']') {
            let span = Span::new(start, self.scan.position() + 1);
            let error = SelectorError::new(ErrorKind::Empty, span, "`[]`", "a value");
            return Err(self.report(error));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            self.scan.skip_blanks();
            if self.scan.eat(b']') {
                return Ok(values);
            }
            if !self.scan.eat(b',') {
                return Err(self.not_closed(start, ']', "`,` or `]`"));
            }
            self.scan.skip_blanks();
        }
    }

    /// Parses `+tag`.
    pub(super) fn tag(&mut self) -> Parsed<Tag> {
        self.count();
        let start = self.scan.position();
        self.scan.advance(1);
        self.needs(Edition::V0_3, Span::new(start, start + 1), "a tag `+…`");
        if !self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            let error = self.unexpected_error("the name of a tag");
            let failed = self.report(error.help("other names can be written `{ tag='…' }`"));
            self.skip_garbage();
            return Err(failed);
        }
        let name = self.scan.take_while(is_identifier).into();
        Ok(Tag { name, span: self.scan.span_since(start) })
    }

    #[cold]
    fn no_attribute(&mut self) -> Failed {
        let error = self.unexpected_error("an attribute's name");
        let found = error.span.of(self.scan.text());
        let error = if found.starts_with(['\'', '"']) {
            error.help("names of attributes are not quoted, values are: `[role='user']`")
        } else {
            error
        };
        self.report(error)
    }

    /// Reports an empty bracket opened at `start` and skips its end, which is next.
    #[cold]
    pub(super) fn empty_block(
        &mut self,
        start: usize,
        found: &'static str,
        expected: &'static str,
    ) -> Failed {
        self.scan.advance(1);
        let span = self.scan.span_since(start);
        self.report(SelectorError::new(ErrorKind::Empty, span, found, expected))
    }
}
