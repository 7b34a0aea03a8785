//! Reads one entry of a session log.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Usage, read_spoken, read_usage, set};
use contextree_tree::Cycle;

use super::attachments;
use crate::error::ImportErrorKind;
use crate::time;

/// A line of a session log.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// An entry of the tree.
    Entry(Box<Entry>),
    /// Not part of the tree; counted under this name.
    Other(Box<str>),
}

/// An entry of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(super) uuid: Box<str>,
    pub(super) above: Above,
    pub(super) session: Option<Box<str>>,
    /// The type under which it is counted if it is not a message.
    pub(super) name: Box<str>,
    /// Whether it belongs to a subagent.
    pub(super) aside: bool,
    /// Whether it can be the end of the conversation.
    pub(super) may_end: bool,
    /// Whether the program wrote a user message, not the user.
    pub(super) is_context: bool,
    /// Whether everything before it was summarized.
    pub(super) is_boundary: bool,
    /// Whether it is the summary.
    pub(super) is_summary: bool,
    /// The calls whose results the program left out of the requests that follow, if it did.
    pub(super) cleared: Option<Vec<Box<str>>>,
    pub(super) time: Option<i64>,
    /// What the log says about thinking in the calls that serve this prompt: its settings, or that
    /// it is off.
    pub(super) thinking: Option<Thinking>,
    /// The model's answer that it is a part of.
    pub(super) answer: Option<Answer>,
    pub(super) calls: Vec<Box<str>>,
    pub(super) results: Vec<Box<str>>,
    /// The entries that a compaction kept.
    pub(super) kept: Option<Kept>,
    pub(super) body: Body,
    /// The position of its message in the window, while it is part of it.
    pub(super) group: Option<usize>,
}

/// What precedes an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Above {
    /// It begins a conversation.
    Nothing,
    /// The entry with this id.
    Entry(Box<str>),
    /// The entry at this position; set while the tree is put together.
    At(usize),
    /// The line before it, as in the output stream of the command line.
    Line,
}

/// Whether the calls for a prompt think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Thinking {
    #[default]
    Off,
    /// With this many tokens at most, if that is known.
    On(Option<u64>),
}

impl Thinking {
    /// Reads what a program wrote beside a prompt: `{"maxThinkingTokens":31999}`, before 2.1.19
    /// `{"level":"high","disabled":false,"triggers":[]}`.
    fn read(metadata: &Value) -> Option<Self> {
        metadata.as_object()?;
        if let Some(tokens) = metadata.get("maxThinkingTokens").and_then(Value::as_u64) {
            return Some(if tokens > 0 { Thinking::On(Some(tokens)) } else { Thinking::Off });
        }
        let is_disabled = metadata.get("disabled").and_then(Value::as_bool) == Some(true);
        let level = metadata.get("level").and_then(Value::as_str).unwrap_or("none");
        let triggers = metadata.get("triggers").and_then(Value::as_array).unwrap_or_default();
        let is_on = !is_disabled && (level != "none" || !triggers.is_empty());
        Some(if is_on { Thinking::On(None) } else { Thinking::Off })
    }

    /// Returns the setting of the request; `None` if it has none.
    pub(super) fn setting(self) -> Option<Value> {
        let Thinking::On(tokens) = self else { return None };
        let mut setting = Object::from_iter([("type", Value::from("enabled"))]);
        if let Some(tokens) = tokens {
            setting.insert("budget_tokens", Value::from(tokens));
        }
        Some(Value::Object(setting))
    }
}

/// The content of an entry.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// It has none.
    Nothing,
    /// A message that was not added yet.
    Message(Incoming),
    /// A message that was added to the context, in this cycle, as these nodes.
    Added { role: Role, cycle: Cycle, nodes: Vec<String> },
}

/// What an entry says about the answer that it is a part of.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// Empty if the log does not tell which entries are one answer.
    pub(super) id: Box<str>,
    pub(super) model: Option<Box<str>>,
    pub(super) usage: Usage,
    pub(super) request_id: Option<Box<str>>,
}

