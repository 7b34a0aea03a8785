//! Parses the complete selector: time, body, tail.

use super::Parser;
use crate::ast::{AttrName, Body, Controls, Filter, Op, Position, Selector, Tag, Test, Value};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{is_blank, is_digit};
use crate::{Edition, Span};

impl Parser<'_> {
    pub(super) fn selector(&mut self) -> Selector {
        self.scan.skip_blanks();
        let start = self.scan.position();
        let time = self.time();
        self.scan.skip_blanks();
        let mut selector = Selector {
            edition: self.edition,
            time,
            body: self.body(),
            filters: Vec::new(),
            tags: Vec::new(),
            behavior: Vec::new(),
            controls: Controls::default(),
            span: Span::NONE,
        };
        self.tail(&mut selector);
        let text = self.scan.text().as_bytes();
        let end = text.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last + 1);
        selector.span = Span::new(start, end);
        selector
    }

    fn body(&mut self) -> Body {
        let start = self.scan.position();
        match self.scan.peek() {
            None => {
                self.nothing();
                Body::Tree
            }
            Some(b'(') => Body::Position(self.position()),
            Some(b'?') => self.search(None),
            Some(b'w') if self.scan.peek_word() == "within" => {
                let scope = self.within();
                self.search(Some(scope))
            }
            Some(b'd') if self.starts_depth_hop() => {
                let word = self.scan.peek_word();
                let span = Span::new(start, start + word.len());
                self.needs(Edition::V0_3, span, "a hop without parentheses");
                let hops = self.hop().into_iter().collect();
                Body::Position(Position { hops, span: self.scan.span_since(start) })
            }
            // The block or the tags are parsed as the first part of the tail.
            Some(b'{') => Body::Tree,
            Some(b'+') => Body::Deep(None),
            Some(b'@') => {
                self.nothing();
                Body::Tree
            }
            _ => Body::Chains(self.chains()),
        }
    }

    /// Parses `? {` or `?? {`, up to the brace.
    fn search(&mut self, scope: Option<crate::ast::Within>) -> Body {
        let start = self.scan.position();
        let mut deep = false;
        if scope.is_some() && self.scan.peek() != Some(b'?') {
            self.unexpected("`??` after the scope");
            return Body::Deep(scope);
        }
        self.scan.advance(1);
        if self.scan.eat(b'?') {
            deep = true;
        } else if scope.is_some() {
            let error = SelectorError::new(
                ErrorKind::Unexpected,
                self.scan.span_since(start),
                "`?`",
                "`??` after the scope",
            );
            self.report(error);
        }
        let what = if deep { "the search `??`" } else { "the step `?`" };
        self.needs(Edition::V0_3, self.scan.span_since(start), what);
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b'?') {
            self.chained_step();
            self.scan.take_while(|byte| byte == b'?' || is_blank(byte));
        }
        if self.scan.peek() != Some(b'{') {
            let error = self.unexpected_error("a property block `{…}`");
            self.report(error.help("for example `?? { role='user' }`"));
        }
        if deep { Body::Deep(scope) } else { Body::Step }
    }

    #[cold]
    pub(super) fn chained_step(&mut self) {
        let (span, found) = self.here();
        let error =
            SelectorError::new(ErrorKind::ChainedStep, span, found, "a property block `{…}`");
        self.report(error.help("use `??` to search at every depth"));
    }

    /// Returns whether a hop `d1`, `d-1` begins here.
    pub(super) fn starts_depth_hop(&self) -> bool {
        self.scan.peek() == Some(b'd')
            && match self.scan.peek_at(1) {
                Some(b'-' | b'+') => self.scan.peek_at(2).is_some_and(is_digit),
                next => next.is_some_and(is_digit),
            }
    }

    /// Parses property blocks, behavior, tags and controls in any order, up to the end.
    fn tail(&mut self, selector: &mut Selector) {
        loop {
            self.scan.skip_blanks();
            // Failures have been reported and skipped; continue with the next part.
            let _ = match self.scan.peek() {
                None => break,
                Some(b'{') => self.property_block(|filter| match as_tag(filter) {
                    Ok(tag) => selector.tags.push(tag),
                    Err(filter) => selector.filters.push(filter),
                }),
                Some(b'[') => self.behavior_block(&mut selector.behavior),
                Some(b'+') => self.tag().map(|tag| selector.tags.push(tag)),
                Some(b'@') => self.control(&mut selector.controls),
                Some(_) => {
                    self.stray();
                    Ok(())
                }
            };
        }
        if selector.tags.len() > 1 {
            selector.tags.sort_by(|left, right| left.name.cmp(&right.name));
            selector.tags.dedup_by(|right, left| right.name == left.name);
        }
    }

    #[cold]
    fn nothing(&mut self) {
        // A prefix that could not be parsed may have been meant to be the body.
        if !self.errors.is_empty() {
            return;
        }
        let (span, found) = self.here();
        let expected = "a root, a type, a position or a search";
        let error = SelectorError::new(ErrorKind::Nothing, span, found, expected);
        self.report(error.help("`^root` selects the root, `*` every node"));
    }

    /// Reports something that is not allowed in the tail and skips to something that is.
    #[cold]
    fn stray(&mut self) {
        let (span, found) = self.here();
        let expected = "`{…}`, `[…]`, `+tag`, a control or the end";
        let error = SelectorError::new(ErrorKind::Misplaced, span, found, expected);
        let error = match self.scan.peek() {
            Some(b',') => error.help("only chains can be joined by `,`, and filters must be last"),
            Some(b'>' | b'.' | b'#' | b'^' | b'*' | b':') => {
                error.help("a chain cannot continue after a position, a search or `{…}`")
            }
            _ => error,
        };
        self.report(error);
        while let Some(byte) = self.scan.peek() {
            match byte {
                b'@' | b'{' => break,
                b'(' => drop(self.scan.skip_past(b')')),
                b'[' => drop(self.scan.skip_past(b']')),
                _ => self.scan.advance_character(),
            }
        }
    }
}

/// `{ tag='x' }` after a body means the same as `+x`.
fn as_tag(filter: Filter) -> Result<Tag, Filter> {
    match filter {
        Filter {
            name: AttrName::Tag,
            test: Test::Compare(Op::Eq, Value::Text(name)),
            span,
            ..
        } => Ok(Tag { name, span }),
        filter => Err(filter),
    }
}
