//! What is printed: data to standard output, everything else to standard error; for people or for programs.

mod pager;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use contextree_json::Value;

use crate::args::{ColorWhen, Global};
use crate::environment::Environment;
use crate::error::Failure;

/// For whom to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people: text, with colour where it is wanted.
    Human,
    /// One JSON document.
    Json,
    /// One JSON document per line.
    JsonLines,
}

/// Where a command prints to. Nothing is written before the command has come to its end, so that a failure never follows half an
/// answer.
#[derive(Debug)]
pub(crate) struct Output {
    format: Format,
    colour: ColorChoice,
    error_colour: ColorChoice,
    data: Vec<u8>,
    /// What is said besides, once the data is out.
    notes: Vec<String>,
    /// True if the data is text for people, which may be paged.
    paged: bool,
    environment: Environment,
}

impl Output {
    /// Returns an output for these options.
    pub(crate) fn new(global: &Global, environment: &Environment) -> Self {
        let format = match (global.json, global.jsonl) {
            (true, _) => Format::Json,
            (_, true) => Format::JsonLines,
            _ => Format::Human,
        };
        let choose = |auto: ColorChoice| match global.color {
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
            ColorWhen::Auto => auto,
        };
        Output {
            format,
            colour: choose(AutoStream::choice(&io::stdout())),
            error_colour: choose(AutoStream::choice(&io::stderr())),
            data: Vec::new(),
            notes: Vec::new(),
            paged: false,
            environment: environment.clone(),
        }
    }

    /// Returns for whom to print.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// True if people read standard output on a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.environment.stdout_is_terminal
    }

    /// True if styles reach the reader.
    pub(crate) fn has_colour(&self) -> bool {
        matches!(self.colour, ColorChoice::Always | ColorChoice::AlwaysAnsi)
    }

    /// Returns the columns that a line may take.
    pub(crate) fn width(&self) -> Option<usize> {
        self.environment.width
    }

    /// Prints text for people. It may have styles; they are taken out where nobody sees them.
    pub(crate) fn text(&mut self, text: &str) {
        self.paged = true;
        if self.has_colour() {
            self.data.extend_from_slice(text.as_bytes());
        } else {
            let plain = anstream::adapter::strip_str(text).to_string();
            self.data.extend_from_slice(plain.as_bytes());
        }
    }

    /// Prints bytes exactly as they are; on a terminal a line break follows, so that the prompt stands alone.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
        if self.is_terminal() && bytes.last() != Some(&b'\n') {
            self.data.push(b'\n');
        }
    }

    /// Prints a value in canonical JSON, on one line.
    pub(crate) fn value(&mut self, value: &Value) {
        contextree_json::write::value(&mut self.data, value);
        self.data.push(b'\n');
    }

    /// Prints a list: as one document, or one line for each.
    pub(crate) fn values(&mut self, values: Vec<Value>) {
        match self.format {
            Format::JsonLines => values.iter().for_each(|value| self.value(value)),
            _ => self.value(&Value::Array(values)),
        }
    }

    /// Says something that is no data: what was done, what is suspicious, how to go on.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Says it at once.
    pub(crate) fn say(&self, text: &str) {
        let mut stream = AutoStream::new(io::stderr(), self.error_colour);
        // Nothing can be said about a standard error that does not listen.
        let _ = writeln!(stream, "{text}");
    }

    /// Says that something is suspicious, and is carried out all the same.
    pub(crate) fn warning(&self, text: &str) {
        let style = style::WARNING;
        self.say(&format!("{style}warning{style:#}: {text}"));
    }

    /// Says why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        match self.format {
            Format::Human => self.say(&style::paint_failure(&failure.to_text())),
            _ => print_error(&failure.to_value()),
        }
    }

    /// Writes what was printed.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let (data, notes) = (std::mem::take(&mut self.data), std::mem::take(&mut self.notes));
        if self.paged && self.format == Format::Human {
            let lines = data.iter().filter(|byte| **byte == b'\n').count();
            let fits = self.environment.height.is_none_or(|height| lines < height);
            if let (false, Some(pager)) = (fits, &self.environment.pager)
                && pager::page(pager, &data)?
            {
                notes.iter().for_each(|note| self.say(note));
                return Ok(());
            }
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(&data)?;
        stdout.flush()?;
        notes.iter().for_each(|note| self.say(note));
        Ok(())
    }
}

/// Prints an error for programs.
pub(crate) fn print_error(value: &Value) {
    let mut line = value.to_canonical();
    line.push(b'\n');
    // Nothing can be said about a standard error that does not listen.
    let _ = io::stderr().write_all(&line);
}
