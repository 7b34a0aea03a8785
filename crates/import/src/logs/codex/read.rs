//! Reads an entry of a rollout: `{"timestamp":…,"type":"response_item","payload":…}`, where the
//! payload is a Responses item. The first versions wrote bare items after a session line without a
//! type.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Shape, read_message, set};
use contextree_tree::NewNode;

use crate::time;

/// An entry of a rollout.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) time: Option<i64>,
    pub(super) step: Step,
}

/// The effect of an entry.
#[derive(Debug)]
pub(super) enum Step {
    /// Adds these messages.
    Messages(Vec<Incoming>),
    /// Adds text in the name of the model that no call returned.
    Written(Vec<Incoming>),
    /// Replaces the content of `^sys`.
    Meta(Vec<NewNode>),
    /// Sets the settings of the following turns.
    Settings(Object),
    /// Counts the tokens of the call before it.
    Tokens(Tokens),
    /// Replaces all earlier messages.
    Compacted(Summary),
    /// Removes the last N user turns.
    RolledBack(u64),
    /// Has no effect on what the model sees.
    Other(Box<str>),
}

/// What was billed for a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) reasoning: Option<u64>,
    /// The total of the session.
    pub(super) total: Option<u64>,
}

/// What replaces a window.
#[derive(Debug)]
pub(super) enum Summary {
    /// These messages.
    Messages(Vec<Incoming>),
    /// A summary, after the user's messages.
    Text(Incoming),
}

/// Item types, as written by the first versions.
const ITEMS: [&str; 12] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "compaction",
];

/// Reads an entry.
pub(super) fn read(value: Value) -> Result<Entry, Shape> {
    let fields = Fields::of(value)?;
    let time = fields.0.get("timestamp").and_then(time::read);
    Ok(Entry { time, step: read_step(fields)? })
}

fn read_step(mut fields: Fields) -> Result<Step, Shape> {
    let Some(kind) = fields.take_text("type") else { return read_untyped(fields) };
    if !fields.0.contains_key("payload") && ITEMS.contains(&&*kind) {
        fields.0.insert("type", Value::String(kind));
        return Ok(Step::Messages(read_all(vec![Value::Object(fields.0)], &Object::new())?));
    }
    let payload = fields.take("payload").unwrap_or_default();
    let within = |shape: Shape| shape.within("payload");
    match &*kind {
        "response_item" => {
            if payload.get("type").and_then(Value::as_str) == Some("ghost_snapshot") {
                return Ok(Step::Other("ghost_snapshot".into()));
            }
            let id = payload.get("id").and_then(Value::as_str);
            let is_written = id.is_some_and(|id| id.starts_with("review_rollout_"));
            let messages = read_all(vec![payload], &fields.0).map_err(within)?;
            Ok(if is_written { Step::Written(messages) } else { Step::Messages(messages) })
        }
        "inter_agent_communication" => {
            let item = agent_message(Fields::of(payload).map_err(within)?);
            Ok(Step::Messages(read_all(vec![item], &fields.0).map_err(within)?))
        }
        "session_meta" => Ok(Step::Meta(read_meta(Fields::of(payload).map_err(within)?))),
        "turn_context" => Ok(match read_settings(&payload) {
            Some(settings) => Step::Settings(settings),
            None => Step::Other(kind),
        }),
        "event_msg" if payload.get("type").and_then(Value::as_str) == Some("token_count") => {
            Ok(match read_tokens(&payload) {
                Some(tokens) => Step::Tokens(tokens),
                None => Step::Other(kind),
            })
        }
        "event_msg"
            if payload.get("type").and_then(Value::as_str) == Some("thread_rolled_back") =>
        {
            let turns = payload.get("num_turns").and_then(Value::as_u64);
            let shape = || within(Shape::new("a number").within("num_turns"));
            Ok(Step::RolledBack(turns.ok_or_else(shape)?))
        }
        "compacted" => {
            read_compacted(Fields::of(payload).map_err(within)?, &fields.0).map_err(within)
        }
        _ => Ok(Step::Other(kind)),
    }
}

/// Reads a line without a type: the first line of an old rollout describes the session, others
/// record its state.
fn read_untyped(fields: Fields) -> Result<Step, Shape> {
    if let Some(kind) = fields.text("record_type") {
        return Ok(Step::Other(kind.into()));
    }
    let is_meta = fields.text("id").is_some()
        && (fields.text("timestamp").is_some() || fields.0.contains_key("instructions"));
    if is_meta {
        return Ok(Step::Meta(read_meta(fields)));
    }
    Err(Shape::new("a string").within("type"))
}

/// Reads the settings of a turn: the model, and how much it reasons.
fn read_settings(context: &Value) -> Option<Object> {
    let mut settings = Object::from_iter([("model", context.get("model")?.clone())]);
    settings.get("model")?.as_str()?;
    if let Some(effort @ Value::String(_)) = context.get("effort") {
        let reasoning = Object::from_iter([("effort", effort.clone())]);
        settings.insert("reasoning", Value::Object(reasoning));
    }
    Some(settings)
}