/// The entries that a compaction kept: they follow the anchor, which is the summary.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) anchor: Box<str>,
    pub(super) which: Which,
}

#[derive(Clone, Debug)]
pub(super) enum Which {
    /// These entries, in this order.
    List(Vec<Box<str>>),
    /// All entries from the first to the last, linked by their parents.
    Segment { first: Box<str>, last: Box<str> },
}

impl Line {
    /// Hashes the content ahead of time.
    pub(crate) fn hash_content(&mut self) {
        if let Line::Entry(entry) = self
            && let Body::Message(message) = &mut entry.body
        {
            message.hash_contents();
        }
    }
}

impl Entry {
    /// Returns whether it has a message.
    pub(super) fn is_message(&self) -> bool {
        !matches!(self.body, Body::Nothing)
    }

    /// Returns whether the user said it, so that it can be the end of the conversation.
    pub(super) fn is_prompt(&self) -> bool {
        self.may_end && !self.aside && !self.is_results() && self.answer.is_none()
    }

    /// Returns whether the program began to think anew: with each text of the user, but not with the
    /// results of tools, nor with the summary of a compaction.
    pub(super) fn sets_thinking(&self) -> bool {
        let of_user = match &self.body {
            Body::Message(message) => message.role == Role::User,
            _ => false,
        };
        of_user && !self.is_results() && !self.is_summary && &*self.name == "user"
    }

    /// Returns whether the model thought in it.
    pub(super) fn has_thinking(&self) -> bool {
        match &self.body {
            Body::Message(message) => {
                message.parts.iter().any(|part| part.kind.as_deref() == Some("reasoning"))
            }
            _ => false,
        }
    }

    /// Returns whether it consists of tool results only.
    pub(super) fn is_results(&self) -> bool {
        match &self.body {
            Body::Nothing => false,
            Body::Message(message) => {
                message.role != Role::Assistant
                    && message.parts.iter().all(|part| part.kind.as_deref() == Some("result"))
            }
            Body::Added { role, nodes, .. } => {
                *role != Role::Assistant && self.results.len() == nodes.len()
            }
        }
    }
}

/// Reads a line.
pub(crate) fn read(value: Value) -> Result<Line, ImportErrorKind> {
    let mut fields = Fields::of(value)?;
    let flag = |name: &str| fields.0.get(name).and_then(Value::as_bool) == Some(true);
    let kind = fields.text("type").unwrap_or("unknown");
    let message = fields.0.get("message").filter(|it| it.as_object().is_some());
    let model = message.and_then(|it| it.get("model")?.as_str());
    // An error message of the program in place of an answer.
    let name = match kind {
        "assistant" if flag("isApiErrorMessage") => "api_error",
        "assistant" if model == Some("<synthetic>") => "synthetic",
        "assistant" | "user" if message.is_some_and(is_empty) => "empty",
        kind => kind,
    };
    let is_message = matches!(name, "user" | "assistant") && message.is_some();
    let uuid = fields.text("uuid").unwrap_or_default();
    if uuid.is_empty() && !is_message {
        return Ok(Line::Other(name.into()));
    }
    let is_boundary = fields.text("subtype") == Some("compact_boundary");
    let asked_by = fields.0.get("parent_tool_use_id").is_some_and(|it| !it.is_null());
    let mut entry = Box::new(Entry {
        uuid: uuid.into(),
        above: match fields.text("parentUuid") {
            Some(parent) => Above::Entry(parent.into()),
            None if is_boundary || fields.0.contains_key("parentUuid") => Above::Nothing,
            None => Above::Line,
        },
        session: fields.text("sessionId").or(fields.text("session_id")).map(Box::from),
        name: name.into(),
        aside: flag("isSidechain") || asked_by,
        may_end: is_message && !flag("isMeta") && !fields.0.contains_key("teamName"),
        is_context: flag("isMeta") || flag("isCompactSummary"),
        is_boundary,
        is_summary: flag("isCompactSummary"),
        cleared: (fields.text("subtype") == Some("microcompact_boundary"))
            .then(|| cleared_calls(&fields.0)),
        time: fields.0.get("timestamp").and_then(time::read),
        thinking: fields.0.get("thinkingMetadata").and_then(Thinking::read),
        answer: None,
        calls: Vec::new(),
        results: Vec::new(),
        kept: if is_boundary { Kept::read(&fields.0) } else { None },
        body: Body::Nothing,
        group: None,
    });
    if is_message {
        read_message(&mut fields, &mut entry)?;
    } else if name == "attachment" {
        attachments::read(&mut fields, &mut entry)?;
    }
    Ok(Line::Entry(entry))
}

