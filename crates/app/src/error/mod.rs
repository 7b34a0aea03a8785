//! Why a command failed: what [`contextree::Error`] has, and a drawing of the place, several hints, and details for programs.

mod advice;
mod convert;

use std::fmt;
use std::io;

use contextree::{Code, Kind};
use contextree_json::{Object, Value};

pub use advice::{Advice, Hint};

use crate::wire;

/// Why a command failed.
pub struct Error(Box<Inner>);

struct Inner {
    code: Code,
    message: String,
    drawing: Option<String>,
    hints: Vec<Hint>,
    details: Object,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Returns an error with a code and a message. `code` is the text of a [`Code`]; another text is a bug of the caller.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        let code = Code::from_text(code).unwrap_or(Code::Internal);
        Error(Box::new(Inner {
            code,
            message: message.into(),
            drawing: None,
            hints: Vec::new(),
            details: Object::new(),
            source: None,
        }))
    }

    /// Returns the error for an invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new("E_USAGE", message)
    }

    /// Returns the error for a file or stream that could not be read or written.
    #[must_use]
    pub fn io(place: &str, error: io::Error) -> Self {
        let mut failure =
            Error::new("E_IO", format!("{place}: {error}")).with_detail("place", place);
        if error.kind() == io::ErrorKind::NotFound {
            failure = failure.with_hint("names are relative to the working directory");
        }
        failure.with_source(error)
    }

    /// Adds a hint: what to do next, in words that hold for every door.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(Hint::Text(hint.into()));
        self
    }

    /// Adds a hint that the door words with its own commands.
    #[must_use]
    pub fn with_advice(mut self, advice: Advice) -> Self {
        self.0.hints.push(Hint::Advice(advice));
        self
    }

    /// Adds a detail for programs.
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(name, value.into());
        self
    }

    /// Adds a drawing that shows code, message and place.
    #[must_use]
    pub fn with_drawing(mut self, drawing: String) -> Self {
        self.0.drawing = Some(drawing);
        self
    }

    /// Puts the name of a file before the message.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.0.message = format!("{name}: {}", self.0.message);
        self
    }

    /// Sets the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns what sort of failure it is: the exit code or HTTP status of a door follows from it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.code.kind()
    }

    /// Returns the message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the code, the message and a drawing of the place, where there is a text to point into.
    #[must_use]
    pub fn drawing(&self) -> Option<&str> {
        self.0.drawing.as_deref()
    }

    /// Returns what to do next.
    #[must_use]
    pub fn hints(&self) -> &[Hint] {
        &self.0.hints
    }

    /// Returns the details for programs.
    #[must_use]
    pub fn details(&self) -> &Object {
        &self.0.details
    }

    /// Returns whether another writer was faster, so that trying again may help.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.code() == Code::Conflict
    }

    /// Returns whether the reader of the output is gone, as with `| head`.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        let source = self.0.source.as_ref();
        let error = source.and_then(|source| source.downcast_ref::<io::Error>());
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the wire form, with the hints that hold for every door.
    #[must_use]
    pub fn to_wire(&self) -> wire::Failure {
        self.to_wire_with(|hint| match hint {
            Hint::Text(text) => Some(text.clone()),
            Hint::Advice(_) => None,
        })
    }

    /// Returns the wire form, with hints as the door words them.
    #[must_use]
    pub fn to_wire_with(&self, words: impl Fn(&Hint) -> Option<String>) -> wire::Failure {
        let mut details = self.0.details.clone();
        let hints: Vec<Value> = self.0.hints.iter().filter_map(words).map(Value::from).collect();
        if !hints.is_empty() {
            details.insert("hints", Value::Array(hints));
        }
        let error =
            wire::Error { code: self.0.code.to_string(), message: self.0.message.clone(), details };
        wire::Failure { error }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Error")
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("hints", &self.0.hints)
            .field("details", &self.0.details)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}
