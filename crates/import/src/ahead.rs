//! Working ahead: a second thread makes what this one takes, and does a part of its work when this one is behind.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use contextree_json::{Limits, ParseError, Scratch};

use crate::detect::{Detector, Verdict};
use crate::format::Format;
use crate::logs::{Entry, read_ahead};

/// How many items go from one thread to the other at once, and how many times that may wait there.
const BATCH: usize = 64;
const WAITING: usize = 16;

/// Takes items in their order. A second thread, if there can be one, makes them, and prepares them whenever many wait to be taken. To
/// prepare an item changes nothing but how much is left to do with it.
///
/// # Errors
///
/// An item could not be taken. Those behind it are not.
pub(crate) fn work_ahead<T: Send, E>(
    items: impl Iterator<Item = T> + Send,
    prepare: impl Fn(&mut T) + Send,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (sender, receiver) = sync_channel(WAITING);
    // Whoever makes the items takes them out: the second thread, or this one if there is no other.
    let items = Mutex::new(Some(items));
    let items = &|| items.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::scope(|scope| {
        // Its end of the way goes with it: when it is done, nothing more comes.
        let work = move || items().map(|items| send_all(items, prepare, &sender));
        if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
            return items().into_iter().flatten().try_for_each(take);
        }
        receiver.into_iter().flatten().try_for_each(&mut take)
    })
}

/// Sends items, until there are no more or nobody listens.
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

/// What came of a line; nothing if it is empty.
pub(super) type Line = Option<Result<Entry, ParseError>>;

/// Reads lines, each as far as it can be read without those before it.
pub(super) struct LineReader {
    format: Format,
    detector: Detector,
    /// There are requests, which repeat what was said: nothing in such a log can be read without what is before it.
    repeats: bool,
    scratch: Scratch,
}

impl LineReader {
    /// Returns a reader of a format. If that is to be found out, lines are only parsed up to the one that decides: the one who takes them
    /// has to find out the same.
    pub(super) fn new(format: Format, detector: Detector, repeats: bool) -> Self {
        LineReader { format, detector, repeats, scratch: Scratch::default() }
    }

    pub(super) fn read(&mut self, line: &[u8]) -> Line {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let value = match self.scratch.parse(line, &Limits::default()) {
            Ok(value) => value,
            Err(error) => return Some(Err(error)),
        };
        if self.format == Format::Auto {
            if let Verdict::Is(format) = self.detector.look(&value) {
                self.format = format;
            }
            return Some(Ok(Entry::Value(value)));
        }
        let entry = match self.repeats {
            true => Entry::Value(value),
            false => read_ahead(self.format, value),
        };
        self.repeats |= matches!(entry, Entry::Value(_));
        Some(Ok(entry))
    }
}

/// Hashes what a line says, if it is a message.
pub(super) fn prepare(line: &mut Line) {
    if let Some(Ok(Entry::Message(message))) = line {
        message.hash_contents();
    }
}
