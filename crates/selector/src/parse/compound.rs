//! Parses compounds, the parts of one step: `^ah`, `.cb#x[ttl>1]:first`.

use super::Parser;
use super::report::quote;
use crate::ast::{
    ClassWord, Combinator, Compound, OneOrMore, Part, PartKind, Root, Step, TypeTest,
};
use crate::error::{ErrorKind, SelectorError, closest};
use crate::scan::is_word;
use crate::{Edition, Span};

/// The parts of the compound that is being parsed. They are written directly into the last step of
/// their chain, because moving a compound costs more than parsing it.
struct Parts<'s> {
    steps: &'s mut Vec<Step>,
    combinator: Combinator,
    /// Whether the last step belongs to this compound.
    is_open: bool,
}

impl Parts<'_> {
    fn push(&mut self, part: Part) {
        if let Some(step) = self.steps.last_mut().filter(|_| self.is_open) {
            step.compound.parts.push(part);
            return;
        }
        self.is_open = true;
        let compound = Compound { parts: OneOrMore::new(part), span: Span::NONE };
        self.steps.push(Step { combinator: self.combinator, compound });
    }

    fn has(&self, is_it: impl Fn(&PartKind) -> bool) -> bool {
        let open = self.steps.last().filter(|_| self.is_open);
        open.is_some_and(|step| step.compound.parts.iter().any(|part| is_it(&part.kind)))
    }
}

