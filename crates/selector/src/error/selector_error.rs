//! A single error, and the list of all errors of a selector.

use std::borrow::Cow;
use std::fmt;

use super::{Code, ErrorKind, closest, draw_caret};
use crate::Span;

/// One problem in a selector.
///
/// [`Display`](fmt::Display) writes the message in one line, without `help`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectorError {
    /// The specification's code; determined by `kind`.
    pub code: Code,
    /// The kind.
    pub kind: ErrorKind,
    /// The location, in bytes of the text; empty at the end of the text.
    pub span: Span,
    /// What was found, code in backticks.
    pub found: Cow<'static, str>,
    /// What was expected, code in backticks.
    pub expected: Cow<'static, str>,
    /// A hint, if there is one.
    pub help: Option<Cow<'static, str>>,
}

impl SelectorError {
    pub(crate) fn new(
        kind: ErrorKind,
        span: Span,
        found: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (found, expected) = (found.into(), expected.into());
        Self { code: kind.code(), kind, span, found, expected, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean …?" if one of `candidates` is similar to `written`; both without the
    /// `sigil` that precedes the suggestion.
    pub(crate) fn suggest(self, sigil: &str, written: &str, candidates: &[&str]) -> Self {
        match closest(written, candidates) {
            Some(name) => self.help(format!("did you mean `{sigil}{name}`?")),
            None => self,
        }
    }

    /// Returns the error as several lines with the text and a caret under the invalid part:
    ///
    /// ```text
    /// error[E_SELECTOR_INVALID]: unknown pseudo-class `:frist`
    ///   |
    /// 1 | ^seq :frist
    ///   |      ^^^^^^
    ///   = help: did you mean `:first`?
    /// ```
    ///
    /// `text` is the text that was parsed. The result is plain text without a final line break. It
    /// shows only the affected line, and of a long line only the surroundings of the invalid part.
    pub fn draw(&self, text: &str) -> String {
        let headline = format!("error[{}]: {self}", self.code);
        draw_caret(&headline, text, self.span, self.help.as_deref())
    }
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, expected, .. } = self;
        match self.kind {
            ErrorKind::Unexpected => write!(f, "expected {expected}, found {found}"),
            ErrorKind::Nothing => {
                write!(f, "nothing to select: expected {expected}, found {found}")
            }
            ErrorKind::Empty => write!(f, "{found} is empty; expected {expected}"),
            ErrorKind::Unclosed => write!(f, "{found} is not closed; expected {expected}"),
            ErrorKind::UnknownRoot => write!(f, "unknown root {found}"),
            ErrorKind::UnknownPseudo => write!(f, "unknown pseudo-class {found}"),
            ErrorKind::UnknownSnapshot => write!(f, "unknown snapshot {found}"),
            ErrorKind::UnknownControl => write!(f, "unknown control {found}"),
            ErrorKind::UnknownHop => write!(f, "unknown hop {found}"),
            ErrorKind::UnknownEscape => write!(f, "unknown escape {found}; expected {expected}"),
            ErrorKind::NoOperator => write!(f, "expected {expected} after {found}"),
            ErrorKind::InvalidNumber => write!(f, "{found} is not {expected}"),
            ErrorKind::Descending => write!(f, "{found} is descending; expected {expected}"),
            ErrorKind::Duplicate => write!(f, "duplicate {found}; expected {expected}"),
            ErrorKind::Misplaced => write!(f, "{found} is not allowed here; expected {expected}"),
            ErrorKind::CueInRead => {
                write!(
                    f,
                    "{found} is an insertion cue, which a selector that reads cannot have; expected {expected}"
                )
            }
            ErrorKind::ChainedStep => write!(f, "{found} cannot follow `?`; expected {expected}"),
            ErrorKind::NeedsSnapshot => {
                write!(f, "{found} exists on snapshots only; expected {expected}")
            }
            ErrorKind::SnapshotInWrite => {
                write!(f, "a write cannot address {found}; expected {expected}")
            }
            ErrorKind::LaterEdition { needs, reading } => {
                write!(
                    f,
                    "{found} needs edition {needs}, but this text is parsed as edition {reading}"
                )
            }
            ErrorKind::RangeKinds => {
                write!(f, "a range cannot mix `@t` and `@c`: expected {expected}, found {found}")
            }
            ErrorKind::RangeWildcard => {
                write!(f, "{found} cannot be the end of a range; expected {expected}")
            }
            ErrorKind::TooLong | ErrorKind::TooMany | ErrorKind::TooLarge => {
                write!(f, "{found} exceeds the limit of {expected}")
            }
        }
    }
}

impl std::error::Error for SelectorError {}

/// All errors of one selector: at least one, in text order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorErrors(Vec<SelectorError>);

impl SelectorErrors {
    /// Returns the errors sorted by location. `first` guarantees that there is one.
    pub(crate) fn new(first: SelectorError, rest: impl IntoIterator<Item = SelectorError>) -> Self {
        let mut errors = vec![first];
        errors.extend(rest);
        errors.sort_by_key(|error| error.span);
        Self(errors)
    }

    /// Returns the errors.
    pub fn errors(&self) -> &[SelectorError] {
        &self.0
    }

    /// Returns the code of the first error, for callers that report a single code.
    pub fn code(&self) -> Code {
        self.0.first().map_or(Code::SelectorInvalid, |error| error.code)
    }

    /// Returns all errors drawn, separated by empty lines; see [`SelectorError::draw`].
    pub fn draw(&self, text: &str) -> String {
        let drawings: Vec<String> = self.0.iter().map(|error| error.draw(text)).collect();
        drawings.join("\n\n")
    }
}

impl<'e> IntoIterator for &'e SelectorErrors {
    type Item = &'e SelectorError;
    type IntoIter = std::slice::Iter<'e, SelectorError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for SelectorErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for SelectorErrors {}
