//! The importer, for documents and for logs line by line.

use std::collections::BTreeMap;

use contextree_engine::{CallOutcome, Context};
use contextree_json::{Limits, ParseError, ParseErrorKind, Scratch, Value, lines, parse};

use crate::ahead::{Line, LineReader, prepare, work_ahead};
use crate::cycles::Cycles;
use crate::detect::{Detector, Verdict};
use crate::error::{ImportError, ImportErrorKind};
use crate::format::Format;
use crate::logs::requests::{Orders, orders_of};
use crate::logs::{self, Entry, Log};
use crate::session::{Session, State};

/// Options of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// Whether to continue after a bad line and list it in the report.
    pub keep_going: bool,
    /// What becomes a cycle.
    pub cycles: Cycles,
    /// Where turns are cycles, whether to commit the last one; otherwise it stays in the head, to be
    /// continued. Where calls are cycles, what was not sent is never committed.
    pub commit_last: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions { keep_going: false, cycles: Cycles::Auto, commit_last: true }
    }
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The context.
    pub context: Context,
    /// The report.
    pub report: ImportReport,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    /// The format; `None` if there was no entry to detect it from.
    pub format: Option<Format>,
    /// The number of lines read, including empty ones.
    pub lines: u64,
    /// The number of messages added.
    pub messages: u64,
    /// The number of commits.
    pub commits: u64,
    /// The number of model calls that were recorded.
    pub calls: u64,
    /// The number of conversations started; more than one if a line did not continue the one before
    /// it.
    pub conversations: u64,
    /// The number of log entries that are not messages, by type.
    pub skipped: BTreeMap<String, u64>,
    /// What else should be known about the log, by name and number: `compaction`, `missing_parent`,
    /// `time_backwards`, `unfinished_line`.
    pub findings: BTreeMap<String, u64>,
    /// The bad lines, with [`ImportOptions::keep_going`].
    pub errors: Vec<ImportError>,
}

/// Fills a context from documents, or from a log line by line.
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
    /// The format, if it was detected.
    detected: Option<Format>,
    options: ImportOptions,
    context: Context,
    state: State,
    log: Option<Box<dyn Log + Send>>,
    detector: Detector,
    /// Entries, with their lines, that are held until the format is detected.
    waiting: Vec<(Option<u64>, Value)>,
    /// The orders of keys in each of them.
    waiting_orders: Vec<Orders>,
    report: ImportReport,
    /// Whether the last line is incomplete.
    unfinished: bool,
    scratch: Scratch,
}