/// Reads a count of tokens; `None` if it only has limits of use.
fn read_tokens(payload: &Value) -> Option<Tokens> {
    let info = payload.get("info")?;
    let last = info.get("last_token_usage")?;
    let number = |name: &str| last.get(name).and_then(Value::as_u64);
    Some(Tokens {
        input: number("input_tokens"),
        cached: number("cached_input_tokens"),
        output: number("output_tokens"),
        reasoning: number("reasoning_output_tokens"),
        total: info.get("total_token_usage").and_then(|it| it.get("total_tokens")?.as_u64()),
    })
}

fn read_meta(mut meta: Fields) -> Vec<NewNode> {
    let base = meta.take("base_instructions").map(|base| match base {
        Value::Object(object) => Fields(object).take("text").unwrap_or_default(),
        base => base,
    });
    let instructions = meta.take("instructions").filter(|it| !it.is_null()).or(base);
    let entry = NewNode::container(names::REQUEST_TYPE);
    let mut nodes = vec![entry.attribute(names::ENTRY, Value::Object(meta.0))];
    let text = instructions.as_ref().and_then(Value::as_str);
    nodes.extend(text.map(|text| NewNode::text(text).kind("text")));
    nodes
}

fn read_compacted(mut payload: Fields, entry: &Object) -> Result<Step, Shape> {
    if let Some(items) = payload.take_list("replacement_history") {
        let messages =
            read_all(items, entry).map_err(|shape| shape.within("replacement_history"))?;
        return Ok(Step::Compacted(Summary::Messages(messages)));
    }
    let mut node = NewNode::text(payload.need_text("message")?).kind("summary");
    if !entry.is_empty() {
        set(&mut node, names::ENTRY, Value::Object(entry.clone()));
    }
    Ok(Step::Compacted(Summary::Text(Incoming::new(Role::User, vec![node]))))
}

/// Reads items one by one, and records on each what the log notes about it.
fn read_all(items: Vec<Value>, entry: &Object) -> Result<Vec<Incoming>, Shape> {
    let mut messages = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        // A message from another agent to the model, like a user's.
        let is_agent = item.get("type").and_then(Value::as_str) == Some("agent_message");
        let (item, id) = without_id(item);
        for item in as_input(item) {
            let within = |shape: Shape| shape.within(&format!("[{index}]"));
            if is_empty(&item).map_err(within)? {
                continue;
            }
            let mut message = read_message(Provider::OpenAiResponses, item).map_err(within)?;
            let mut entry = entry.clone();
            if let Some(id) = &id {
                entry.insert("item_id", id.clone());
            }
            if let Some(first) = message.parts.first_mut().filter(|_| !entry.is_empty()) {
                set(first, names::ENTRY, Value::Object(entry));
            }
            if is_agent {
                message.role = Role::User;
            }
            messages.push(message);
        }
    }
    Ok(messages)
}

/// Takes the id of a message, which Codex does not send. Some of its commands write the same id
/// again and again.
fn without_id(item: Value) -> (Value, Option<Value>) {
    match item {
        Value::Object(mut object)
            if object.get("type").and_then(Value::as_str) == Some("message") =>
        {
            let id = object.remove("id").filter(|id| !id.is_null());
            (Value::Object(object), id)
        }
        item => (item, None),
    }
}

/// Returns whether a message has no content, so that it could not be sent.
fn is_empty(item: &Value) -> Result<bool, Shape> {
    let kind = item.get("type").and_then(Value::as_str);
    if kind.unwrap_or("message") != "message" {
        return Ok(false);
    }
    let role = item.get("role").and_then(Value::as_str);
    role.ok_or_else(|| Shape::new("a string").within("role"))?;
    Ok(item.get("content").and_then(Value::as_array).is_some_and(<[Value]>::is_empty))
}

/// Converts a message of another agent to the item as which it is sent.
fn agent_message(mut fields: Fields) -> Value {
    let part = |kind: &str, name: &str, text: Value| {
        Value::Object(Object::from_iter([("type", Value::from(kind)), (name, text)]))
    };
    let mut content = Vec::new();
    let said = fields.take("content");
    content.extend(
        said.filter(|it| it.as_str().is_some_and(|text| !text.is_empty()))
            .map(|text| part("input_text", "text", text)),
    );
    let encrypted = fields.take("encrypted_content").filter(|it| !it.is_null());
    content.extend(encrypted.map(|it| part("encrypted_content", "encrypted_content", it)));
    let mut item = Object::from_iter([("type", Value::from("agent_message"))]);
    for name in ["author", "recipient"] {
        item.insert(name, fields.take(name).unwrap_or_default());
    }
    item.insert("content", Value::Array(content));
    Value::Object(item)
}

/// Converts an item to a form that can be sent: without null fields, and with output that lacks the
/// id of its response as plain text.
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

/// Texts that Codex sends to the model as the user's. They do not start a turn.
const CONTEXTS: [(&str, &str); 8] = [
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagents>", "</subagents>"),
    ("<subagent_notification>", "</subagent_notification>"),
];

/// Returns whether Codex sent this message as the user's, to describe the environment.
pub(super) fn is_context(message: &Incoming) -> bool {
    let is_context = |text: &str| {
        let text = text.trim();
        CONTEXTS.iter().any(|(begin, end)| text.starts_with(begin) && text.ends_with(end))
    };
    message.role == Role::User
        && message.parts.iter().any(|part| part.content.as_text().is_some_and(is_context))
}
