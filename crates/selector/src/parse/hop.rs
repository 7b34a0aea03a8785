//! Parses hops: `d1`, `seg`, `cont[offset=0]`, `*:block.summary`, `? { … }`.

use super::report::quote;
use super::{Failed, Parsed, Parser};
use crate::ast::{AttrName, Class, ClassWord, Filter, Hop, HopKind, Op, Test, Value};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{is_identifier, is_word};
use crate::{Edition, Span};

impl Parser<'_> {
    /// Parses one hop with its filters.
    pub(super) fn hop(&mut self) -> Parsed<Hop> {
        self.count();
        let start = self.scan.position();
        let kind = self.hop_kind()?;
        let mut filters = Vec::new();
        let is_block = matches!(kind, HopKind::Child { class: Some(word), .. } if word.class() == Class::Block);
        if is_block && self.scan.peek() == Some(b'.') {
            filters.push(self.dot_kind()?);
        }
        let mut end = self.scan.position();
        loop {
            self.scan.skip_blanks();
            match self.scan.peek() {
                Some(b'[') => filters.push(self.bracket_filter()?),
                Some(b'{') => self.property_block(|filter| filters.push(filter))?,
                _ => break,
            }
            end = self.scan.position();
        }
        if kind == HopKind::Step && filters.is_empty() {
            return Err(match self.scan.peek() {
                Some(b'?') => {
                    self.chained_step();
                    Failed
                }
                _ => self.unexpected("a property block `{…}` after `?`"),
            });
        }
        Ok(Hop { kind, filters, span: Span::new(start, end) })
    }

    fn hop_kind(&mut self) -> Parsed<HopKind> {
        let start = self.scan.position();
        match self.scan.peek() {
            Some(b'?') => {
                self.scan.advance(1);
                self.needs(Edition::V0_3, self.scan.span_since(start), "the hop `?`");
                Ok(HopKind::Step)
            }
            Some(b'*') => {
                self.scan.advance(1);
                if !self.scan.eat(b':') {
                    let error = self.unexpected_error("`:block` after `*`");
                    return Err(
                        self.report(error.help("`*:block` is every block among the children"))
                    );
                }
                Ok(HopKind::Child { class: Some(self.child_class()?), offset: None })
            }
            Some(b'-' | b'+' | b'0'..=b'9') => {
                let offset = self.signed(true, "an offset, a whole number")?;
                self.needs(Edition::V0_3, self.scan.span_since(start), "a hop to an offset");
                let class = if self.scan.eat(b':') { Some(self.child_class()?) } else { None };
                Ok(HopKind::Child { class, offset: Some(offset) })
            }
            Some(b'd') if self.starts_depth_hop() => {
                self.scan.advance(1);
                self.signed(true, "a depth, a whole number").map(HopKind::Depth)
            }
            Some(b'd') if self.starts_depth() => self.depth_hop().map(HopKind::Depth),
            Some(byte) if byte.is_ascii_alphabetic() => self.class_hop(start),
            _ => Err(self.no_hop()),
        }
    }

    /// Parses `depth(1)`.
    fn depth_hop(&mut self) -> Parsed<i64> {
        self.scan.advance("depth".len());
        let start = self.scan.position();
        self.scan.advance(1);
        self.scan.skip_blanks();
        let depth = self.signed(true, "a depth, a whole number")?;
        self.scan.skip_blanks();
        if self.scan.eat(b')') {
            return Ok(depth);
        }
        if self.scan.peek().is_none() {
            return Err(self.not_closed(start, ')', "`)`"));
        }
        let error = self.unexpected_error("`)`");
        let failed = self.report(error.help("a hop has one depth; a chain can have several"));
        self.scan.skip_past(b')');
        Err(failed)
    }

    fn class_hop(&mut self, start: usize) -> Parsed<HopKind> {
        let name = self.scan.take_while(is_word);
        let Some(word) = ClassWord::from_text(name) else {
            let span = self.scan.span_since(start);
            let expected = "`dN`, `depth(N)`, `seg`, `cont`, `*:block`, an offset or `?`";
            let error = SelectorError::new(ErrorKind::UnknownHop, span, quote(name), expected);
            let error = error.help(format!("a hop is {expected}"));
            let error = error.suggest("", name, &["seg", "cont", "block", "mt", "mc", "cb", "end"]);
            return Err(self.report(error));
        };
        Ok(match word.class() {
            Class::Turn => HopKind::Segment(word),
            Class::Container | Class::Block => HopKind::Child { class: Some(word), offset: None },
        })
    }

    /// Parses the class after `*:` or `1:`, which is that of blocks.
    fn child_class(&mut self) -> Parsed<ClassWord> {
        let start = self.scan.position();
        let name = self.scan.take_while(is_word);
        match ClassWord::from_text(name) {
            Some(word) if word.class() == Class::Block => Ok(word),
            _ if name.is_empty() => Err(self.unexpected("`block`")),
            _ => {
                let span = self.scan.span_since(start);
                let error = SelectorError::new(ErrorKind::UnknownHop, span, quote(name), "`block`");
                let error = match ClassWord::from_text(name).map(ClassWord::class) {
                    Some(Class::Container) => error
                        .help(format!("a hop to containers is `{name}`, or `{name}[offset=1]`")),
                    _ => error.help("only blocks follow a colon: `*:block`, `1:block`"),
                };
                Err(self.report(error.suggest("*:", name, &["block", "cb"])))
            }
        }
    }

    /// Parses the kind in `*:block.summary`, which is short for `*:block[kind='summary']`.
    fn dot_kind(&mut self) -> Parsed<Filter> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.needs(Edition::V0_3, Span::new(start, start + 1), "a kind after `*:block.`");
        if !self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Err(self.unexpected("a kind, as in `*:block.summary`"));
        }
        self.count();
        let kind = self.scan.take_while(is_identifier);
        let span = self.scan.span_since(start);
        let test = Test::Compare(Op::Eq, Value::Text(kind.into()));
        Ok(Filter { name: AttrName::Kind, test, name_span: span, span })
    }

    #[cold]
    fn no_hop(&mut self) -> Failed {
        let error =
            self.unexpected_error("a hop such as `d1`, `seg`, `cont[offset=0]` or `*:block`");
        let error = match self.scan.peek() {
            Some(b'^') => error.help("the roots as hops: `d0` is `^ah`, `d-1` is `^sys`"),
            Some(b'.') => error.help("hops have no dot: `cont`, `*:block`"),
            Some(b'(') => error.help("parentheses cannot be nested"),
            _ => error,
        };
        self.report(error)
    }
}
