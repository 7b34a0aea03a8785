//! Parses filters in all their brackets: `[…]`, `(…)` after a type, `{…}`, and the behavior
//! bracket.

use super::report::{excerpt, quote};
use super::{Failed, Parsed, Parser};
use crate::ast::{AttrName, Behavior, BehaviorKind, Filter, Flag, Op, Tag, Test, Value};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{is_identifier, is_word};
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
            let end = self.scan.position();
            self.scan.skip_blanks();
            if self.scan.eat(b']') {
                return Ok(filter);
            }
            if self.scan.peek() == Some(b',') {
                let error = self.unexpected_error("`]`");
                return Err(self.report(error.help("use one bracket for each: `[a=1][b=2]`")));
            }
            if filter.test == Test::Present && self.scan.position() == end {
                return Err(self.name_goes_on(start, &filter));
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
                Ok(filter) => {
                    self.needs_operator(&filter);
                    push(filter);
                }
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
                Ok(filter) => {
                    let condition = self.as_behavior(filter);
                    if let BehaviorKind::Filter(filter) = &condition.kind
                        && self.edition >= Edition::V0_3
                    {
                        self.needs_operator(filter);
                    }
                    behavior.push(condition);
                }
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
        let name = self.attribute_name("an attribute's name")?;
        let name = AttrName::new(&name, self.edition);
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

    /// Parses an attribute's name: an identifier, or any text in quotes.
    pub(super) fn attribute_name(&mut self, expected: &'static str) -> Parsed<Box<str>> {
        let start = self.scan.position();
        match self.scan.peek() {
            Some(byte) if byte.is_ascii_alphabetic() => {
                Ok(self.scan.take_while(is_identifier).into())
            }
            Some(b'\'' | b'"') => {
                let name = self.quoted()?;
                if name.is_empty() {
                    let span = self.scan.span_since(start);
                    let found = quote(span.of(self.scan.text()));
                    let error = SelectorError::new(ErrorKind::Empty, span, found, expected);
                    return Err(self.report(error));
                }
                Ok(name)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Reports a mere name where a comparison is needed: `{ role }`, `(d0, *:block) [ role ]`
    /// (ER-177).
    fn needs_operator(&mut self, filter: &Filter) {
        if filter.test == Test::Present {
            let found = quote(filter.name_span.of(self.scan.text()));
            let expected = "an operator and a value";
            let error =
                SelectorError::new(ErrorKind::NoOperator, filter.name_span, found, expected);
            let name = excerpt(filter.name_span.of(self.scan.text()));
            self.report(error.help(format!("`{name}!=null` holds for every value")));
        }
    }

    /// Reports a name with a character that needs quotes: `[data_foo.bar]`.
    #[cold]
    fn name_goes_on(&mut self, open: usize, filter: &Filter) -> Failed {
        let expected = "an operator or `]`";
        let rest = self.scan.text().get(filter.name_span.start as usize..).unwrap_or("");
        let ends = |character: char| character.is_whitespace() || "]=!<>~".contains(character);
        let name = rest.split(ends).next().unwrap_or("");
        if self.scan.peek().is_none() || name.contains(['\'', '"', '\\', '‘', '’', '“', '”'])
        {
            return self.not_closed(open, ']', expected);
        }
        let error = self.unexpected_error(expected);
        self.report(error.help(format!("a name like this is quoted: `['{}']`", excerpt(name))))
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
        let name = self.scan.take_while(is_word);
        if self.scan.peek() == Some(b':') {
            // A colon here is a typing error of a pseudo-class more often than part of a name.
            self.scan.take_while(is_identifier);
            let span = self.scan.span_since(start);
            let written = excerpt(self.scan.since(start + 1));
            let help = format!("a tag with a colon is written `{{ tag='{written}' }}`");
            let found = quote(span.of(self.scan.text()));
            let expected = "a tag without a colon";
            let error = SelectorError::new(ErrorKind::Misplaced, span, found, expected);
            return Err(self.report(error.help(help)));
        }
        Ok(Tag { name: name.into(), span: self.scan.span_since(start) })
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
