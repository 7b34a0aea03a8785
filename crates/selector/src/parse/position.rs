//! Parses positions, `within(…)`, and the insertion cues of writes.

use super::report::quote;
use super::{Failed, Parser};
use crate::ast::{Cue, Hop, HopKind, Insertion, Position, Within};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{is_digit, is_word};
use crate::{Edition, Span};

/// How a cue is treated in the list of hops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cues {
    /// As an error: the selector reads.
    Refused,
    /// As the end of the list: the position is a target of a write.
    Accepted,
}

impl Parser<'_> {
    #[cold]
    pub(super) fn snapshot_in_write(&mut self, span: Span) {
        let found = format!("the snapshot {}", quote(span.of(self.scan.text())));
        let expected = "the working state";
        let error = SelectorError::new(ErrorKind::SnapshotInWrite, span, found, expected);
        self.report(error.help("snapshots never change; remove the prefix"));
    }

    /// Parses the position of a selector that reads. The caller has seen its parenthesis.
    pub(super) fn position(&mut self) -> Position {
        let start = self.scan.position();
        self.needs(Edition::V0_2, Span::new(start, start + 1), "a position `(…)`");
        let (hops, _) = self.hops(Cues::Refused);
        Position { hops, span: self.scan.span_since(start) }
    }

    /// Parses the whole text as the position of a write.
    pub(super) fn insertion(&mut self) -> Insertion {
        self.scan.skip_blanks();
        let at = self.scan.position();
        if self.scan.peek() == Some(b'@') {
            self.time();
            self.snapshot_in_write(self.scan.span_since(at));
            self.scan.skip_blanks();
        }
        let start = self.scan.position();
        let (hops, cue) = if self.scan.peek() == Some(b'(') {
            self.needs(Edition::V0_2, Span::new(start, start + 1), "a position `(…)`");
            self.hops(Cues::Accepted)
        } else if self.starts_depth_hop() {
            let span = Span::new(start, start + self.scan.peek_word().len());
            self.needs(Edition::V0_3, span, "a hop without parentheses");
            (self.hop().into_iter().collect(), None)
        } else {
            self.unexpected("a position, as in `(d0, cont[offset=0], end)`");
            self.scan.go_to_end();
            (Vec::new(), None)
        };
        let span = self.scan.span_since(start);
        let closing =
            Span::new((span.end as usize).saturating_sub(1).max(start), span.end as usize);
        self.scan.skip_blanks();
        if self.scan.peek().is_some() {
            let error = self.unexpected_error("the end after the position");
            self.report(error.help("filters belong to the hops: `(d0, cont[offset=0], end)`"));
        }
        let cue_span = cue.map_or(Span { end: closing.start, ..closing }, |(_, span)| span);
        Insertion { position: Position { hops, span }, cue: cue.map(|(cue, _)| cue), cue_span }
    }

    /// Parses `within(…)`.
    pub(super) fn within(&mut self) -> Within {
        let start = self.scan.position();
        self.scan.advance("within".len());
        self.needs(Edition::V0_3, self.scan.span_since(start), "`within(…)`");
        self.scan.skip_blanks();
        if self.scan.peek() != Some(b'(') {
            self.unexpected("`(` and the hops of the scope");
            return Within { hops: Vec::new(), span: self.scan.span_since(start) };
        }
        let (hops, _) = self.hops(Cues::Refused);
        let span = self.scan.span_since(start);
        self.scan.skip_blanks();
        Within { hops, span }
    }

    /// Parses `(hop, hop, …)` and the cue at its end. An invalid hop is skipped.
    fn hops(&mut self, cues: Cues) -> (Vec<Hop>, Option<(Cue, Span)>) {
        let start = self.scan.position();
        let mut hops: Vec<Hop> = Vec::new();
        self.scan.advance(1);
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b')') {
            self.empty_block(start, "`()`", "a hop");
            return (hops, None);
        }
        loop {
            if let Some(cue) = self.cue(cues, !hops.is_empty()) {
                return (hops, Some(cue));
            }
            match self.hop() {
                Ok(hop) => {
                    let after_step = hops.last().is_some_and(|last| last.kind == HopKind::Step);
                    if after_step && hop.kind == HopKind::Step {
                        let span = hop.span;
                        let found = quote(span.of(self.scan.text()));
                        let expected = "another kind of hop";
                        let error =
                            SelectorError::new(ErrorKind::ChainedStep, span, found, expected);
                        self.report(error.help("use `??` to search at every depth"));
                    }
                    hops.push(hop);
                }
                Err(Failed) => {
                    self.skip_hop();
                    // Whatever consumed the closing parenthesis has been reported.
                    if self.scan.peek().is_none() {
                        return (hops, None);
                    }
                }
            }
            self.scan.skip_blanks();
            if !matches!(self.scan.peek(), None | Some(b',' | b')')) {
                self.unexpected("`,` or `)`");
                self.skip_hop();
            }
            let comma = self.scan.position();
            match self.scan.peek() {
                Some(b')') => {
                    self.scan.advance(1);
                    return (hops, None);
                }
                Some(_) => self.scan.advance(1),
                None => {
                    self.not_closed(start, ')', "`)`");
                    return (hops, None);
                }
            }
            self.scan.skip_blanks();
            if self.scan.peek() == Some(b')') {
                let span = Span::new(comma, comma + 1);
                self.scan.advance(1);
                if cues == Cues::Refused {
                    self.cue_in_read(span, "a trailing `,`");
                }
                return (hops, Some((Cue::Start, span)));
            }
        }
    }

    /// Parses a cue and the parenthesis after it, if the rest of the list is one.
    fn cue(&mut self, cues: Cues, has_hops: bool) -> Option<(Cue, Span)> {
        let start = self.scan.position();
        let is_end = self.scan.peek_word() == "end";
        let is_signed = matches!(self.scan.peek(), Some(b'+' | b'-'))
            && self.scan.peek_at(1).is_some_and(is_digit);
        if !is_end && (cues == Cues::Refused || !is_signed) {
            return None;
        }
        // Only the last item is a cue; a signed number elsewhere is an offset.
        let mut ahead = self.scan.clone();
        ahead.advance(usize::from(is_signed));
        ahead.take_while(is_word);
        let span = ahead.span_since(start);
        ahead.skip_blanks();
        if !ahead.eat(b')') {
            return None;
        }
        let cue = if is_end {
            Cue::End
        } else {
            let after = self.scan.peek() == Some(b'+');
            self.scan.advance(1);
            let child = self.unsigned("the number of a child").unwrap_or(0);
            if after { Cue::After(child) } else { Cue::Before(child) }
        };
        self.scan = ahead;
        if cues == Cues::Refused {
            self.cue_in_read(span, "`end`");
        } else if !has_hops {
            let expected = "a hop before it";
            let found = quote(span.of(self.scan.text()));
            self.report(SelectorError::new(ErrorKind::Misplaced, span, found, expected));
        }
        Some((cue, span))
    }

    #[cold]
    fn cue_in_read(&mut self, span: Span, found: &'static str) {
        let error = SelectorError::new(ErrorKind::CueInRead, span, found, "a hop");
        self.report(error.help("cues are for inserting; remove it to read"));
    }

    /// Skips to the comma or parenthesis that ends this hop.
    #[cold]
    fn skip_hop(&mut self) {
        while let Some(byte) = self.scan.peek() {
            match byte {
                b',' | b')' => return,
                b'[' => drop(self.scan.skip_past(b']')),
                b'{' => drop(self.scan.skip_past(b'}')),
                _ => self.scan.advance_character(),
            }
        }
    }
}
