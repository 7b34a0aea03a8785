//! Imports a file with many conversations, each into a context of its own.
//!
//! What a conversation is depends on the format ([`units`]): a row of a data set, a file of results
//! with many simulations, a session. Requests belong to the conversation whose first message they
//! share, so that the requests of agents that work side by side are taken apart.

mod units;

use contextree_engine::Context;
use contextree_json::{Limits, Scratch, Value};

use crate::detect::{Detector, Verdict};
use crate::error::{ImportError, ImportErrorKind};
use crate::fingerprint::Fingerprint;
use crate::format::Format;
use crate::importer::{ImportOptions, Imported, Importer, split_line, unknown_format};
use crate::logs::requests::{Orders, orders_of};
use units::{Place, units};

/// What was imported from a file with many conversations.
#[derive(Debug, Default)]
pub struct Split {
    /// The conversations, in the order of their beginnings.
    pub conversations: Vec<Imported>,
    /// The number of conversations without messages.
    pub empty: u64,
    /// The bad lines, with [`ImportOptions::keep_going`].
    pub errors: Vec<ImportError>,
}

/// Fills a context for each conversation of a document, or of a log line by line.
///
/// ```
/// use contextree_import::{Format, ImportOptions, Splitter};
/// use contextree_engine::Context;
///
/// let mut splitter = Splitter::new(Format::Auto, ImportOptions::default(), Context::new);
/// splitter.line(br#"{"conversations":[{"from":"human","value":"Hi"}]}"#)?;
/// splitter.line(br#"{"conversations":[{"from":"human","value":"Hello"}]}"#)?;
/// assert_eq!(splitter.finish()?.conversations.len(), 2);
/// # Ok::<(), contextree_import::ImportError>(())
/// ```
pub struct Splitter<'a> {
    format: Format,
    detected: Option<Format>,
    options: ImportOptions,
    new_context: Box<dyn FnMut() -> Context + 'a>,
    detector: Detector,
    /// Entries, with their lines, that are held until the format is detected.
    waiting: Vec<(Option<u64>, Value)>,
    /// The orders of keys in each of them.
    waiting_orders: Vec<Orders>,
    parts: Vec<Part>,
    /// The part that entries belong to which do not say.
    current: Option<usize>,
    lines: u64,
    errors: Vec<ImportError>,
    scratch: Scratch,
}

/// A conversation that is being imported.
struct Part {
    importer: Importer,
    /// What its entries have in common.
    key: Option<Fingerprint>,
}

impl std::fmt::Debug for Splitter<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Splitter").field("parts", &self.parts.len()).finish_non_exhaustive()
    }
}