impl std::fmt::Debug for Importer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Importer").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Importer {
    /// Creates an importer into a new context.
    #[must_use]
    pub fn new(format: Format, options: ImportOptions) -> Self {
        Self::into_context(Context::new(), format, options)
    }

    /// Creates an importer into an existing context. Nodes in its head become part of the first
    /// turn.
    #[must_use]
    pub fn into_context(context: Context, format: Format, options: ImportOptions) -> Self {
        Importer {
            format,
            detected: None,
            state: State::new(format, options.cycles.are_calls(format)),
            options,
            context,
            log: None,
            detector: Detector::default(),
            waiting: Vec::new(),
            waiting_orders: Vec::new(),
            report: ImportReport::default(),
            unfinished: false,
            scratch: Scratch::default(),
        }
    }

    /// Imports a line of a log. Skips empty lines.
    ///
    /// # Errors
    ///
    /// If the line is bad and [`ImportOptions::keep_going`] is not set. Nothing of the line was
    /// imported. While the format is being detected, the error may concern an earlier line.
    pub fn line(&mut self, line: &[u8]) -> Result<(), ImportError> {
        self.report.lines += 1;
        let line = without_nul(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let number = Some(self.report.lines);
        let mut rest = line;
        loop {
            match self.scratch.parse(rest, &Limits::default()) {
                Ok(value) => {
                    let orders = orders_of(self.format, &value, rest);
                    return self.entry(Entry::Value(value), orders, number);
                }
                Err(error) => match split_line(rest, &error) {
                    Some((first, others)) => {
                        let value = self.scratch.parse(first, &Limits::default());
                        let value = value.map_err(ImportErrorKind::Json);
                        match value {
                            Ok(value) => {
                                let orders = orders_of(self.format, &value, first);
                                self.entry(Entry::Value(value), orders, number)?;
                            }
                            Err(kind) => return self.note(Err(kind), number),
                        }
                        rest = others;
                    }
                    None => return self.note(Err(ImportErrorKind::Json(error)), number),
                },
            }
        }
    }

    /// Imports many lines at once. A second thread, if one can be started, reads ahead; the result
    /// is the same as importing line by line.
    ///
    /// # Errors
    ///
    /// Like [`Importer::line`]. Lines before the bad one were imported.
    pub fn lines(&mut self, text: &[u8]) -> Result<(), ImportError> {
        let repeats = self.state.window.iter().any(|placed| placed.seen.is_some());
        let mut reader = LineReader::new(self.format, self.detector.clone(), repeats);
        let read = lines(text).map(|line| reader.read(line));
        work_ahead(read, prepare, |line| {
            self.report.lines += 1;
            let number = Some(self.report.lines);
            match line {
                Line::Empty => Ok(()),
                Line::One(entry, orders) => self.entry(entry, orders, number),
                Line::Several(entries) => entries
                    .into_iter()
                    .try_for_each(|(entry, orders)| self.entry(entry, orders, number)),
                Line::Bad(error) => self.note(Err(ImportErrorKind::Json(error)), number),
            }
        })
    }

    /// Imports a whole document: a request, or a list of messages or entries.
    ///
    /// # Errors
    ///
    /// If the document is not JSON, or does not have the shape of its format.
    pub fn document(&mut self, text: &[u8]) -> Result<(), ImportError> {
        match self.scratch.parse(text, &Limits::default()) {
            Ok(value) => {
                let orders = orders_of(self.format, &value, text);
                self.entry(Entry::Value(value), orders, None)?;
                self.settle()
            }
            Err(error) => self.note(Err(ImportErrorKind::Json(error)), None),
        }
    }

    /// Imports an entry, or holds it until the format is known.
    fn entry(
        &mut self,
        entry: Entry,
        orders: Orders,
        line: Option<u64>,
    ) -> Result<(), ImportError> {
        if self.log.is_some() {
            return self.apply(entry, orders, line);
        }
        if self.format != Format::Auto {
            self.open(self.format)?;
            return self.apply(entry, orders, line);
        }
        // Only entries of a known format are read ahead.
        let Entry::Value(value) = entry else { return Ok(()) };
        let verdict = self.detector.examine(&value);
        self.waiting.push((line, value));
        self.waiting_orders.push(orders);
        self.decide(verdict)
    }

    /// Chooses the best guess of the format.
    fn settle(&mut self) -> Result<(), ImportError> {
        if self.waiting.is_empty() { Ok(()) } else { self.decide(self.detector.settle()) }
    }

    fn decide(&mut self, verdict: Verdict) -> Result<(), ImportError> {
        match verdict {
            Verdict::Wait => Ok(()),
            Verdict::Is(format) => {
                self.format = format;
                self.detected = Some(format);
                self.state = State::new(format, self.options.cycles.are_calls(format));
                self.open(format)
            }
            Verdict::Unknown => Err(unknown_format(&self.waiting)),
        }
    }

    /// Imports a value of a log, or a whole document.
    pub(crate) fn value(
        &mut self,
        value: Value,
        orders: Orders,
        line: Option<u64>,
    ) -> Result<(), ImportError> {
        self.report.lines += u64::from(line.is_some());
        self.entry(Entry::Value(value), orders, line)
    }

    /// Notes that the format was detected.
    pub(crate) fn set_detected(&mut self, detected: Option<Format>) {
        self.detected = detected;
    }

    /// Opens the reader of a format and passes it the entries that were held.
    fn open(&mut self, format: Format) -> Result<(), ImportError> {
        self.report.format = Some(format);
        self.log = Some(logs::log(format));
        let orders = std::mem::take(&mut self.waiting_orders);
        for ((line, value), orders) in std::mem::take(&mut self.waiting).into_iter().zip(orders) {
            self.apply(Entry::Value(value), orders, line)?;
        }
        Ok(())
    }

    fn apply(
        &mut self,
        entry: Entry,
        orders: Orders,
        line: Option<u64>,
    ) -> Result<(), ImportError> {
        let log = self.log.as_mut().expect("it was opened above");
        log.note_orders(orders);
        let mut session = Session { context: &mut self.context, state: &mut self.state };
        let done = log.take(entry, &mut session);
        self.note(done, line)
    }

    fn note(
        &mut self,
        done: Result<(), ImportErrorKind>,
        line: Option<u64>,
    ) -> Result<(), ImportError> {
        let Err(kind) = done else { return Ok(()) };
        let error = self.error(line, kind);
        if self.options.keep_going && line.is_some() {
            self.report.errors.push(error);
            return Ok(());
        }
        Err(error)
    }

    fn error(&self, line: Option<u64>, kind: ImportErrorKind) -> ImportError {
        ImportError { line, kind, detected: self.detected }
    }

    /// Ends the import.
    ///
    /// # Errors
    ///
    /// If there was nothing to import, the format could not be detected, or the last turn could not
    /// be committed.
    pub fn finish(mut self) -> Result<Imported, ImportError> {
        self.settle()?;
        self.end().map_err(|kind| self.error(None, kind))?;
        if self.state.is_empty() {
            let skipped = self.state.skipped.keys().cloned().collect();
            let bad = self.report.errors.len() as u64;
            return Err(self.error(None, ImportErrorKind::Empty { skipped, bad }));
        }
        let report = self.report();
        Ok(Imported { context: self.context, report })
    }

    /// Returns the import as if the log ended here, with what follows its last line break. The importer
    /// can continue: the log may still be growing.
    ///
    /// An incomplete last line is not imported, but listed as the finding `unfinished_line`.
    ///
    /// # Errors
    ///
    /// Like [`Importer::finish`].
    pub fn ended(&self, rest: &[u8]) -> Result<Imported, ImportError> {
        let mut copy = Importer {
            format: self.format,
            options: self.options.clone(),
            context: self.context.duplicate(),
            state: self.state.clone(),
            log: self.log.as_ref().map(|log| log.boxed()),
            detected: self.detected,
            detector: self.detector.clone(),
            waiting: self.waiting.clone(),
            waiting_orders: self.waiting_orders.clone(),
            report: self.report.clone(),
            unfinished: self.unfinished,
            scratch: Scratch::default(),
        };
        copy.last_line(rest)?;
        copy.finish()
    }

    /// Imports what follows the last line break of a log: a line, or the finding `unfinished_line` if
    /// the writer has not finished it, or was killed.
    ///
    /// # Errors
    ///
    /// Like [`Importer::line`].
    pub fn last_line(&mut self, rest: &[u8]) -> Result<(), ImportError> {
        let rest = without_nul(rest);
        if rest.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        if is_cut_off(rest) {
            self.unfinished = true;
            return Ok(());
        }
        self.line(rest)
    }

    /// Returns the context, for stores that take records of it while it is being filled.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    fn end(&mut self) -> Result<(), ImportErrorKind> {
        let mut session = Session { context: &mut self.context, state: &mut self.state };
        if let Some(log) = &mut self.log {
            log.end(&mut session)?;
        }
        session.end_call(CallOutcome::default(), None)?;
        if self.options.commit_last && !session.state.by_calls {
            session.commit()?;
        }
        session.settle()
    }

    /// Returns what was imported so far.
    #[must_use]
    pub fn report(&self) -> ImportReport {
        let State { counts, skipped, findings, .. } = &self.state;
        let mut findings = findings.clone();
        if self.unfinished {
            findings.insert("unfinished_line".to_owned(), 1);
        }
        ImportReport {
            messages: counts.messages,
            commits: counts.commits,
            calls: counts.calls,
            conversations: counts.conversations.max(1),
            skipped: skipped.clone(),
            findings,
            ..self.report.clone()
        }
    }
}

