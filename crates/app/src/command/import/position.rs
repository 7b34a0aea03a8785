//! How much of a log a context has: a note beside the context, so that the log can be continued when it has grown.

use contextree::canon::{history_digest, node_digest};
use contextree::import::{Cycles, Format, ImportOptions, ImportReport};
use contextree::store::{Note, Reader};
use contextree::{Context, Hash, TreeRef};
use contextree_json::from_slice;
use serde::{Deserialize, Serialize};

use super::ImportRequest;
use crate::Error;
use crate::wire::{Word, to_value};

/// Where the note is.
const KIND: &str = "import";
const KEY: &str = "log";

/// What was read of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trace {
    /// The bytes of its whole lines.
    pub(super) bytes: u64,
    /// The bytes after its last line break.
    pub(super) rest: u64,
    /// A chain of the hashes of its whole lines.
    pub(super) hash: Hash,
}

impl Default for Trace {
    fn default() -> Self {
        Trace { bytes: 0, rest: 0, hash: Hash::of(b"") }
    }
}

impl Trace {
    /// Adds whole lines; only the last may be without a line break.
    pub(super) fn add(&mut self, text: &[u8]) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text) {
            self.hash = history_digest(self.hash, Hash::of(&text[start..=end]));
            start = end + 1;
        }
        self.bytes += start as u64;
        self.rest = (text.len() - start) as u64;
    }
}

/// How much of a log a context has, and how it was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position {
    pub(super) format: Word<Format>,
    pub(super) cycles: Word<Cycles>,
    pub(super) open: bool,
    pub(super) keep_going: bool,
    /// Whether it has lines; otherwise it is one document, which is always read as a whole.
    pub(super) is_lines: bool,
    pub(super) bytes: u64,
    pub(super) rest: u64,
    pub(super) hash: String,
    /// The digests of the newest snapshot and of the working state, so that changes by others are noticed.
    head: Option<String>,
    working: String,
    /// What was imported so far.
    pub(super) lines: u64,
    pub(super) messages: u64,
    pub(super) commits: u64,
    pub(super) calls: u64,
    pub(super) bad_lines: usize,
}

impl Position {
    /// Returns the position of a context that was just imported; `None` if it was not a log.
    pub(super) fn of(
        request: &ImportRequest,
        context: &Context,
        report: &ImportReport,
        trace: Option<Trace>,
    ) -> Option<Self> {
        let format = Word(report.format?);
        let head = context.newest().map(|head| head.digest());
        let empty = Position {
            format,
            cycles: request.cycles,
            open: request.open,
            keep_going: request.keep_going,
            is_lines: trace.is_some(),
            bytes: 0,
            rest: 0,
            hash: String::new(),
            head: None,
            working: String::new(),
            lines: 0,
            messages: 0,
            commits: 0,
            calls: 0,
            bad_lines: 0,
        };
        Some(empty.at(head, context.working(), report, trace.unwrap_or_default()))
    }

    /// Returns the position after more was imported.
    pub(super) fn at(
        &self,
        head: Option<Hash>,
        working: TreeRef<'_>,
        report: &ImportReport,
        trace: Trace,
    ) -> Self {
        Position {
            bytes: trace.bytes,
            rest: trace.rest,
            hash: trace.hash.to_string(),
            head: head.map(|head| head.to_string()),
            working: node_digest(working.root()).to_string(),
            lines: report.lines,
            messages: report.messages,
            commits: report.commits,
            calls: report.calls,
            bad_lines: report.errors.len(),
            ..self.clone()
        }
    }

    /// Reads the note of a context; `None` if it was not imported from a log.
    pub(super) fn read(reader: &Reader) -> Result<Option<Self>, Error> {
        let Some(note) = reader.side_record(KIND, KEY)? else { return Ok(None) };
        let read = from_slice(&note);
        read.map(Some).map_err(|error| {
            let message = format!("the note about the import of `{}`: {error}", reader.name());
            Error::new("E_CORRUPT", message)
        })
    }

    /// Calls `store` with the note.
    pub(super) fn write<T>(&self, store: impl FnOnce(Note<'_>) -> T) -> T {
        let value = to_value(self).to_canonical();
        store(Note { kind: KIND, key: KEY, value: &value })
    }

    /// Returns whether the context is as the import left it.
    pub(super) fn is_current(&self, reader: &Reader) -> Result<bool, Error> {
        let head = reader.newest()?.map(|head| head.digest().to_string());
        let working = node_digest(reader.working()?.view().root()).to_string();
        Ok(head == self.head && working == self.working)
    }

    /// Returns whether another position has the same context.
    pub(super) fn is_like(&self, other: &Position) -> bool {
        self.head == other.head && self.working == other.working
    }

    /// Returns the options of the import, to be continued.
    pub(super) fn options(&self) -> ImportOptions {
        ImportOptions {
            keep_going: self.keep_going,
            cycles: self.cycles.0,
            commit_last: !self.open,
        }
    }
}
