//! Reads lines ahead on a second thread, which also prepares items when the consumer cannot keep
//! up.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use contextree_json::{Limits, ParseError, Scratch, Value};

use crate::detect::{Detector, Verdict};
use crate::format::Format;
use crate::importer::{split_line, without_nul};
use crate::logs::requests::{Orders, orders_of};
use crate::logs::{Entry, read_ahead};

/// The number of items in a batch, and the number of batches that the channel holds.
const BATCH: usize = 64;
const WAITING: usize = 16;

/// Passes items to `take` in order. A second thread, if one can be started, produces them, and
/// prepares them while many are queued. Preparing an item only reduces the work left for `take`.
///
/// # Errors
///
/// If `take` fails for an item. Later items are not taken.
pub(crate) fn work_ahead<T: Send, E>(
    items: impl Iterator<Item = T> + Send,
    prepare: impl Fn(&mut T) + Send,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, receiver) = sync_channel(WAITING);
    // Taken by whichever thread produces the items: the second one, or this one if it could not be
    // started.
    let items = Mutex::new(Some(items));
    let items = &|| items.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::scope(|scope| {
        // The sender moves into the thread, so the channel closes when the thread ends.
        let work = move || items().map(|items| send_all(items, prepare, &sender));
        if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
            return items().into_iter().flatten().try_for_each(take);
        }
        receiver.into_iter().flatten().try_for_each(&mut take)
    })
}

/// Sends items until there are no more or the receiver is gone.
fn send_all<T>(
    mut items: impl Iterator<Item = T>,
    prepare: impl Fn(&mut T),
    sender: &SyncSender<Vec<T>>,
) {
    loop {
        let batch: Vec<T> = items.by_ref().take(BATCH).collect();
        let is_last = batch.len() < BATCH;
        let sent = match sender.try_send(batch) {
            Err(TrySendError::Full(mut batch)) => {
                batch.iter_mut().for_each(&prepare);
                sender.send(batch).is_ok()
            }
            done => done.is_ok(),
        };
        if is_last || !sent {
            return;
        }
    }
}

/// The result of reading a line.
pub(super) enum Line {
    Empty,
    One(Entry, Orders),
    /// The writer lost newlines.
    Several(Vec<(Entry, Orders)>),
    Bad(ParseError),
}

/// Reads lines, each as far as possible without the lines before it.
pub(super) struct LineReader {
    format: Format,
    detector: Detector,
    /// Whether the log contains requests. They repeat the conversation, so a line cannot be read
    /// without the lines before it.
    repeats: bool,
    scratch: Scratch,
}

impl LineReader {
    /// Creates a reader for a format. If the format has to be detected, lines are only parsed up to
    /// the one that decides, because the consumer has to detect the same format.
    pub(super) fn new(format: Format, detector: Detector, repeats: bool) -> Self {
        LineReader { format, detector, repeats, scratch: Scratch::default() }
    }

    pub(super) fn read(&mut self, line: &[u8]) -> Line {
        let line = without_nul(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return Line::Empty;
        }
        let mut entries = Vec::new();
        let mut rest = line;
        loop {
            match self.scratch.parse(rest, &Limits::default()) {
                Ok(value) => {
                    let (entry, orders) = self.entry(value, rest);
                    if entries.is_empty() {
                        return Line::One(entry, orders);
                    }
                    entries.push((entry, orders));
                    return Line::Several(entries);
                }
                Err(error) => {
                    let first = split_line(rest, &error);
                    let Some((first, others)) = first else { return Line::Bad(error) };
                    match self.scratch.parse(first, &Limits::default()) {
                        Ok(value) => entries.push(self.entry(value, first)),
                        Err(error) => return Line::Bad(error),
                    }
                    rest = others;
                }
            }
        }
    }

    fn entry(&mut self, value: Value, text: &[u8]) -> (Entry, Orders) {
        let orders = orders_of(self.format, &value, text);
        (self.read_ahead(value), orders)
    }

    fn read_ahead(&mut self, value: Value) -> Entry {
        if self.format == Format::Auto {
            if let Verdict::Is(format) = self.detector.examine(&value) {
                self.format = format;
            }
            self.repeats |= value.get("role").is_none();
            return Entry::Value(value);
        }
        // The entries of a session never repeat each other.
        if self.repeats && self.format != Format::ClaudeCode {
            return Entry::Value(value);
        }
        let entry = read_ahead(self.format, value);
        self.repeats |= matches!(entry, Entry::Value(_));
        entry
    }
}

/// Hashes the content of a line ahead of time, if it is a message.
pub(super) fn prepare(line: &mut Line) {
    let hash = |entry: &mut Entry| match entry {
        Entry::Message { message, .. } => message.hash_contents(),
        Entry::Claude(line) => line.hash_content(),
        Entry::Value(_) | Entry::Bad(_) => {}
    };
    match line {
        Line::One(entry, _) => hash(entry),
        Line::Several(entries) => entries.iter_mut().for_each(|(entry, _)| hash(entry)),
        Line::Empty | Line::Bad(_) => {}
    }
}