impl<'a> Splitter<'a> {
    /// Creates a splitter; `new_context` makes the context of each conversation.
    pub fn new(
        format: Format,
        options: ImportOptions,
        new_context: impl FnMut() -> Context + 'a,
    ) -> Self {
        Splitter {
            format,
            detected: None,
            options,
            new_context: Box::new(new_context),
            detector: Detector::default(),
            waiting: Vec::new(),
            waiting_orders: Vec::new(),
            parts: Vec::new(),
            current: None,
            lines: 0,
            errors: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Imports a line of a log. Skips empty lines.
    ///
    /// # Errors
    ///
    /// If the line is bad and [`ImportOptions::keep_going`] is not set.
    pub fn line(&mut self, line: &[u8]) -> Result<(), ImportError> {
        self.lines += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let number = Some(self.lines);
        let mut rest = line;
        loop {
            let (value, others) = match self.scratch.parse(rest, &Limits::default()) {
                Ok(value) => (Ok(value), None),
                Err(error) => match split_line(rest, &error) {
                    Some((first, others)) => {
                        (self.scratch.parse(first, &Limits::default()), Some(others))
                    }
                    None => (Err(error), None),
                },
            };
            match value {
                Ok(value) => {
                    let end = rest.len() - others.map_or(0, <[u8]>::len);
                    let orders = orders_of(self.format, &value, &rest[..end]);
                    self.value(value, orders, number)?;
                }
                Err(error) => return self.note(ImportErrorKind::Json(error), number),
            }
            match others {
                Some(others) => rest = others,
                None => return Ok(()),
            }
        }
    }

    /// Imports a whole document.
    ///
    /// # Errors
    ///
    /// If the document is not JSON, or does not have the shape of its format.
    pub fn document(&mut self, text: &[u8]) -> Result<(), ImportError> {
        match self.scratch.parse(text, &Limits::default()) {
            Ok(value) => {
                let orders = orders_of(self.format, &value, text);
                self.value(value, orders, None)?;
                self.settle()
            }
            Err(error) => self.note(ImportErrorKind::Json(error), None),
        }
    }

    /// Ends the import.
    ///
    /// # Errors
    ///
    /// If there was nothing to import, or the format could not be detected.
    pub fn finish(mut self) -> Result<Split, ImportError> {
        self.settle()?;
        let mut split = Split { errors: self.errors, ..Split::default() };
        let mut nothing = None;
        for part in self.parts {
            match part.importer.finish() {
                Ok(imported) => split.conversations.push(imported),
                Err(error) if matches!(error.kind, ImportErrorKind::Empty { .. }) => {
                    split.empty += 1;
                    nothing = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if split.conversations.is_empty() {
            let bad = split.errors.len() as u64;
            let kind = ImportErrorKind::Empty { skipped: Vec::new(), bad };
            let none = ImportError { line: None, kind, detected: self.detected };
            return Err(nothing.filter(|_| bad == 0).unwrap_or(none));
        }
        Ok(split)
    }

    fn value(
        &mut self,
        value: Value,
        orders: Orders,
        line: Option<u64>,
    ) -> Result<(), ImportError> {
        if self.format != Format::Auto {
            return self.take(value, orders, line);
        }
        let verdict = self.detector.examine(&value);
        self.waiting.push((line, value));
        self.waiting_orders.push(orders);
        self.decide(verdict)
    }

    fn settle(&mut self) -> Result<(), ImportError> {
        if self.waiting.is_empty() { Ok(()) } else { self.decide(self.detector.settle()) }
    }

    fn decide(&mut self, verdict: Verdict) -> Result<(), ImportError> {
        match verdict {
            Verdict::Wait => return Ok(()),
            Verdict::Unknown => return Err(unknown_format(&self.waiting)),
            Verdict::Is(format) => {
                self.format = format;
                self.detected = Some(format);
            }
        }
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let orders = std::mem::take(&mut self.waiting_orders);
        waiting.zip(orders).try_for_each(|((line, value), orders)| self.take(value, orders, line))
    }

    /// Passes an entry to the conversations that it belongs to.
    fn take(&mut self, value: Value, orders: Orders, line: Option<u64>) -> Result<(), ImportError> {
        let units = units(self.format, value);
        // The places of requests are those in the whole entry.
        let mut orders = if units.len() == 1 { orders } else { Vec::new() };
        for (place, value) in units {
            let at = match place {
                Place::Current => self.current.unwrap_or_else(|| self.begin(None)),
                Place::New => self.begin(None),
                Place::Keyed(key) => {
                    let known = self.parts.iter().rposition(|part| part.key == Some(key));
                    known.unwrap_or_else(|| self.begin(Some(key)))
                }
            };
            self.current = Some(at);
            let done = self.parts[at].importer.value(value, std::mem::take(&mut orders), line);
            if let Err(error) = done {
                self.note(error.kind, line)?;
            }
        }
        Ok(())
    }

    /// Begins a conversation, and returns its position.
    fn begin(&mut self, key: Option<Fingerprint>) -> usize {
        // Bad lines are listed here, for all conversations.
        let options = ImportOptions { keep_going: false, ..self.options.clone() };
        let context = (self.new_context)();
        let mut importer = Importer::into_context(context, self.format, options);
        importer.set_detected(self.detected);
        self.parts.push(Part { importer, key });
        self.parts.len() - 1
    }

    fn note(&mut self, kind: ImportErrorKind, line: Option<u64>) -> Result<(), ImportError> {
        let error = ImportError { line, kind, detected: self.detected };
        if self.options.keep_going && line.is_some() {
            self.errors.push(error);
            return Ok(());
        }
        Err(error)
    }
}
