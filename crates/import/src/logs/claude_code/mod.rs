//! Reads Claude Code sessions: a tree of entries, in which the branch with the newest leaf is the
//! conversation.
//!
//! Entries are collected until the end of the log, because only then is that branch known;
//! [`chain`] finds it. One answer of the model is written as several entries with the same message
//! id, and parallel calls and their results are on branches of their own; both are merged again.
//! Entries without the field `parentUuid`, as in the output stream of the command line, follow each
//! other.

mod chain;

use std::collections::{BTreeMap, HashMap};

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, read_spoken, set};

use super::Log;
use crate::ahead::work_ahead;
use crate::error::ImportErrorKind;
use crate::session::{Session, settings_node};
use chain::Kept;

/// Reads sessions.
#[derive(Default)]
pub(crate) struct ClaudeCode {
    entries: Vec<Entry>,
    /// The position of each entry by id. A session that was resumed or compacted may repeat
    /// entries.
    places: HashMap<Box<str>, usize>,
}

/// An entry that is part of the tree.
struct Entry {
    uuid: Box<str>,
    parent: Option<Box<str>>,
    /// The type under which it is counted if it is not a message.
    name: Box<str>,
    /// Whether it belongs to a subagent.
    aside: bool,
    /// Whether it can be the end of the conversation.
    may_end: bool,
    /// The id of the model's answer.
    answer: Option<Box<str>>,
    model: Option<Box<str>>,
    calls: Vec<Box<str>>,
    results: Vec<Box<str>>,
    /// The entries that a compaction kept.
    kept: Option<Kept>,
    message: Option<Incoming>,
}

impl Entry {
    /// Returns whether it consists of tool results only.
    fn is_results(&self) -> bool {
        self.message.as_ref().is_some_and(is_results)
    }
}

/// A message merged from several entries.
struct Joined {
    answer: Option<Box<str>>,
    model: Option<Box<str>>,
    message: Incoming,
}

impl Log for ClaudeCode {
    fn entry(
        &mut self,
        value: Value,
        _session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let list = match value {
            Value::Array(list) => list,
            entry => vec![entry],
        };
        // Read everything before keeping the first entry, so that a bad list adds nothing.
        let read: Vec<Read> = list.into_iter().map(read).collect::<Result<_, _>>()?;
        for entry in read {
            match entry {
                Read::Entry { entry, follows } => self.keep(*entry, follows),
                Read::Other(name) => count(skipped, &name),
            }
        }
        Ok(())
    }

    fn end(
        &mut self,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let mut entries = std::mem::take(&mut self.entries);
        // On its own, the log of a subagent is an ordinary conversation.
        let is_main = |entry: &Entry| entry.message.is_some() && !entry.aside;
        if entries.iter().any(is_main) {
            for entry in entries.iter_mut().filter(|entry| entry.aside) {
                entry.message = None;
                entry.may_end = false;
                entry.name = "sidechain".into();
            }
        }
        let order = chain::conversation(&entries);
        let nothing = entries.iter().filter(|entry| entry.message.is_none());
        nothing.for_each(|entry| count(skipped, &entry.name));
        let mut messages: Vec<Joined> = Vec::new();
        for index in order {
            let entry = &mut entries[index];
            let Some(message) = entry.message.take() else { continue };
            let (answer, model) = (entry.answer.take(), entry.model.take());
            match messages.last_mut() {
                Some(last) if last.continues(answer.as_deref(), &message) => {
                    last.model = last.model.take().or(model);
                    last.message.parts.extend(message.parts);
                }
                _ => messages.push(Joined { answer, model, message }),
            }
        }
        for _ in entries.iter().filter(|entry| entry.message.is_some()) {
            count(skipped, "other_branch");
        }
        drop(entries);
        let prepare = |joined: &mut Joined| joined.message.hash_contents();
        work_ahead(messages.into_iter(), prepare, |joined| {
            if let Some(model) = joined.model {
                let settings = Object::from_iter([("model", Value::String(model))]);
                session.system(vec![settings_node(settings, Provider::Anthropic)])?;
            }
            session.message(joined.message)
        })
    }
}

impl ClaudeCode {
    /// Keeps an entry. A repeated entry replaces the first.
    fn keep(&mut self, mut entry: Entry, follows: bool) {
        if let Some(place) = self.places.get(&entry.uuid) {
            let before = &mut self.entries[*place];
            if follows {
                entry.parent = before.parent.take();
            }
            *before = entry;
            return;
        }
        if entry.uuid.is_empty() {
            entry.uuid = format!("#{}", self.entries.len()).into();
        }
        if follows {
            entry.parent = self.entries.last().map(|last| last.uuid.clone());
        }
        self.places.insert(entry.uuid.clone(), self.entries.len());
        self.entries.push(entry);
    }
}

