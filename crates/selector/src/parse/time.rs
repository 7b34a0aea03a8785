//! Parses snapshot prefixes: `@t-1`, `@c42`, `@*`, `@history` and every notation of a range.

use super::report::{excerpt, quote};
use super::{Failed, Parsed, Parser};
use crate::ast::{RelativePoint, Snapshot, SnapshotRange, Time, TimeKind};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{is_blank, is_digit, is_word};
use crate::{Edition, Span};

/// The names of controls, which must be last.
pub(super) const CONTROLS: [&str; 6] = ["mode", "p", "limit", "order", "first", "unique"];

/// One end of a range, or the whole prefix.
#[derive(Clone, Copy)]
enum Atom {
    Relative(RelativePoint),
    Cycle(i64),
    All,
    History,
}

impl Parser<'_> {
    /// Parses the snapshot prefix, if there is one.
    pub(super) fn time(&mut self) -> Option<Time> {
        if self.scan.peek() != Some(b'@') {
            return None;
        }
        let start = self.scan.position();
        let kind = self.time_kind(start);
        if kind.is_err() {
            self.scan.take_while(|byte| !is_blank(byte));
        }
        Some(Time { kind: kind.ok()?, span: self.scan.span_since(start) })
    }

    fn time_kind(&mut self, start: usize) -> Parsed<TimeKind> {
        let first = self.atom()?;
        let first_span = self.scan.span_since(start);
        // Directly after a snapshot a colon is always the range operator (ER-024).
        let is_range = match self.scan.peek() {
            Some(b':') => {
                self.scan.advance(1);
                true
            }
            Some(b'.') if self.scan.peek_at(1) == Some(b'.') => {
                self.scan.advance(2);
                true
            }
            _ => false,
        };
        if is_range {
            let at = self.scan.position();
            let second = self.second_atom(first)?;
            let second_span = self.scan.span_since(at);
            return self.range((first, first_span), (second, second_span)).map(TimeKind::Range);
        }
        Ok(match first {
            Atom::Relative(RelativePoint::At(at)) => TimeKind::At(Snapshot::Relative(at)),
            Atom::Cycle(cycle) => TimeKind::At(Snapshot::Cycle(cycle)),
            Atom::All => TimeKind::All,
            Atom::History => TimeKind::Range(SnapshotRange::HISTORY),
            Atom::Relative(RelativePoint::Oldest) => {
                let expected = "it at the end of a range";
                let error =
                    SelectorError::new(ErrorKind::Misplaced, first_span, "`@t-*`", expected);
                return Err(self.report(error.help("`@history` is short for `@t0..@t-*`")));
            }
        })
    }

    /// Parses `@t-1`, `@t-*`, `@c42`, `@*` or `@history`.
    fn atom(&mut self) -> Parsed<Atom> {
        let start = self.scan.position();
        match (self.scan.peek_at(1), self.scan.peek_at(2)) {
            (Some(b'*'), _) => {
                self.scan.advance(2);
                Ok(Atom::All)
            }
            (Some(b't'), Some(b'-' | b'+' | b'0'..=b'9')) => {
                self.scan.advance(2);
                self.relative_point(start).map(Atom::Relative)
            }
            (Some(b'c'), Some(b'0'..=b'9')) => {
                self.scan.advance(2);
                self.cycle().map(Atom::Cycle)
            }
            _ => self.named_atom(start),
        }
    }

    /// Parses `-1`, `0`, `+1` or `-*`.
    fn relative_point(&mut self, start: usize) -> Parsed<RelativePoint> {
        if self.scan.peek() == Some(b'-') && self.scan.peek_at(1) == Some(b'*') {
            self.scan.advance(2);
            self.needs(Edition::V0_3, self.scan.span_since(start), "`@t-*`");
            return Ok(RelativePoint::Oldest);
        }
        self.signed(true, "a number of commits, as in `@t0` or `@t-1`").map(RelativePoint::At)
    }

    fn cycle(&mut self) -> Parsed<i64> {
        let number = self.unsigned("the number of a cycle, as in `@c42`")?;
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn named_atom(&mut self, start: usize) -> Parsed<Atom> {
        self.scan.advance(1);
        let name = self.scan.take_while(is_word);
        let span = self.scan.span_since(start);
        if name == "history" {
            self.needs(Edition::V0_3, span, "`@history`");
            return Ok(Atom::History);
        }
        let found = quote(span.of(self.scan.text()));
        let expected = "`@t0`, `@t-1`, `@c42`, `@*` or `@history`";
        if CONTROLS.contains(&name) {
            let error = SelectorError::new(
                ErrorKind::Misplaced,
                span,
                format!("the control {found}"),
                "controls at the end, as in `.cb @limit=5`",
            );
            return Err(self.report(error));
        }
        let error = SelectorError::new(ErrorKind::UnknownSnapshot, span, found, expected);
        let error = error.help(format!("a snapshot is {expected}"));
        let lower = name.to_ascii_lowercase();
        let error = match lower.strip_prefix(['t', 'c']).map(|digits| digits.parse::<i64>()) {
            Some(Ok(_)) => error.help(format!("did you mean `@{}`?", excerpt(&lower))),
            _ => error.suggest("@", name, &["history"]),
        };
        Err(self.report(error))
    }

    /// Parses the second end of a range: a complete atom, or a number of the first one's kind.
    fn second_atom(&mut self, first: Atom) -> Parsed<Atom> {
        let start = self.scan.position();
        match (self.scan.peek(), first) {
            (Some(b'@'), _) => self.atom(),
            (Some(b'*'), _) => {
                self.scan.advance(1);
                Ok(Atom::All)
            }
            (Some(byte), Atom::Cycle(_)) if is_digit(byte) => self.cycle().map(Atom::Cycle),
            (Some(b'-' | b'+' | b'0'..=b'9'), Atom::Relative(_) | Atom::All | Atom::History) => {
                self.relative_point(start).map(Atom::Relative)
            }
            _ => Err(self.no_second_atom()),
        }
    }

    #[cold]
    fn no_second_atom(&mut self) -> Failed {
        let error = self.unexpected_error("the other end of the range, as in `@t-5..@t-1`");
        let error = match error.span.of(self.scan.text()) {
            name if name.starts_with(['t', 'c']) && name.len() > 1 => {
                let help = format!("use `@{}` or only the number", excerpt(name));
                error.help(help)
            }
            name if crate::scan::is_reserved(name) => error.help(
                "directly after a snapshot `:` makes a range; add a space before a pseudo-class",
            ),
            _ => error,
        };
        self.report(error)
    }

    fn range(&mut self, first: (Atom, Span), second: (Atom, Span)) -> Parsed<SnapshotRange> {
        match (first.0, second.0) {
            (Atom::Relative(from), Atom::Relative(to)) => Ok(SnapshotRange::Relative { from, to }),
            (Atom::Cycle(from), Atom::Cycle(to)) => Ok(SnapshotRange::Cycles { from, to }),
            (Atom::All, _) => Err(self.wildcard(first.1)),
            (_, Atom::All) => Err(self.wildcard(second.1)),
            (Atom::History, _) => Err(self.history_in_range(first.1)),
            (_, Atom::History) => Err(self.history_in_range(second.1)),
            (Atom::Relative(_), Atom::Cycle(_)) => {
                Err(self.mixed_kinds(second.1, "a `@t` snapshot"))
            }
            (Atom::Cycle(_), Atom::Relative(_)) => {
                Err(self.mixed_kinds(second.1, "a `@c` snapshot"))
            }
        }
    }

    #[cold]
    fn wildcard(&mut self, span: Span) -> Failed {
        let found = quote(span.of(self.scan.text()));
        let error = SelectorError::new(ErrorKind::RangeWildcard, span, found, "one snapshot");
        let help = match self.edition {
            Edition::V0_3 => "`@t-*` is the oldest snapshot, `@history` the range of all",
            _ => "`@*` alone addresses every snapshot",
        };
        self.report(error.help(help))
    }

    #[cold]
    fn history_in_range(&mut self, span: Span) -> Failed {
        let expected = "one snapshot at the end of a range";
        let error = SelectorError::new(ErrorKind::Misplaced, span, "`@history`", expected);
        self.report(error.help("`@history` is a range of its own"))
    }

    #[cold]
    fn mixed_kinds(&mut self, span: Span, expected: &'static str) -> Failed {
        let found = quote(span.of(self.scan.text()));
        self.report(SelectorError::new(ErrorKind::RangeKinds, span, found, expected))
    }
}
