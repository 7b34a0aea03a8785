//! Why a command failed: a code, a place, what to do next, and the exit code of the process.

mod convert;

use std::io::{self, Write as _};

use contextree_json::{Object, Value};

/// How the process ends. `ctx help exit-codes` explains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok = 0,
    /// Done, and the answer is no: there is a difference, a case fails.
    No = 1,
    /// The request is wrong: arguments, a selector, a document, an operation that the rules refuse.
    Usage = 2,
    /// Something that was named is not there.
    NotFound = 3,
    /// Somebody else was faster.
    Conflict = 4,
    /// The store, a file or a stream.
    Io = 5,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: String,
    message: String,
    /// Code, message and a drawing of the place, where there is a text to point into.
    drawing: Option<String>,
    /// What to do next; commands in backticks.
    hints: Vec<String>,
    /// More, for programs.
    details: Object,
    broken_pipe: bool,
}

impl Failure {
    /// Returns a failure with a code and a message.
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Failure(Box::new(Inner {
            code: code.into(),
            message: message.into(),
            drawing: None,
            hints: Vec::new(),
            details: Object::new(),
            broken_pipe: false,
        }))
    }

    /// The arguments are wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::new("E_USAGE", message)
    }

    /// A file or stream could not be read or written.
    pub(crate) fn io(place: &str, error: &io::Error) -> Self {
        let failure = Failure::new("E_IO", format!("{place}: {error}")).detail("place", place);
        let mut failure = match error.kind() {
            io::ErrorKind::NotFound => {
                failure.hint("names begin in the working directory; `-` is standard input")
            }
            _ => failure,
        };
        failure.0.broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        failure
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds something for programs.
    #[must_use]
    pub(crate) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(name, value.into());
        self
    }

    /// Shows the place; the drawing has code and message too.
    #[must_use]
    pub(crate) fn drawing(mut self, drawing: String) -> Self {
        self.0.drawing = Some(drawing);
        self
    }

    /// Returns how the process ends.
    pub(crate) fn exit(&self) -> Exit {
        exit_of(&self.0.code)
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.broken_pipe
    }

    /// Returns the failure for people, without colour.
    pub(crate) fn to_text(&self) -> String {
        let mut text = match &self.0.drawing {
            Some(drawing) => drawing.clone(),
            None => format!("error[{}]: {}", self.0.code, self.0.message),
        };
        for hint in &self.0.hints {
            text.push_str("\nhint: ");
            text.push_str(hint);
        }
        text
    }

    /// Returns the failure for programs.
    pub(crate) fn to_value(&self) -> Value {
        let mut details = self.0.details.clone();
        if !self.0.hints.is_empty() {
            let hints = self.0.hints.iter().map(|hint| Value::from(hint.as_str())).collect();
            details.insert("hints", Value::Array(hints));
        }
        let mut error = Object::new();
        error.insert("code", self.0.code.as_str().into());
        error.insert("message", self.0.message.as_str().into());
        error.insert("details", details.into());
        Object::from_iter([("error", Value::Object(error))]).into()
    }
}

/// The exit code that belongs to an error code; the one table of it.
fn exit_of(code: &str) -> Exit {
    match code {
        "E_CONFLICT" => Exit::Conflict,
        "E_SNAPSHOT_NOT_FOUND"
        | "E_NODE_NOT_FOUND"
        | "E_NO_MATCH"
        | "E_ATTEMPT_NOT_FOUND"
        | "E_CONTEXT_NOT_FOUND"
        | "E_STORE_NOT_FOUND" => Exit::NotFound,
        "E_IO" | "E_DIGEST_MISMATCH" | "E_CORRUPT" => Exit::Io,
        "E_STORE_URL" => Exit::Usage,
        _ if code.starts_with("E_STORE") => Exit::Io,
        _ => Exit::Usage,
    }
}

/// Says what can be said, if nothing was asked for. Returns the exit code.
pub(crate) fn report_nothing() -> u8 {
    let mut stream = anstream::stderr();
    // Nothing can be said about a standard error that does not listen.
    let _ = write!(stream, "{}", crate::command().render_help().ansi());
    Exit::Usage as u8
}

/// Says what is wrong with the arguments, or prints the help that was asked for. Returns the exit code.
pub(crate) fn report_usage(error: &clap::Error, as_json: bool) -> u8 {
    if !error.use_stderr() {
        // Help and version are data. Nothing is lost if nobody reads them.
        let _ = error.print();
        return Exit::Ok as u8;
    }
    if as_json {
        let text = error.render().to_string();
        let mut parts = text.split("\n\n").map(str::trim);
        let message = parts.next().unwrap_or_default();
        let mut failure = Failure::usage(message.strip_prefix("error: ").unwrap_or(message));
        for part in parts {
            if let Some(usage) = part.strip_prefix("Usage: ") {
                failure = failure.detail("usage", usage);
            } else if let Some(tip) = part.strip_prefix("tip: ") {
                failure = failure.hint(tip);
            }
        }
        crate::output::print_error(&failure.to_value());
    } else {
        let _ = error.print();
    }
    Exit::Usage as u8
}
