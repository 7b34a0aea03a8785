//! Sessions of Claude Code: a tree of entries, of which the branch with the newest leaf is the conversation.
//!
//! Entries are collected until the end of the log, because only then it is known which branch that is. One answer of the model is
//! written as several entries with the same message id, and parallel calls and their results hang on branches of their own; both are
//! put together again.

use std::collections::{BTreeMap, HashMap, HashSet};

use contextree_json::Value;

use super::Log;
use crate::anthropic::read_spoken;
use crate::import::{Fields, ImportErrorKind, Incoming, Session, set, work_ahead};
use crate::parts::{Role, names};

/// Reads sessions.
#[derive(Default)]
pub(crate) struct ClaudeCode {
    entries: Vec<Entry>,
}

/// An entry that is part of the tree.
struct Entry {
    uuid: Box<str>,
    parent: Option<Box<str>>,
    /// It may be the end of the conversation.
    may_end: bool,
    /// The id of the model's answer.
    answer: Option<Box<str>>,
    calls: Vec<Box<str>>,
    results: Vec<Box<str>>,
    message: Option<Incoming>,
}

impl Log for ClaudeCode {
    fn entry(
        &mut self,
        value: Value,
        _session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        if let Value::Array(entries) = value {
            return entries.into_iter().try_for_each(|entry| self.collect(entry, skipped));
        }
        self.collect(value, skipped)
    }

    fn end(
        &mut self,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let entries = std::mem::take(&mut self.entries);
        let wanted = conversation(&entries);
        let mut messages: Vec<(Option<Box<str>>, Incoming)> = Vec::new();
        for (entry, wanted) in entries.into_iter().zip(wanted) {
            let Some(message) = entry.message else { continue };
            if !wanted {
                *skipped.entry("other_branch".to_owned()).or_default() += 1;
                continue;
            }
            match messages.last_mut() {
                Some((answer, last))
                    if continues(answer.as_deref(), last, entry.answer.as_deref(), &message) =>
                {
                    last.parts.extend(message.parts);
                }
                _ => messages.push((entry.answer, message)),
            }
        }
        let messages = messages.into_iter().map(|(_, message)| message);
        work_ahead(messages, Incoming::hash_contents, |message| session.message(message))
    }
}

impl ClaudeCode {
    fn collect(
        &mut self,
        value: Value,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let mut fields = Fields::of(value)?;
        let kind = fields.text("type").unwrap_or("unknown");
        let flag =
            |fields: &Fields, name: &str| fields.0.get(name).and_then(Value::as_bool) == Some(true);
        let aside = flag(&fields, "isSidechain");
        let is_message = matches!(kind, "user" | "assistant")
            && fields.0.get("message").is_some_and(|it| it.as_object().is_some())
            && !aside;
        if !is_message {
            let name = if aside { "sidechain" } else { kind };
            *skipped.entry(name.to_owned()).or_default() += 1;
        }
        let uuid = fields.text("uuid").map(Box::from);
        if uuid.is_none() && !is_message {
            return Ok(());
        }
        let may_end = is_message && !flag(&fields, "isMeta") && !fields.0.contains_key("teamName");
        let parent = match fields.text("parentUuid") {
            Some(parent) => Some(parent.into()),
            // Entries of a log without ids follow each other.
            None if uuid.is_none() => self.entries.last().map(|last| last.uuid.clone()),
            None => None,
        };
        let uuid = uuid.unwrap_or_else(|| format!("#{}", self.entries.len()).into());
        let mut entry = Entry {
            uuid,
            parent,
            may_end,
            answer: None,
            calls: Vec::new(),
            results: Vec::new(),
            message: None,
        };
        if is_message {
            read(&mut fields, &mut entry)?;
        }
        self.entries.push(entry);
        Ok(())
    }
}

/// True if an entry belongs to the message before it: the same answer, or results beside results.
fn continues(
    answer: Option<&str>,
    last: &Incoming,
    next_answer: Option<&str>,
    next: &Incoming,
) -> bool {
    let results = |message: &Incoming| {
        message.role != Role::Assistant
            && message.parts.iter().all(|part| part.kind.as_deref() == Some("result"))
    };
    match (last.role, next.role) {
        (Role::Assistant, Role::Assistant) => answer.is_some() && answer == next_answer,
        (Role::Assistant, _) | (_, Role::Assistant) => false,
        _ => results(last) && results(next),
    }
}

fn read(fields: &mut Fields, entry: &mut Entry) -> Result<(), ImportErrorKind> {
    let mut message = Fields(fields.take_object("message").unwrap_or_default());
    entry.answer = message.text("id").map(Box::from);
    let mut read = read_spoken(&mut message).map_err(|shape| shape.within("message"))?;
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

/// Says of every entry whether it is of the newest branch, or belongs to a call there. Sets and maps are asked by name alone, so that
/// their order shows nowhere.
fn conversation(entries: &[Entry]) -> Vec<bool> {
    let by_id: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(index, entry)| (&*entry.uuid, index)).collect();
    let mut wanted = vec![false; entries.len()];
    let mut next = entries.iter().rposition(|entry| entry.may_end);
    while let Some(index) = next {
        if std::mem::replace(&mut wanted[index], true) {
            break;
        }
        next = entries[index].parent.as_deref().and_then(|parent| by_id.get(parent).copied());
    }
    let answers: HashSet<&str> = entries
        .iter()
        .zip(&wanted)
        .filter(|(_, wanted)| **wanted)
        .filter_map(|(entry, _)| entry.answer.as_deref())
        .collect();
    let mut calls = HashSet::new();
    for (entry, wanted) in entries.iter().zip(&mut wanted) {
        if entry.answer.as_deref().is_some_and(|answer| answers.contains(answer)) {
            *wanted = true;
            calls.extend(entry.calls.iter().map(|id| &**id));
        }
    }
    let answered: HashSet<&str> = entries
        .iter()
        .zip(&wanted)
        .filter(|(_, wanted)| **wanted)
        .flat_map(|(entry, _)| entry.results.iter().map(|id| &**id))
        .collect();
    for (entry, wanted) in entries.iter().zip(&mut wanted) {
        let missing = |id: &str| calls.contains(id) && !answered.contains(id);
        *wanted |= !entry.results.is_empty() && entry.results.iter().all(|id| missing(id));
    }
    wanted
}
