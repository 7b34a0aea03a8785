//! Parses chains and groups: `^seq .mt > .cb, ^sys .cb`.

use super::Parser;
use super::report::excerpt;
use crate::Span;
use crate::ast::{Chain, ClassWord, Combinator, OneOrMore};
use crate::error::{ErrorKind, SelectorError};

impl Parser<'_> {
    /// Parses one or more chains separated by commas, up to the tail or the end.
    pub(super) fn chains(&mut self) -> OneOrMore<Chain> {
        let mut chains = OneOrMore::new(self.chain());
        while self.scan.eat(b',') {
            self.count();
            self.scan.skip_blanks();
            chains.push(self.chain());
        }
        chains
    }

    fn chain(&mut self) -> Chain {
        let start = self.scan.position();
        let mut end = start;
        let mut steps = Vec::with_capacity(3);
        let mut combinator = Combinator::Descendant;
        loop {
            if self.starts_compound() {
                self.count();
                self.compound(&mut steps, combinator);
                end = self.scan.position();
            } else {
                self.no_step(steps.is_empty());
            }
            let mut blank = self.scan.skip_blanks();
            // Whitespace or `>` must precede the next step; anything else attached to this one is
            // an error.
            while !blank && !self.ends_step() {
                self.unexpected("a space, `>`, `,` or the end");
                self.skip_garbage();
                blank = self.scan.skip_blanks();
            }
            match self.scan.peek() {
                None | Some(b',' | b'@' | b'{' | b'+') => break,
                Some(b'>') => {
                    self.scan.advance(1);
                    self.scan.skip_blanks();
                    combinator = Combinator::Child;
                }
                Some(_) => combinator = Combinator::Descendant,
            }
        }
        Chain { steps, span: Span::new(start, end) }
    }

    /// Returns whether a compound begins here.
    pub(super) fn starts_compound(&self) -> bool {
        match self.scan.peek() {
            Some(b'^' | b'.' | b'*' | b'#' | b'[' | b':') => true,
            Some(b'd') => self.starts_depth(),
            _ => false,
        }
    }

    /// Returns whether `depth(` is next.
    pub(super) fn starts_depth(&self) -> bool {
        self.scan.peek_word() == "depth" && self.scan.peek_at(5) == Some(b'(')
    }

    fn ends_step(&self) -> bool {
        matches!(self.scan.peek(), None | Some(b',' | b'@' | b'{' | b'+' | b'>'))
    }

    /// Reports a missing step and skips what is there instead.
    #[cold]
    fn no_step(&mut self, first: bool) {
        let error =
            self.unexpected_error("a step such as `^seq`, `.cb`, `#x`, `[role='user']` or `*`");
        let found = error.span.of(self.scan.text());
        let word = excerpt(self.scan.peek_word());
        let is_depth_hop =
            word.strip_prefix('d').is_some_and(|digits| digits.parse::<i64>().is_ok());
        let error = match found {
            _ if ClassWord::from_text(word).is_some() => {
                error.help(format!("types start with a dot: `.{word}`"))
            }
            _ if is_depth_hop => {
                let depth = word.trim_start_matches('d');
                error.help(format!("`{word}` is a hop; in a chain write `depth({depth})`"))
            }
            ">" if first => error.help("a chain cannot start with `>`; add a root before it"),
            "(" => SelectorError::new(
                ErrorKind::Misplaced,
                error.span,
                "`(`",
                "a step; a position must be alone, and a group must directly follow its type",
            ),
            "?" => error.help("`?` and `??` must be at the beginning: `?? { role='user' }`"),
            "" if !first => error.help("remove the combinator or add a step"),
            _ => error,
        };
        self.report(error);
        self.skip_garbage();
    }
}