fn read_message(fields: &mut Fields, entry: &mut Entry) -> Result<(), ImportErrorKind> {
    let mut message = Fields(fields.take_object("message").unwrap_or_default());
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
    let about = Value::Object(message.0);
    if read.role == Role::Assistant {
        // Some proxies leave out the id of the answer. The request has one, too.
        let id = about.get("id").and_then(Value::as_str).or(fields.text("requestId"));
        entry.answer = Some(Answer {
            id: id.unwrap_or_default().into(),
            model: about.get("model").and_then(Value::as_str).map(Box::from),
            usage: read_usage(Provider::Anthropic, &about),
            request_id: fields.text("requestId").map(Box::from),
        });
    }
    // What the program shows of a result. The model saw the result itself, and this often has the whole file again.
    fields.take("toolUseResult");
    let mut log = std::mem::take(&mut fields.0);
    if about.as_object().is_some_and(|about| !about.is_empty()) {
        log.insert("message", about);
    }
    if let Some(first) = read.parts.first_mut() {
        set(first, names::ENTRY, Value::Object(log));
    }
    entry.body = Body::Message(read);
    Ok(())
}

/// Returns the calls whose results are left out from here on. Streams use another spelling.
fn cleared_calls(entry: &Object) -> Vec<Box<str>> {
    let about = entry.get("microcompactMetadata").or_else(|| entry.get("microcompact_metadata"));
    let ids = about.and_then(|about| {
        about.get("compactedToolIds").or_else(|| about.get("compacted_tool_ids"))?.as_array()
    });
    ids.into_iter().flatten().filter_map(|id| Some(id.as_str()?.into())).collect()
}

/// Returns whether a message has no content, so that it could not be sent.
fn is_empty(message: &Value) -> bool {
    message.get("content").and_then(Value::as_array).is_some_and(<[Value]>::is_empty)
}

impl Kept {
    /// Reads the kept entries from the entry that records a compaction. Streams use another
    /// spelling.
    fn read(entry: &Object) -> Option<Self> {
        let (either, text) = (
            |value: &Value, one: &str, other: &str| {
                value.get(one).or_else(|| value.get(other)).cloned()
            },
            |value: Option<Value>| Some(Box::<str>::from(value?.as_str()?)),
        );
        let all = entry.get("compactMetadata").or_else(|| entry.get("compact_metadata"))?;
        let anchor = |it: &Value| text(either(it, "anchorUuid", "anchor_uuid"));
        if let Some(kept) = either(all, "preservedMessages", "preserved_messages")
            && let Some(list) = kept.get("uuids").and_then(Value::as_array)
        {
            let list = list.iter().filter_map(|it| Some(it.as_str()?.into())).collect();
            return Some(Kept { anchor: anchor(&kept)?, which: Which::List(list) });
        }
        let kept = either(all, "preservedSegment", "preserved_segment")?;
        let first = text(either(&kept, "headUuid", "head_uuid"))?;
        let last = text(either(&kept, "tailUuid", "tail_uuid"))?;
        Some(Kept { anchor: anchor(&kept)?, which: Which::Segment { first, last } })
    }
}
