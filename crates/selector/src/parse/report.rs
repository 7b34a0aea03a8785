//! Reports errors and resumes parsing after them.

use std::borrow::Cow;

use super::{Failed, Parser};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::{is_blank, is_identifier};
use crate::{Edition, Span};

/// Longest excerpt of the text, in characters, in a message.
const EXCERPT: usize = 40;

impl Parser<'_> {
    /// Records an error. When the limit is reached, the parser stops.
    #[cold]
    pub(super) fn report(&mut self, error: SelectorError) -> Failed {
        if self.errors_left > 0 {
            self.errors_left -= 1;
            self.errors.push(error);
        }
        if self.errors_left == 0 {
            self.scan.go_to_end();
        }
        Failed
    }

    /// Reports that something other than `expected` is here.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: impl Into<Cow<'static, str>>) -> Failed {
        let error = self.unexpected_error(expected);
        self.report(error)
    }

    /// Returns the error that something other than `expected` is here, for adding a hint.
    #[cold]
    pub(super) fn unexpected_error(&self, expected: impl Into<Cow<'static, str>>) -> SelectorError {
        let (span, found) = self.here();
        let error = SelectorError::new(ErrorKind::Unexpected, span, found, expected);
        match span.of(self.scan.text()).chars().next() {
            Some(character) if !character.is_ascii() && character.is_whitespace() => {
                error.help("this is not an ordinary space; use a plain one")
            }
            Some('‘' | '’' | '“' | '”') => error.help("use straight quotes, `'` or `\"`"),
            _ => error,
        }
    }

    /// Reports `what`, written at `span`, unless the edition has it.
    #[inline]
    pub(super) fn needs(&mut self, needs: Edition, span: Span, what: &'static str) {
        if self.edition < needs {
            self.later_edition(needs, span, what);
        }
    }

    #[cold]
    fn later_edition(&mut self, needs: Edition, span: Span, what: &'static str) {
        let kind = ErrorKind::LaterEdition { needs, reading: self.edition };
        let expected = format!("edition {needs} or later");
        self.report(SelectorError::new(kind, span, what, expected));
    }

    /// Counts a syntax node. Beyond the limit the rest of the text is skipped.
    #[inline]
    pub(super) fn count(&mut self) {
        match self.nodes_left.checked_sub(1) {
            Some(left) => self.nodes_left = left,
            None => self.too_many(),
        }
    }

    #[cold]
    fn too_many(&mut self) {
        let (span, _) = self.here();
        let expected = "syntax nodes in one selector";
        self.report(SelectorError::new(ErrorKind::TooMany, span, "the selector", expected));
        self.errors_left = 0;
        self.scan.go_to_end();
    }

    /// Returns what is here: a name, a single character or the end.
    #[cold]
    pub(super) fn here(&self) -> (Span, Cow<'static, str>) {
        let mut ahead = self.scan.clone();
        let start = ahead.position();
        match ahead.peek() {
            None => return (Span::new(start, start), "the end of the text".into()),
            Some(byte) if is_identifier(byte) => {
                ahead.take_while(is_identifier);
            }
            Some(_) => ahead.advance_character(),
        }
        let span = ahead.span_since(start);
        (span, quote(span.of(self.scan.text())))
    }

    /// Skips what cannot be parsed, up to whitespace or one of `,`, `>`, `@`, `{`.
    #[cold]
    pub(super) fn skip_garbage(&mut self) {
        while let Some(byte) = self.scan.peek() {
            if is_blank(byte) || matches!(byte, b',' | b'>' | b'@' | b'{') {
                break;
            }
            self.scan.advance_character();
            // Brackets are skipped with their content.
            match byte {
                b'(' => drop(self.scan.skip_past(b')')),
                b'[' => drop(self.scan.skip_past(b']')),
                _ => {}
            }
        }
    }

    /// Reports that the bracket opened at `start` is still open here, or that something other than
    /// `close` or the next item is here.
    #[cold]
    pub(super) fn not_closed(
        &mut self,
        start: usize,
        close: char,
        expected: &'static str,
    ) -> Failed {
        if self.scan.peek().is_none() {
            let open = self.scan.text().get(start..=start).unwrap_or("");
            let span = Span::new(start, start + open.len());
            let expected = format!("`{close}`");
            let error = SelectorError::new(ErrorKind::Unclosed, span, quote(open), expected);
            self.report(error.help(format!("add a closing `{close}`")))
        } else {
            self.unexpected(expected)
        }
    }
}

/// Returns the start of an ASCII text, or all of it if it is short.
pub(super) fn excerpt(text: &str) -> &str {
    text.get(..EXCERPT).unwrap_or(text)
}

/// Returns an excerpt of the text in backticks, cut if it is long, with invisible characters
/// escaped.
pub(super) fn quote(text: &str) -> Cow<'static, str> {
    let mut quoted = String::from("`");
    for (index, character) in text.chars().enumerate() {
        if index == EXCERPT {
            quoted.push('…');
            break;
        }
        let plain = !character.is_control() && (character == ' ' || !character.is_whitespace());
        if plain {
            quoted.push(character);
        } else {
            quoted.extend(character.escape_unicode());
        }
    }
    quoted.push('`');
    quoted.into()
}
