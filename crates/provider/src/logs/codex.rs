//! Rollouts of Codex: `{"timestamp":…,"type":"response_item","payload":…}`, where the payload is an item of Responses.
//!
//! Items of the model in a row are one message. A compaction begins a new window: what was before is dropped from the tree with the next
//! commit, and stays in the history.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::{Object, Value};

use super::Log;
use crate::import::{Fields, ImportErrorKind, Incoming, Session, set};
use crate::openai_responses::read_items;
use crate::parts::{Role, names};

/// Reads rollouts.
#[derive(Default)]
pub(crate) struct Codex {
    /// What the model does in a row.
    open: Option<Incoming>,
}

impl Codex {
    fn take(
        &mut self,
        items: Vec<Value>,
        entry: &Object,
        session: &mut Session,
    ) -> Result<(), ImportErrorKind> {
        for (_, mut message) in read_items(items, 0)? {
            if !entry.is_empty()
                && let Some(first) = message.parts.first_mut()
            {
                set(first, names::ENTRY, Value::Object(entry.clone()));
            }
            match &mut self.open {
                Some(open) if message.role == Role::Assistant => open.parts.extend(message.parts),
                _ => {
                    self.flush(session)?;
                    if message.role == Role::Assistant {
                        self.open = Some(message);
                    } else {
                        session.message(message)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self, session: &mut Session) -> Result<(), ImportErrorKind> {
        match self.open.take() {
            Some(message) => session.message(message),
            None => Ok(()),
        }
    }
}

impl Log for Codex {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        if let Value::Array(entries) = value {
            return entries.into_iter().try_for_each(|entry| self.entry(entry, session, skipped));
        }
        let mut fields = Fields::of(value)?;
        let kind = fields.need_text("type")?;
        let payload = fields.take("payload").unwrap_or_default();
        match &*kind {
            "response_item" => {
                let item = payload.get("type").and_then(Value::as_str).unwrap_or_default();
                if item == "ghost_snapshot" {
                    *skipped.entry(item.to_owned()).or_default() += 1;
                    return Ok(());
                }
                self.take(as_input(payload), &fields.0, session)
            }
            "session_meta" => {
                let instructions = payload.get("instructions").or_else(|| {
                    payload.get("base_instructions").map(|it| it.get("text").unwrap_or(it))
                });
                let instructions = instructions.and_then(Value::as_str).map(str::to_owned);
                let mut meta = Fields::of(payload)?;
                meta.take("instructions");
                meta.take("base_instructions");
                let entry = NewNode::container(names::REQUEST_TYPE);
                let mut nodes = vec![entry.attribute(names::ENTRY, Value::Object(meta.0))];
                nodes.extend(instructions.map(|text| NewNode::text(text).kind("text")));
                session.system(nodes)
            }
            "compacted" => {
                self.flush(session)?;
                session.begin_window()?;
                let mut payload = Fields::of(payload)?;
                match payload.take_list("replacement_history") {
                    Some(items) => {
                        let items = items.into_iter().flat_map(as_input).collect();
                        self.take(items, &fields.0, session)
                    }
                    None => {
                        let text = payload.take_text("message").unwrap_or_default();
                        let node = NewNode::text(text).kind("summary");
                        session.message(Incoming::new(Role::User, vec![node]))
                    }
                }
            }
            other => {
                *skipped.entry(other.to_owned()).or_default() += 1;
                Ok(())
            }
        }
    }

    fn end(
        &mut self,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        self.flush(session)
    }
}

/// Brings an item to the form in which it can be sent: fields that are `null` are not there, and what the model said without the id
/// of its answer is plain text.
fn as_input(item: Value) -> Vec<Value> {
    let Value::Object(object) = item else { return vec![item] };
    let mut fields = Fields(object.into_iter().filter(|(_, value)| !value.is_null()).collect());
    let text = |part: &Value| Some(part.get("text")?.as_str()?.to_owned());
    let is_plain = fields.text("role") == Some("assistant") && fields.text("id").is_none();
    let content = fields.0.get("content").and_then(Value::as_array).unwrap_or_default();
    let texts: Option<Vec<String>> = content.iter().map(text).collect();
    match texts.filter(|texts| is_plain && !texts.is_empty()) {
        Some(texts) => {
            fields.take("content");
            let message = |text| {
                let mut message = fields.0.clone();
                message.insert("content", Value::from(text));
                Value::Object(message)
            };
            texts.into_iter().map(message).collect()
        }
        None => vec![Value::Object(fields.0)],
    }
}
