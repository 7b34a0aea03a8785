//! How a failed command is reported: text or JSON on standard error, and the exit code of the process.

mod advice;
mod usage;

use std::io::{self, Write as _};

use contextree::Kind;
use contextree::json::Value;
pub(crate) use contextree_app::Error as Failure;
use contextree_app::wire;
pub(crate) use usage::report_usage;

use crate::environment::has_unicode;
use crate::output::text::ascii;

/// How the process ends. `ctx help exit-codes` explains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok,
    /// Done, and the answer is no: there is a difference, a case fails.
    No,
    /// The request is wrong: arguments, a selector, a document, an operation that the rules refuse.
    Usage,
    /// Something that was named does not exist.
    NotFound,
    /// Another writer was faster.
    Conflict,
    /// The store, a file or a stream.
    Io,
    /// Like the program that was run.
    Code(
        /// Its code.
        u8,
    ),
}

impl Exit {
    /// Returns the code of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::Conflict => 4,
            Exit::Io => 5,
            Exit::Code(code) => code,
        }
    }
}

/// Returns how the process ends after an error; the one table of it.
pub(crate) fn exit(error: &Failure) -> Exit {
    match error.kind() {
        Kind::Conflict => Exit::Conflict,
        Kind::NotFound => Exit::NotFound,
        Kind::Io | Kind::Unavailable | Kind::Corrupt => Exit::Io,
        _ => Exit::Usage,
    }
}

/// Returns an error for people, without colour.
pub(crate) fn to_text(error: &Failure) -> String {
    let mut text = match error.drawing() {
        Some(drawing) => drawing.to_owned(),
        None => format!("error[{}]: {}", error.code(), error.message()),
    };
    for hint in error.hints() {
        text.push_str("\nhint: ");
        text.push_str(&advice::text(hint));
    }
    if error.hints().is_empty() {
        text.push_str("\nhint: ");
        text.push_str(&remedy(error));
    }
    text
}

/// Returns what to do about an error without hints of its own: what its code says, in the form of a hint.
fn remedy(error: &Failure) -> String {
    let text = error.code().remedy().trim_end_matches('.');
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns an error for programs.
pub(crate) fn to_value(error: &Failure) -> Value {
    let mut failure = error.to_wire_with(|hint| Some(advice::text(hint)));
    if error.hints().is_empty() {
        let hints = vec![Value::from(remedy(error))];
        failure.error.details.insert("hints", Value::Array(hints));
    }
    wire::to_value(&failure)
}

/// Returns the error for output that could not be written.
pub(crate) fn output(error: io::Error) -> Failure {
    Failure::io("standard output", error)
}

/// Prints the help page if no command was given. Returns the exit code.
pub(crate) fn report_nothing() -> u8 {
    let mut stream = anstream::stderr();
    // A standard error that is closed cannot be told about it.
    let _ = write!(stream, "{}", drawable(crate::command().render_help().ansi().to_string()));
    Exit::Usage.code()
}

/// Returns a text with signs that the locale has.
fn drawable(text: String) -> String {
    if has_unicode() { text } else { ascii(&text) }
}