impl Joined {
    /// Returns whether an entry belongs to this message: the same answer, or results next to
    /// results.
    fn continues(&self, answer: Option<&str>, next: &Incoming) -> bool {
        match (self.message.role, next.role) {
            (Role::Assistant, Role::Assistant) => {
                answer.is_some() && self.answer.as_deref() == answer
            }
            (Role::Assistant, _) | (_, Role::Assistant) => false,
            _ => is_results(&self.message) && is_results(next),
        }
    }
}

/// The kinds of lines.
enum Read {
    /// An entry of the tree, and whether it follows the entry before it because it has no parent
    /// field.
    Entry {
        entry: Box<Entry>,
        follows: bool,
    },
    Other(Box<str>),
}

fn read(value: Value) -> Result<Read, ImportErrorKind> {
    let mut fields = Fields::of(value)?;
    let flag = |name: &str| fields.0.get(name).and_then(Value::as_bool) == Some(true);
    let kind = fields.text("type").unwrap_or("unknown");
    let message = fields.0.get("message").filter(|it| it.as_object().is_some());
    let model = message.and_then(|it| it.get("model")?.as_str()).map(Box::<str>::from);
    // An error message of the program in place of an answer.
    let name = match kind {
        "assistant" if flag("isApiErrorMessage") => "api_error",
        "assistant" if model.as_deref() == Some("<synthetic>") => "synthetic",
        "assistant" | "user" if message.is_some_and(is_empty) => "empty",
        kind => kind,
    };
    let is_message = matches!(name, "user" | "assistant") && message.is_some();
    let uuid = fields.text("uuid").unwrap_or_default();
    if uuid.is_empty() && !is_message {
        return Ok(Read::Other(name.into()));
    }
    let begins = fields.text("subtype") == Some("compact_boundary");
    let asked_by = fields.0.get("parent_tool_use_id").is_some_and(|it| !it.is_null());
    let mut entry = Entry {
        uuid: uuid.into(),
        parent: fields.text("parentUuid").map(Box::from),
        name: name.into(),
        aside: flag("isSidechain") || asked_by,
        may_end: is_message && !flag("isMeta") && !fields.0.contains_key("teamName"),
        answer: None,
        model: model.filter(|_| is_message && kind == "assistant"),
        calls: Vec::new(),
        results: Vec::new(),
        kept: if begins { Kept::read(&fields.0) } else { None },
        message: None,
    };
    let follows = !begins && !fields.0.contains_key("parentUuid");
    if is_message {
        read_message(&mut fields, &mut entry)?;
    }
    Ok(Read::Entry { entry: Box::new(entry), follows })
}

fn read_message(fields: &mut Fields, entry: &mut Entry) -> Result<(), ImportErrorKind> {
    let mut message = Fields(fields.take_object("message").unwrap_or_default());
    let answer = message.text("id").map(Box::from);
    let mut read = read_spoken(&mut message).map_err(|shape| shape.within("message"))?;
    entry.answer = answer.filter(|_| read.role == Role::Assistant);
    for part in &read.parts {
        let id = part.attributes.iter().find(|(name, _)| name == names::CALL_ID);
        let id = id.and_then(|(_, id)| id.as_str()).map(Box::<str>::from);
        match part.kind.as_deref() {
            Some("call") => entry.calls.extend(id),
            Some("result") => entry.results.extend(id),
            _ => {}
        }
    }
    let mut log = std::mem::take(&mut fields.0);
    if !message.0.is_empty() {
        log.insert("message", Value::Object(message.0));
    }
    if let Some(first) = read.parts.first_mut() {
        set(first, names::ENTRY, Value::Object(log));
    }
    entry.message = Some(read);
    Ok(())
}

/// Returns whether a message has no content, so that it could not be sent.
fn is_empty(message: &Value) -> bool {
    message.get("content").and_then(Value::as_array).is_some_and(<[Value]>::is_empty)
}

fn is_results(message: &Incoming) -> bool {
    message.role != Role::Assistant
        && message.parts.iter().all(|part| part.kind.as_deref() == Some("result"))
}

fn count(skipped: &mut BTreeMap<String, u64>, name: &str) {
    *skipped.entry(name.to_owned()).or_default() += 1;
}
