//! The importer: documents, or a log line by line.

use std::collections::BTreeMap;

use contextree_engine::Context;
use contextree_json::{Limits, Scratch, lines, parse};

use super::ahead::{LineReader, prepare, work_ahead};
use super::detect::detect;
use super::error::{ImportError, ImportErrorKind};
use super::{Format, Session};
use crate::logs::{self, Entry, Log};

/// How something is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Go on after a bad line, and list it in the report.
    pub keep_going: bool,
    /// Commit the last turn too; otherwise it is left in the head, to be continued.
    pub commit_last: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions { keep_going: false, commit_last: true }
    }
}

/// What was imported.
#[derive(Debug)]
pub struct Imported {
    /// The context.
    pub context: Context,
    /// What was done.
    pub report: ImportReport,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// The format; nothing if there was nothing to find out from.
    pub format: Option<Format>,
    /// Lines that were read, empty ones included.
    pub lines: u64,
    /// Messages that were added.
    pub messages: u64,
    /// Turns that were committed.
    pub commits: u64,
    /// Conversations that were begun; more than one if a line did not continue the one before it.
    pub conversations: u64,
    /// Entries of a log that are no messages, counted by their type.
    pub skipped: BTreeMap<String, u64>,
    /// Bad lines, if it was to go on.
    pub errors: Vec<ImportError>,
}

/// Fills a context from a log, line by line, or from documents.
///
/// ```
/// use contextree_provider::{Format, Importer, ImportOptions};
///
/// let mut importer = Importer::new(Format::Auto, ImportOptions::default());
/// importer.line(br#"{"role":"user","content":"Will it rain?"}"#)?;
/// importer.line(br#"{"role":"assistant","content":"It will."}"#)?;
/// importer.line(br#"{"role":"user","content":"And tomorrow?"}"#)?;
/// let imported = importer.finish()?;
/// assert_eq!(imported.context.history().len(), 2);
/// # Ok::<(), contextree_provider::ImportError>(())
/// ```
pub struct Importer {
    format: Format,
    options: ImportOptions,
    session: Session,
    log: Option<Box<dyn Log>>,
    report: ImportReport,
    scratch: Scratch,
}

impl std::fmt::Debug for Importer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Importer").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Importer {
    /// Returns an importer into a new context.
    #[must_use]
    pub fn new(format: Format, options: ImportOptions) -> Self {
        Self::into_context(Context::new(), format, options)
    }

    /// Returns an importer that goes on with a context. What stands in its head belongs to the first turn.
    #[must_use]
    pub fn into_context(context: Context, format: Format, options: ImportOptions) -> Self {
        Importer {
            format,
            options,
            session: Session::new(context, format.provider()),
            log: None,
            report: ImportReport::default(),
            scratch: Scratch::default(),
        }
    }

    /// Takes a line of a log. Empty lines are passed over.
    ///
    /// # Errors
    ///
    /// The line is bad, and it was not to go on. Nothing of the line was imported.
    pub fn line(&mut self, line: &[u8]) -> Result<(), ImportError> {
        self.report.lines += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let done = self.take(line);
        self.note(done, true)
    }

    /// Takes many lines at once. A second thread, if there can be one, reads ahead; the outcome is that of one line after the other.
    ///
    /// # Errors
    ///
    /// A line is bad, and it was not to go on. The lines before it were imported.
    pub fn lines(&mut self, text: &[u8]) -> Result<(), ImportError> {
        let mut reader = LineReader::new(self.format);
        let read = lines(text).map(|line| reader.read(line));
        work_ahead(read, prepare, |line| {
            self.report.lines += 1;
            let Some(read) = line else { return Ok(()) };
            let done = read.map_err(ImportErrorKind::Json).and_then(|entry| self.entry(entry));
            self.note(done, true)
        })
    }

    /// Takes a whole document: a request, or a list of messages or entries.
    ///
    /// # Errors
    ///
    /// The document is bad.
    pub fn document(&mut self, text: &[u8]) -> Result<(), ImportError> {
        let done = self.take(text);
        self.note(done, false)
    }

    fn take(&mut self, text: &[u8]) -> Result<(), ImportErrorKind> {
        let value = self.scratch.parse(text, &Limits::default()).map_err(ImportErrorKind::Json)?;
        self.entry(Entry::Value(value))
    }

    fn entry(&mut self, entry: Entry) -> Result<(), ImportErrorKind> {
        if self.log.is_none() {
            if let (Format::Auto, Entry::Value(value)) = (self.format, &entry) {
                self.format = detect(value).ok_or(ImportErrorKind::UnknownFormat)?;
                self.session.provider = self.format.provider();
            }
            self.report.format = Some(self.format);
            self.log = Some(logs::log(self.format));
        }
        let log = self.log.as_mut().expect("it was just opened");
        match entry {
            Entry::Value(value) => log.entry(value, &mut self.session, &mut self.report.skipped),
            Entry::Message(message) => self.session.single(message),
            Entry::Bad(shape) => Err(shape.into()),
        }
    }

    fn note(
        &mut self,
        done: Result<(), ImportErrorKind>,
        in_line: bool,
    ) -> Result<(), ImportError> {
        let Err(kind) = done else { return Ok(()) };
        let error = ImportError { line: in_line.then_some(self.report.lines), kind };
        if self.options.keep_going && in_line {
            self.report.errors.push(error);
            return Ok(());
        }
        Err(error)
    }

    /// Ends the import.
    ///
    /// # Errors
    ///
    /// The last turn could not be committed.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        let done = match &mut self.log {
            Some(log) => log.end(&mut self.session, &mut self.report.skipped),
            None => Ok(()),
        };
        let done = done.and_then(|()| match self.options.commit_last {
            true => self.session.commit(),
            false => Ok(()),
        });
        done.map_err(|kind| ImportError { line: None, kind })?;
        self.report.messages = self.session.messages;
        self.report.commits = self.session.commits;
        self.report.conversations = self.session.conversations.max(1);
        Ok(Imported { context: self.session.context, report: self.report })
    }
}

/// Imports a text: a document, or JSON Lines.
///
/// # Errors
///
/// The text is no JSON, of no known format, or of another shape than its format says; with the number of the line.
pub fn import(
    text: &[u8],
    format: Format,
    options: ImportOptions,
) -> Result<Imported, ImportError> {
    let mut importer = Importer::new(format, options);
    if is_lines(text) {
        importer.lines(text)?;
    } else {
        importer.document(text)?;
    }
    importer.finish()
}

/// Returns true if a text is JSON Lines and no single document: one of its first lines is an object of its own, and there are others.
#[must_use]
pub fn is_lines(text: &[u8]) -> bool {
    let blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let mut lines = lines(text).filter(|line| !blank(line)).take(3).peekable();
    let is_list = lines.peek().is_some_and(|line| line.trim_ascii_start().starts_with(b"["));
    let lines: Vec<&[u8]> = if is_list { lines.take(1).collect() } else { lines.collect() };
    let is_object = |line: &&[u8]| parse(line).is_ok_and(|value| value.as_object().is_some());
    lines.len() > 1 && lines.iter().any(is_object)
}