/// Returns the error for entries of an unknown format.
pub(crate) fn unknown_format(entries: &[(Option<u64>, Value)]) -> ImportError {
    let first = entries.first();
    let is_empty = |value: &Value| match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    };
    if entries.iter().all(|(_, value)| is_empty(value)) {
        let kind = ImportErrorKind::Empty { skipped: Vec::new(), bad: 0 };
        return ImportError { line: first.and_then(|(line, _)| *line), kind, detected: None };
    }
    let keys = first.and_then(|(_, value)| match value {
        Value::Array(list) => list.first()?.as_object(),
        value => value.as_object(),
    });
    let keys = keys.into_iter().flat_map(|it| it.keys().take(8)).map(str::to_owned);
    let kind = ImportErrorKind::UnknownFormat { keys: keys.collect() };
    ImportError { line: first.and_then(|(line, _)| *line), kind, detected: None }
}

/// Imports a text: a document, or JSON Lines.
///
/// # Errors
///
/// If the text is not JSON, its format is unknown, it does not have the shape of its format, or it
/// has no messages. Errors in JSON Lines have a line number.
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

/// Removes the byte order mark that some editors put before a text, and that means nothing in
/// UTF-8.
#[must_use]
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Splits a line with several values after the first of them: writers that are interrupted lose the
/// newline between two entries.
pub(crate) fn split_line<'a>(line: &'a [u8], error: &ParseError) -> Option<(&'a [u8], &'a [u8])> {
    let at = error.offset();
    let has_more =
        *error.kind() == ParseErrorKind::TrailingData && matches!(line.get(at), Some(b'{' | b'['));
    has_more.then(|| line.split_at(at))
}

/// Returns a line without the zero bytes that a file system may leave at the end of a file after a
/// crash.
pub(crate) fn without_nul(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &line[..end]
}

/// Returns whether the last line of a log is only the beginning of one; it may follow other values.
fn is_cut_off(line: &[u8]) -> bool {
    let mut rest = line;
    while let Err(error) = parse(rest) {
        if matches!(error.kind(), ParseErrorKind::UnexpectedEnd { .. }) {
            return true;
        }
        let Some((_, others)) = split_line(rest, &error) else { return false };
        rest = others;
    }
    false
}

/// Returns whether a text is JSON Lines, not a single document: its first line is a complete value,
/// and there are more lines.
///
/// A first line that is merely incomplete is the beginning of a document that spans lines. A first
/// line with another error is a bad line of a log, if a later line is valid.
#[must_use]
pub fn is_lines(text: &[u8]) -> bool {
    let blank = |line: &&[u8]| line.iter().all(u8::is_ascii_whitespace);
    let mut lines = lines(text).filter(|line| !blank(line)).take(3);
    let Some(first) = lines.next() else { return false };
    match parse(first) {
        Ok(Value::Object(_) | Value::Array(_)) => lines.next().is_some(),
        Err(error) if matches!(error.kind(), ParseErrorKind::UnexpectedEnd { .. }) => false,
        Err(error) if split_line(first, &error).is_some() => true,
        _ => lines.any(|line| parse(line).is_ok_and(|value| value.as_object().is_some())),
    }
}
