//! Parses pseudo-classes: `:pre`, `:nth(2)`, `:depth(1-3)`.

use super::report::quote;
use super::{Failed, Parsed, Parser};
use crate::ast::{Class, ClassWord, Pseudo};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{RESERVED, is_word};

impl Parser<'_> {
    /// Parses a pseudo-class. The caller has seen its colon. On failure its argument has been
    /// skipped.
    pub(super) fn pseudo(&mut self) -> Parsed<Pseudo> {
        let start = self.scan.position();
        self.scan.advance(1);
        let name = self.scan.take_while(is_word);
        let pseudo = match name {
            "pre" => Pseudo::Pre,
            "core" => Pseudo::Core,
            "post" => Pseudo::Post,
            "first" => Pseudo::First,
            "last" => Pseudo::Last,
            "depth" => return self.depth_set().map(Pseudo::Depth),
            "nth" => return self.nth().map(Pseudo::Nth),
            _ => return Err(self.unknown_pseudo(start, name)),
        };
        if self.scan.peek() == Some(b'(') {
            let (span, _) = self.here();
            let found = format!("`(` after `:{name}`");
            let expected = "no argument";
            let failed =
                self.report(SelectorError::new(ErrorKind::Misplaced, span, found, expected));
            self.scan.skip_past(b')');
            return Err(failed);
        }
        Ok(pseudo)
    }

    /// Parses `(n)`, n counting from 1. On failure everything up to the parenthesis has been
    /// skipped.
    fn nth(&mut self) -> Parsed<u64> {
        let start = self.scan.position();
        if !self.scan.eat(b'(') {
            let error = self.unexpected_error("`(` and a number");
            return Err(self.report(error.help("for example `:nth(1)`, the first")));
        }
        self.scan.skip_blanks();
        let at = self.scan.position();
        let number = self.unsigned("a number counted from 1").and_then(|number| {
            if number == 0 {
                let span = self.scan.span_since(at);
                let expected = "a number counted from 1";
                self.report(SelectorError::new(ErrorKind::InvalidNumber, span, "`0`", expected));
            }
            self.scan.skip_blanks();
            match self.scan.eat(b')') {
                true => Ok(number),
                false => Err(self.not_closed(start, ')', "`)`")),
            }
        });
        if number.is_err() {
            self.scan.skip_past(b')');
        }
        number
    }

    #[cold]
    fn unknown_pseudo(&mut self, start: usize, name: &str) -> Failed {
        let span = self.scan.span_since(start);
        let found = quote(span.of(self.scan.text()));
        let expected = "`:pre`, `:core`, `:post`, `:depth`, `:first`, `:last` or `:nth`";
        let error = SelectorError::new(ErrorKind::UnknownPseudo, span, found, expected);
        let error = match ClassWord::from_text(name).map(ClassWord::class) {
            Some(Class::Block) => error
                .help(format!("`*:{name}` is a hop, as in `(d0, *:{name})`; a type is `.{name}`")),
            Some(Class::Container) => {
                error.help(format!("a hop is `{name}`, as in `(d0, {name})`; a type is `.{name}`"))
            }
            Some(Class::Turn) => error.help(format!("a type is `.{name}`")),
            None => error
                .help(format!("the pseudo-classes are {expected}"))
                .suggest(":", name, &RESERVED),
        };
        let failed = self.report(error);
        if self.scan.peek() == Some(b'(') {
            self.scan.skip_past(b')');
        }
        failed
    }
}
