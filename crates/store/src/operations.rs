//! The operation log: what was done to a context, by which command, when, and what the context was before.
//!
//! An operation is a side record of the context, written in the step that it describes. It names the state before the step: the newest snapshot,
//! and the journal. The journal is stored only by a step that empties it; of any other step a count is enough, because entries are only appended
//! until then. So the log costs what the steps removed, and an operation can be undone as long as every later step is in the log.

use contextree_canon::Hash;
use contextree_json::{Number, Object, Value, parse};
use contextree_tree::Cycle;

use crate::error::{Result, StoreError};
use crate::reader::Reader;
use crate::rows::{ContextRow, Head, Revision, SideChange, SideRecord, Step};
use crate::side;

/// The kind of the side records; the key is the revision that the step made.
pub(crate) const KIND: &str = "operation";

/// How many operations a context keeps.
const KEPT: u64 = 200;

/// What kind of operation it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationKind {
    /// Commits, or changes of the working state.
    Change,
    /// Only a record of something that happened elsewhere, such as an attempt: undoing passes it.
    Note,
    /// An earlier operation was undone, and all after it.
    Undo {
        /// The oldest operation that was undone.
        operation: Revision,
    },
    /// An undo was undone.
    Redo {
        /// The undo.
        operation: Revision,
    },
}

/// One operation of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The revision that it made: its number.
    pub revision: Revision,
    /// When, in nanoseconds since 1970.
    pub at_ns: i64,
    /// The command, as its session was told: `commit`.
    pub command: String,
    /// What kind of operation it was.
    pub kind: OperationKind,
    /// The newest snapshot before it; `None` before the first commit.
    pub before: Option<Cycle>,
    /// The newest snapshot after it.
    pub after: Option<Cycle>,
    /// The context that has the commits which it took out of the history.
    pub line: Option<String>,
    pub(crate) state: Before,
}

/// What a context was before an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// The last cycle: that of the head, or of the tree before the first commit.
    pub(crate) cycle: Cycle,
    pub(crate) head: Option<Head>,
    /// True if a call was running.
    pub(crate) is_calling: bool,
    /// How many entries the journal had.
    pub(crate) entries: usize,
    /// The entries, if the operation emptied the journal.
    pub(crate) journal: Option<Vec<Vec<u8>>>,
    /// The settings, if the operation changed them.
    pub(crate) settings: Option<String>,
}

fn number(number: u64) -> Value {
    Value::Number(Number::from_u64(number))
}

fn key(revision: Revision) -> String {
    format!("{:020}", revision.get())
}

impl Operation {
    /// Adds this operation to the step that it describes, and removes the one that is too old.
    pub(crate) fn note(&self, step: &mut Step) {
        let value = Some(side::seal(&self.write()));
        step.side.push(SideChange { kind: KIND.to_owned(), key: key(self.revision), value });
        if let Some(old) = self.revision.get().checked_sub(KEPT) {
            let (kind, key) = (KIND.to_owned(), key(Revision(old)));
            step.side.push(SideChange { kind, key, value: None });
        }
    }

    /// Removes this operation from the log.
    pub(crate) fn forget(&self, step: &mut Step) {
        let key = key(self.revision);
        step.side.push(SideChange { kind: KIND.to_owned(), key, value: None });
    }

    fn write(&self) -> Vec<u8> {
        let mut header = Object::new();
        header.insert("at", Value::Number(Number::from_i64(self.at_ns)));
        header.insert("command", Value::from(self.command.as_str()));
        let (kind, target) = match self.kind {
            OperationKind::Change => ("change", None),
            OperationKind::Note => ("note", None),
            OperationKind::Undo { operation } => ("undo", Some(operation)),
            OperationKind::Redo { operation } => ("redo", Some(operation)),
        };
        header.insert("kind", Value::from(kind));
        if let Some(target) = target {
            header.insert("target", number(target.get()));
        }
        if let Some(after) = self.after {
            header.insert("after", number(u64::from(after)));
        }
        let Before { cycle, head, is_calling, entries, journal, settings } = &self.state;
        header.insert("cycle", number(u64::from(*cycle)));
        if let Some(head) = head {
            header.insert("digest", Value::from(Hash(head.digest).to_string().as_str()));
        }
        header.insert("calling", Value::Bool(*is_calling));
        header.insert("entries", number(*entries as u64));
        header.insert("emptied", Value::Bool(journal.is_some()));
        for (name, text) in [("line", &self.line), ("settings", settings)] {
            if let Some(text) = text {
                header.insert(name, Value::from(text.as_str()));
            }
        }
        let header = Value::Object(header).to_canonical();
        let mut out = Vec::new();
        for part in std::iter::once(&header).chain(journal.iter().flatten()) {
            out.extend_from_slice(&(part.len() as u64).to_le_bytes());
            out.extend_from_slice(part);
        }
        out
    }