impl Parser<'_> {
    /// Parses the compound that [`starts_compound`](Self::starts_compound) has detected and appends
    /// it to its chain, unless none of its parts is valid.
    pub(super) fn compound(&mut self, steps: &mut Vec<Step>, combinator: Combinator) {
        let start = self.scan.position();
        let mut parts = Parts { steps, combinator, is_open: false };
        loop {
            // A failure has been reported and skipped; the next part may be valid.
            match self.scan.peek() {
                Some(b'.') => self.type_part(&mut parts),
                Some(b'[') => self.attr_part(&mut parts),
                Some(b':') => self.pseudo_part(&mut parts),
                Some(b'#') => self.hash_part(&mut parts),
                Some(b'^' | b'*') => self.root_part(&mut parts),
                Some(b'd') if self.starts_depth() => self.depth_part(&mut parts),
                _ => break,
            }
        }
        let Parts { steps, is_open, .. } = parts;
        if let Some(step) = steps.last_mut().filter(|_| is_open) {
            step.compound.span = self.scan.span_since(start);
        }
    }

    fn root_part(&mut self, parts: &mut Parts<'_>) {
        let start = self.scan.position();
        if self.scan.eat(b'*') {
            return self.push_leading(parts, PartKind::Any, start);
        }
        self.scan.advance(1);
        let root = match self.scan.take_while(is_word) {
            "sys" => Root::Sys,
            "seq" => Root::Seq,
            "ah" => Root::Ah,
            "root" => Root::Root,
            name => return self.unknown_root(start, name),
        };
        self.push_leading(parts, PartKind::Root(root), start);
    }

    fn depth_part(&mut self, parts: &mut Parts<'_>) {
        let start = self.scan.position();
        self.scan.advance("depth".len());
        self.needs(Edition::V0_2, self.scan.span_since(start), "`depth(…)` without a colon");
        if let Ok(depths) = self.depth_set() {
            self.push_leading(parts, PartKind::Depth(depths), start);
        }
    }

    /// Adds a part that can only be the first of its compound.
    fn push_leading(&mut self, parts: &mut Parts<'_>, kind: PartKind, start: usize) {
        let span = self.scan.span_since(start);
        if parts.is_open {
            self.not_first(span);
        }
        self.count();
        parts.push(Part { kind, span });
    }

    fn attr_part(&mut self, parts: &mut Parts<'_>) {
        let start = self.scan.position();
        if let Ok(filter) = self.bracket_filter() {
            parts.push(Part { kind: PartKind::Attr(filter), span: self.scan.span_since(start) });
        }
    }

    fn pseudo_part(&mut self, parts: &mut Parts<'_>) {
        let start = self.scan.position();
        self.count();
        if let Ok(pseudo) = self.pseudo() {
            parts.push(Part { kind: PartKind::Pseudo(pseudo), span: self.scan.span_since(start) });
        }
    }

    /// Parses `.cb`, `.cb:summary` and the group after it.
    fn type_part(&mut self, parts: &mut Parts<'_>) {
        let start = self.scan.position();
        self.scan.advance(1);
        if !self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return self.no_type();
        }
        let name = self.scan.take_name();
        let span = self.scan.span_since(start);
        if name.ends_with(':') {
            self.unexpected("a name after `:`");
            return;
        }
        if parts.has(|kind| matches!(kind, PartKind::Type(_))) {
            let expected = "one type in a step";
            self.report(SelectorError::new(ErrorKind::Duplicate, span, "type", expected));
        }
        self.count();
        parts.push(Part { kind: PartKind::Type(self.type_test(name)), span });
        if self.scan.peek() == Some(b'(') {
            self.group_parts(parts, name, span);
        }
    }

    fn group_parts(&mut self, parts: &mut Parts<'_>, name: &str, span: Span) {
        if let Some(error) = self.mistyped_pseudo(name, span) {
            self.report(error);
            self.scan.skip_past(b')');
            return;
        }
        let open = self.scan.position();
        self.needs(Edition::V0_2, Span::new(open, open + 1), "a group `(…)` after a type");
        // A failure has been reported and skipped.
        let _ = self.group_filters(|filter| {
            let span = filter.span;
            parts.push(Part { kind: PartKind::Attr(filter), span });
        });
    }

    /// Returns the meaning of a type token in this edition (switch S2, ER-080, ER-081).
    fn type_test(&self, name: &str) -> TypeTest {
        if let Some(word) = ClassWord::from_text(name) {
            return TypeTest::Class(word);
        }
        let split = name.split_once(':').filter(|_| self.edition >= Edition::V0_2);
        match split.and_then(|(word, kind)| Some((ClassWord::from_text(word)?, kind))) {
            Some((word, kind)) => TypeTest::ClassKind { word, kind: kind.into() },
            None => TypeTest::NodeType(name.into()),
        }
    }

    /// Detects `.mt:dept(1)`, which would be a type `mt:dept` with a group but is always a typo.
    fn mistyped_pseudo(&self, name: &str, span: Span) -> Option<SelectorError> {
        let (_, segment) = name.rsplit_once(':')?;
        let mut ahead = self.scan.clone();
        ahead.advance(1);
        ahead.skip_blanks();
        if ahead.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let meant = closest(segment, &["depth", "nth"])?;
        let end = span.end as usize;
        let span = Span::new(end.saturating_sub(segment.len() + 1), end);
        let found = format!("`:{segment}`");
        let error = SelectorError::new(ErrorKind::UnknownPseudo, span, found, "`:depth` or `:nth`");
        Some(error.help(format!("did you mean `:{meant}`?")))
    }

    /// Parses `#x` or `#'x y'`: an id or, from edition 0.3 on, a key (switch S3).
    fn hash_part(&mut self, parts: &mut Parts<'_>) {
        let start = self.scan.position();
        self.scan.advance(1);
        let name = if matches!(self.scan.peek(), Some(b'\'' | b'"')) {
            let Ok(name) = self.quoted() else { return };
            name
        } else {
            match self.scan.take_name() {
                "" => return self.no_name(),
                name => name.into(),
            }
        };
        let span = self.scan.span_since(start);
        if parts.has(|kind| matches!(kind, PartKind::Id(_) | PartKind::Key(_))) {
            let expected = "one name in a step";
            self.report(SelectorError::new(ErrorKind::Duplicate, span, "`#` name", expected));
        }
        let is_key = self.edition >= Edition::V0_3;
        let kind = if is_key { PartKind::Key(name) } else { PartKind::Id(name) };
        self.count();
        parts.push(Part { kind, span });
    }

    #[cold]
    fn unknown_root(&mut self, start: usize, name: &str) {
        let span = self.scan.span_since(start);
        let found = quote(span.of(self.scan.text()));
        let expected = "`^sys`, `^seq`, `^ah` or `^root`";
        let error = SelectorError::new(ErrorKind::UnknownRoot, span, found, expected);
        let error = error.help("the roots are `^sys`, `^seq`, `^ah` and `^root`");
        self.report(error.suggest("^", name, &["sys", "seq", "ah", "root"]));
    }

    #[cold]
    fn no_type(&mut self) {
        let error = self.unexpected_error("the name of a type, such as `cb`");
        let error = match error.span.of(self.scan.text()) {
            "." => error.help("a range is written without spaces: `@t-5..@t-1`"),
            _ => error,
        };
        self.report(error);
        self.skip_garbage();
    }

    #[cold]
    fn no_name(&mut self) {
        let error = self.unexpected_error("a name of letters, digits, `_`, `-`, `:`");
        self.report(error.help("other names can be quoted: `#'hero banner'`"));
        self.skip_garbage();
    }

    #[cold]
    fn not_first(&mut self, span: Span) {
        let found = quote(span.of(self.scan.text()));
        let error =
            SelectorError::new(ErrorKind::Misplaced, span, found, "it at the start of the step");
        self.report(error.help("add a space or `>` before it to start a new step"));
    }
}
