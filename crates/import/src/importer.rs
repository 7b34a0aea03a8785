//! The importer: documents, or a log line by line.

use std::collections::BTreeMap;

use contextree_engine::Context;
use contextree_json::{Limits, ParseErrorKind, Scratch, Value, lines, parse};

use crate::ahead::{LineReader, prepare, work_ahead};
use crate::detect::{Detector, Verdict};
use crate::error::{ImportError, ImportErrorKind};
use crate::format::Format;
use crate::logs::{self, Entry, Log};
use crate::session::Session;

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
/// use contextree_import::{Format, Importer, ImportOptions};
///
/// let mut importer = Importer::new(Format::Auto, ImportOptions::default());
/// importer.line(br#"{"role":"user","content":"Will it rain?"}"#)?;
/// importer.line(br#"{"role":"assistant","content":"It will."}"#)?;
/// importer.line(br#"{"role":"user","content":"And tomorrow?"}"#)?;
/// let imported = importer.finish()?;
/// assert_eq!(imported.context.history().len(), 2);
/// # Ok::<(), contextree_import::ImportError>(())
/// ```
pub struct Importer {
    format: Format,
    options: ImportOptions,
    session: Session,
    log: Option<Box<dyn Log>>,
    detector: Detector,
    /// Entries with their lines that wait for the format to be found out.
    waiting: Vec<(Option<u64>, Value)>,
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
            detector: Detector::default(),
            waiting: Vec::new(),
            report: ImportReport::default(),
            scratch: Scratch::default(),
        }
    }

    /// Takes a line of a log. Empty lines are passed over.
    ///
    /// # Errors
    ///
    /// The line is bad, and it was not to go on. Nothing of the line was imported. While the format is being found out, an error may be
    /// about one of the lines before it.
    pub fn line(&mut self, line: &[u8]) -> Result<(), ImportError> {
        self.report.lines += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let number = Some(self.report.lines);
        match self.scratch.parse(line, &Limits::default()) {
            Ok(value) => self.entry(Entry::Value(value), number),
            Err(error) => self.note(Err(ImportErrorKind::Json(error)), number),
        }
    }

    /// Takes many lines at once. A second thread, if there can be one, reads ahead; the outcome is that of one line after the other.
    ///
    /// # Errors
    ///
    /// As for [`Importer::line`]. The lines before it were imported.
    pub fn lines(&mut self, text: &[u8]) -> Result<(), ImportError> {
        let repeats = !self.session.seen.is_empty();
        let mut reader = LineReader::new(self.format, self.detector.clone(), repeats);
        let read = lines(text).map(|line| reader.read(line));
        work_ahead(read, prepare, |line| {
            self.report.lines += 1;
            let number = Some(self.report.lines);
            match line {
                None => Ok(()),
                Some(Ok(entry)) => self.entry(entry, number),
                Some(Err(error)) => self.note(Err(ImportErrorKind::Json(error)), number),
            }
        })
    }

    /// Takes a whole document: a request, or a list of messages or entries.
    ///
    /// # Errors
    ///
    /// The document is bad.
    pub fn document(&mut self, text: &[u8]) -> Result<(), ImportError> {
        match self.scratch.parse(text, &Limits::default()) {
            Ok(value) => {
                self.entry(Entry::Value(value), None)?;
                self.settle()
            }
            Err(error) => self.note(Err(ImportErrorKind::Json(error)), None),
        }
    }

    /// Takes an entry, or keeps it until it is known what it is.
    fn entry(&mut self, entry: Entry, line: Option<u64>) -> Result<(), ImportError> {
        if self.log.is_some() {
            return self.apply(entry, line);
        }
        if self.format != Format::Auto {
            self.open(self.format)?;
            return self.apply(entry, line);
        }
        // What was read ahead is of a known format.
        let Entry::Value(value) = entry else { return Ok(()) };
        let verdict = self.detector.look(&value);
        self.waiting.push((line, value));
        self.decide(verdict)
    }

    /// Decides with what there is.
    fn settle(&mut self) -> Result<(), ImportError> {
        if self.waiting.is_empty() { Ok(()) } else { self.decide(self.detector.settle()) }
    }

    fn decide(&mut self, verdict: Verdict) -> Result<(), ImportError> {
        match verdict {
            Verdict::Wait => Ok(()),
            Verdict::Is(format) => {
                self.format = format;
                self.session.provider = format.provider();
                self.open(format)
            }
            Verdict::Unknown => {
                let first = self.waiting.first();
                let keys = first.and_then(|(_, value)| match value {
                    Value::Array(list) => list.first()?.as_object(),
                    value => value.as_object(),
                });
                let keys = keys.into_iter().flat_map(|it| it.keys().take(8)).map(str::to_owned);
                let kind = ImportErrorKind::UnknownFormat { keys: keys.collect() };
                Err(ImportError { line: first.and_then(|(line, _)| *line), kind })
            }
        }
    }

    /// Opens the reader of a format, and gives it what has waited for it.
    fn open(&mut self, format: Format) -> Result<(), ImportError> {
        self.report.format = Some(format);
        self.log = Some(logs::log(format));
        for (line, value) in std::mem::take(&mut self.waiting) {
            self.apply(Entry::Value(value), line)?;
        }
        Ok(())
    }

    fn apply(&mut self, entry: Entry, line: Option<u64>) -> Result<(), ImportError> {
        let log = self.log.as_mut().expect("it was opened");
        let done = match entry {
            Entry::Value(value) => log.entry(value, &mut self.session, &mut self.report.skipped),
            Entry::Message(message) => self.session.single(message),
            Entry::Bad(shape) => Err(shape.into()),
        };
        self.note(done, line)
    }

    fn note(
        &mut self,
        done: Result<(), ImportErrorKind>,
        line: Option<u64>,
    ) -> Result<(), ImportError> {
        let Err(kind) = done else { return Ok(()) };
        let error = ImportError { line, kind };
        if self.options.keep_going && line.is_some() {
            self.report.errors.push(error);
            return Ok(());
        }
        Err(error)
    }

    /// Ends the import.
    ///
    /// # Errors
    ///
    /// There was nothing to import, the format could not be found out, or the last turn could not be committed.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        self.settle()?;
        let done = match &mut self.log {
            Some(log) => log.end(&mut self.session, &mut self.report.skipped),
            None => Ok(()),
        };
        let done = done.and_then(|()| match self.options.commit_last {
            true => self.session.commit(),
            false => Ok(()),
        });
        done.map_err(|kind| ImportError { line: None, kind })?;
        if self.session.is_empty() {
            let skipped = self.report.skipped.keys().cloned().collect();
            let bad = self.report.errors.len() as u64;
            return Err(ImportError { line: None, kind: ImportErrorKind::Empty { skipped, bad } });
        }
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
/// The text is no JSON, of no known format, or of another shape than its format says, with the number of the line; or there is nothing
/// in it.
pub fn import(
    text: &[u8],
    format: Format,
    options: ImportOptions,
) -> Result<Imported, ImportError> {
    let text = without_byte_order_mark(text);
    let mut importer = Importer::new(format, options);
    if is_lines(text) {
        importer.lines(text)?;
    } else {
        importer.document(text)?;
    }
    importer.finish()
}

/// Returns a text without the mark that some editors put before it, and that means nothing in UTF-8.
#[must_use]
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Returns true if a text is JSON Lines and no single document: its first line is a whole value, and there are others.
///
/// A first line that merely ends too early is the first of a document that is written on many. One that is wrong in another way is a bad
/// line of a log, if one of those behind it is good.
#[must_use]
pub fn is_lines(text: &[u8]) -> bool {
    let blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let mut lines = lines(text).filter(|line| !blank(line)).take(3);
    let Some(first) = lines.next() else { return false };
    match parse(first) {
        Ok(Value::Object(_) | Value::Array(_)) => lines.next().is_some(),
        Err(error) if matches!(error.kind(), ParseErrorKind::UnexpectedEnd { .. }) => false,
        _ => lines.any(|line| parse(line).is_ok_and(|value| value.as_object().is_some())),
    }
}