    fn read(record: &SideRecord, value: &[u8]) -> Option<Operation> {
        let mut parts = Vec::new();
        let mut rest = value;
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk::<8>()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (part, after) = after.split_at_checked(length)?;
            parts.push(part);
            rest = after;
        }
        let (header, journal) = parts.split_first()?;
        let header = parse(header).ok()?;
        let text = |name: &str| header.get(name).and_then(Value::as_str).map(str::to_owned);
        let count = |name: &str| header.get(name).and_then(Value::as_u64);
        let cycle = Cycle(u32::try_from(count("cycle")?).ok()?);
        let head = match text("digest") {
            Some(digest) => Some(Head { cycle, digest: digest.parse::<Hash>().ok()?.0 }),
            None => None,
        };
        let target = count("target").map(Revision);
        let emptied = header.get("emptied")?.as_bool()?;
        Some(Operation {
            revision: Revision(record.key.parse().ok()?),
            at_ns: header.get("at")?.as_i64()?,
            command: text("command")?,
            kind: match text("kind")?.as_str() {
                "change" => OperationKind::Change,
                "note" => OperationKind::Note,
                "undo" => OperationKind::Undo { operation: target? },
                "redo" => OperationKind::Redo { operation: target? },
                _ => return None,
            },
            before: head.map(|head| head.cycle),
            after: count("after").and_then(|after| u32::try_from(after).ok().map(Cycle)),
            line: text("line"),
            state: Before {
                cycle,
                head,
                is_calling: header.get("calling")?.as_bool()?,
                entries: usize::try_from(count("entries")?).ok()?,
                journal: emptied.then(|| journal.iter().map(|entry| entry.to_vec()).collect()),
                settings: text("settings"),
            },
        })
    }
}

impl Reader {
    /// Returns what was done to the context, oldest first: the steps of sessions that were told their command
    /// ([`Session::set_command`](crate::Session::set_command)). Retention forgets them.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, or is damaged.
    pub fn operations(&self) -> Result<Vec<Operation>> {
        let ContextRow { id, revision, name, .. } = self.row();
        let records = self.lease.shared.backend.side_records(*id, Some(KIND))?;
        let read = |record: &SideRecord| -> Result<Operation> {
            let value = side::check(name, record)?;
            Operation::read(record, value).ok_or_else(|| side::damaged(name, KIND, &record.key))
        };
        let mut operations = records.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        operations.retain(|operation| operation.revision <= *revision);
        Ok(operations)
    }

    /// Returns the operation that a step of this state is.
    pub(crate) fn operation(
        &self,
        command: &str,
        kind: OperationKind,
        step: &Step,
    ) -> Result<Operation> {
        let state = &self.state;
        let row = &state.row;
        let cycle = match row.head {
            Some(head) => head.cycle,
            None => state.place().checkpoint(Cycle::MAX)?.cycle,
        };
        let empties = !step.commits.is_empty() || step.reset_journal;
        Ok(Operation {
            revision: row.revision.next(),
            at_ns: step.now_ns,
            command: command.to_owned(),
            kind,
            before: row.head.map(|head| head.cycle),
            after: step.head.or(row.head).map(|head| head.cycle),
            line: None,
            state: Before {
                cycle,
                head: row.head,
                is_calling: state.running().is_some(),
                entries: state.journal.len(),
                journal: empties.then(|| state.journal.iter().cloned().collect()),
                settings: step.settings.as_ref().map(|_| row.settings.clone()),
            },
        })
    }
}
