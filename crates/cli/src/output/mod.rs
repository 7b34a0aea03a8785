//! What is printed: data to standard output, everything else to standard error; for people or for programs.

pub(crate) mod file;
mod pager;
pub(crate) mod progress;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;

use std::borrow::Cow;
use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use contextree::json::Value;
use contextree_app::wire;
use serde::Serialize;

use crate::args::{ColorWhen, Global};
use crate::environment::Environment;
use crate::error::{self, Failure};

/// The columns of a line in a pipe.
const IN_A_PIPE: usize = 160;

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people: text, with colour where it is wanted.
    Human,
    /// One JSON document.
    Json,
    /// One JSON document per line.
    JsonLines,
}

/// Where a command prints to. Nothing is written before the command has ended, so that an error never follows half an answer.
#[derive(Debug)]
pub(crate) struct Output {
    format: Format,
    colour: ColorChoice,
    error_colour: ColorChoice,
    data: Vec<u8>,
    /// Notes to print after the data.
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

    /// Returns the format.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.environment.stdout_is_terminal
    }

    /// Returns whether styles are printed.
    pub(crate) fn has_colour(&self) -> bool {
        matches!(self.colour, ColorChoice::Always | ColorChoice::AlwaysAnsi)
    }

    /// Returns the columns that a line may take. In a pipe a preview is long, but never a whole document.
    pub(crate) fn width(&self) -> Option<usize> {
        self.environment.width.or(Some(IN_A_PIPE))
    }

    /// Returns a text with lines and arrows that the terminal can draw.
    fn drawable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.environment.unicode { text.into() } else { text::ascii(text).into() }
    }

    /// Prints text for people. It may have styles; they are removed where they would not be seen.
    pub(crate) fn text(&mut self, text: &str) {
        self.paged = true;
        let text = self.drawable(text);
        let mut text = match self.has_colour() {
            true => text.into_owned(),
            false => anstream::adapter::strip_str(&text).to_string(),
        };
        if self.is_terminal() && text.contains(text::is_reordering) {
            text = text.replace(text::is_reordering, "\u{fffd}");
        }
        self.data.extend_from_slice(text.as_bytes());
    }

    /// Prints text for people whose lines may be long, broken between words where the terminal ends.
    pub(crate) fn folded(&mut self, text: &str) {
        let text = text::fold(text, self.environment.width);
        self.text(&text);
    }

    /// Prints ids or names, one per line, for people and for the shell. They are not altered: nothing in them is taken for a style.
    pub(crate) fn words<T: AsRef<str>>(&mut self, words: impl IntoIterator<Item = T>) {
        self.paged = true;
        for one in words {
            self.data.extend_from_slice(text::word(one.as_ref()).as_bytes());
            self.data.push(b'\n');
        }
    }

    /// Prints bytes exactly as they are; on a terminal a line break follows, so that the prompt begins a line.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
        if self.is_terminal() && bytes.last() != Some(&b'\n') {
            self.data.push(b'\n');
        }
    }

    /// Prints a wire form in canonical JSON, on one line.
    pub(crate) fn form<T: Serialize + ?Sized>(&mut self, form: &T) {
        self.value(&wire::to_value(form));
    }

    /// Prints a list of wire forms: as one document, or one line for each.
    pub(crate) fn forms<T: Serialize>(&mut self, forms: &[T]) {
        self.values(forms.iter().map(wire::to_value).collect());
    }

    /// Prints a value in canonical JSON, on one line.
    pub(crate) fn value(&mut self, value: &Value) {
        contextree::json::write::value(&mut self.data, value);
        self.data.push(b'\n');
    }

    /// Prints a list: as one document, or one line for each.
    pub(crate) fn values(&mut self, values: Vec<Value>) {
        match self.format {
            Format::JsonLines => values.iter().for_each(|value| self.value(value)),
            _ => self.value(&Value::Array(values)),
        }
    }

    /// Adds a note that is not data: what was done, what is suspicious, how to go on.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Prints a note at once.
    pub(crate) fn say(&self, text: &str) {
        let mut stream = AutoStream::new(io::stderr(), self.error_colour);
        // The line is written in one piece, so that what another program writes cannot get into it. A standard error that is closed
        // cannot be told about it.
        let _ = stream.write_all(format!("{}\n", self.drawable(text)).as_bytes());
    }

    /// Prints a line of text for people at once, for commands that run other commands.
    pub(crate) fn say_data(&self, text: &str) -> Result<(), Failure> {
        let mut stream = AutoStream::new(io::stdout(), self.colour);
        writeln!(stream, "{}", self.drawable(text))
            .and_then(|()| stream.flush())
            .map_err(error::output)
    }

    /// Prints a warning at once.
    pub(crate) fn warning(&self, text: &str) {
        let style = style::WARNING;
        self.say(&format!("{style}warning{style:#}: {text}"));
    }

    /// Prints why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        match self.format {
            Format::Human => self.say(&style::paint_failure(&error::to_text(failure))),
            _ => print_error(&error::to_value(failure)),
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
    // A standard error that is closed cannot be told about it.
    let _ = io::stderr().write_all(&line);
}
