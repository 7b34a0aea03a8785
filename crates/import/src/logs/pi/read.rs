//! Reads an entry of a pi session: `{"type":"message","id":…,"parentId":…,"timestamp":…,"message":…}`.

use contextree_engine::{AttemptStatus, CallOutcome, CallResponse};
use contextree_json::{Object, Value, parse};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{
    Fields, Incoming, Role, Shape, mark_provider, read_message, read_part, set,
};
use contextree_tree::{Content, NewNode};

use super::super::{foreign, note};
use crate::time;

/// An entry of a session.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: Option<Box<str>>,
    pub(super) above: Above,
    pub(super) time: Option<i64>,
    pub(super) step: Step,
}

/// What precedes an entry.
#[derive(Debug)]
pub(super) enum Above {
    /// It begins a conversation.
    Nothing,
    /// The line before it, as in the first version.
    Line,
    /// The entry with this id.
    Entry(Box<str>),
}

/// The effect of an entry.
#[derive(Debug)]
pub(super) enum Step {
    /// The header of a session.
    Session(Object),
    /// Adds a message; whether the program wrote it in the name of the user.
    Message(Incoming, bool),
    /// Adds an answer of the model, which ends a call.
    Answer(Box<Answer>),
    /// Replaces what is older than the entries that are kept.
    Compaction(Incoming, Kept),
    /// Has no effect on what the model sees.
    Other(Box<str>),
}

/// The first entry that a compaction keeps.
#[derive(Debug)]
pub(super) enum Kept {
    Nothing,
    Id(Box<str>),
    /// Its position in the file, as in the first version.
    Position(usize),
}

/// An answer of the model.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) message: Incoming,
    /// What an incomplete answer said.
    pub(super) said: Option<Value>,
    pub(super) provider: Provider,
    pub(super) model: Option<Box<str>>,
    pub(super) started_at: Option<i64>,
    pub(super) outcome: CallOutcome,
    /// Why there is no complete answer.
    pub(super) failed: Option<AttemptStatus>,
}

/// Reads an entry.
pub(super) fn read(value: Value) -> Result<Entry, Shape> {
    let mut fields = Fields::of(value)?;
    let kind = fields.need_text("type")?;
    let time = fields.0.get("timestamp").and_then(time::read);
    if &*kind == "session" {
        return Ok(Entry { id: None, above: Above::Nothing, time, step: Step::Session(fields.0) });
    }
    let id = fields.take_text("id");
    let above = match fields.take("parentId") {
        Some(Value::String(above)) => Above::Entry(above),
        Some(Value::Null) => Above::Nothing,
        _ => Above::Line,
    };
    Ok(Entry { id, above, time, step: read_step(kind, fields)? })
}

fn read_step(kind: Box<str>, mut fields: Fields) -> Result<Step, Shape> {
    match &*kind {
        "message" => {
            let message = fields.take("message").unwrap_or_default();
            let message = Fields::of(message).map_err(|shape| shape.within("message"))?;
            read_spoken(message).map_err(|shape| shape.within("message"))
        }
        "custom_message" => {
            let parts = read_content(fields.take("content"), None)?;
            Ok(Step::Message(with_entry(Role::User, parts, fields.0), true))
        }
        "branch_summary" => match summary(&mut fields) {
            Some(summary) => Ok(Step::Message(summary, true)),
            None => Ok(Step::Other(kind)),
        },
        "compaction" => {
            let position = fields.0.get("firstKeptEntryIndex").and_then(Value::as_u64);
            let position = position.and_then(|it| usize::try_from(it).ok());
            let kept = match (fields.take_text("firstKeptEntryId"), position) {
                (Some(id), _) => Kept::Id(id),
                (None, Some(position)) => Kept::Position(position),
                (None, None) => Kept::Nothing,
            };
            let summary = summary(&mut fields);
            let summary = summary.ok_or_else(|| Shape::new("a string").within("summary"))?;
            Ok(Step::Compaction(summary, kept))
        }
        _ => Ok(Step::Other(kind)),
    }
}

/// Reads a summary, which the model sees as text of the user.
fn summary(fields: &mut Fields) -> Option<Incoming> {
    let text = fields.take_text("summary")?;
    let node = NewNode { content: Content::Text(text), ..NewNode::default() }.kind("summary");
    Some(with_entry(Role::User, vec![node], std::mem::take(&mut fields.0)))
}

fn read_spoken(mut fields: Fields) -> Result<Step, Shape> {
    let role = fields.need_text("role")?;
    match &*role {
        "user" => {
            let parts = read_content(fields.take("content"), None)?;
            Ok(Step::Message(with_entry(Role::User, parts, fields.0), false))
        }
        "custom" | "hookMessage" => {
            let parts = read_content(fields.take("content"), None)?;
            Ok(Step::Message(with_entry(Role::User, parts, fields.0), true))
        }
        "assistant" => Ok(Step::Answer(Box::new(read_answer(fields)?))),
        "toolResult" => {
            let mut node = read_result(&mut fields)?;
            note(&mut node, fields.0);
            Ok(Step::Message(Incoming::new(Role::Tool, vec![node]), false))
        }
        "bashExecution" => {
            let excluded = fields.0.get("excludeFromContext").and_then(Value::as_bool);
            if excluded == Some(true) {
                return Ok(Step::Other("excluded_command".into()));
            }
            let text = command_text(&fields);
            let parts = vec![text_node(text.into())];
            Ok(Step::Message(with_entry(Role::User, parts, fields.0), true))
        }
        "branchSummary" | "compactionSummary" => {
            let summary = summary(&mut fields);
            let summary = summary.ok_or_else(|| Shape::new("a string").within("summary"))?;
            Ok(Step::Message(summary, true))
        }
        _ => Ok(Step::Other(role)),
    }
}

fn with_entry(role: Role, mut parts: Vec<NewNode>, entry: Object) -> Incoming {
    if let Some(first) = parts.first_mut() {
        note(first, entry);
    }
    Incoming::new(role, parts)
}

fn read_answer(mut fields: Fields) -> Result<Answer, Shape> {
    let provider = provider_of(fields.text("api").unwrap_or_default());
    let content = fields.take("content");
    let status = match fields.text("stopReason") {
        Some("aborted") => Some(AttemptStatus::Canceled),
        Some("error") => {
            let why = fields.text("errorMessage").unwrap_or("the provider reported an error");
            Some(AttemptStatus::Error(why.to_owned()))
        }
        _ => None,
    };
    let is_said = content.as_ref().and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    let said = content.clone().filter(|_| status.is_some() && is_said);
    let parts = read_content(content, Some(provider))?;
    let number = |name: &str| fields.0.get("usage")?.get(name)?.as_u64();
    let (cache_read, cache_write) = (number("cacheRead"), number("cacheWrite"));
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    let text = |name: &str| fields.text(name).map(str::to_owned);
    let outcome = CallOutcome {
        token_in: number("input").map(|new| new.saturating_add(cached)),
        token_out: number("output"),
        response: CallResponse {
            cache_read,
            cache_write,
            model: text("model"),
            stop_reason: text("stopReason"),
            response_id: text("responseId"),
            ..CallResponse::default()
        },
    };
    let model = fields.text("model").map(Box::from);
    let started_at = fields.0.get("timestamp").and_then(time::read);
    let message = with_entry(Role::Assistant, parts, fields.0);
    Ok(Answer { message, said, provider, model, started_at, outcome, failed: status })
}

/// Returns the provider whose requests an interface sends.
fn provider_of(api: &str) -> Provider {
    match api {
        "anthropic-messages" => Provider::Anthropic,
        api if api.starts_with("bedrock") => Provider::Anthropic,
        api if api.starts_with("google") => Provider::Gemini,
        api if api.ends_with("responses") => Provider::OpenAiResponses,
        _ => Provider::OpenAiChat,
    }
}

/// Reads content; there is at least one block.
fn read_content(content: Option<Value>, provider: Option<Provider>) -> Result<Vec<NewNode>, Shape> {
    let parts = match content {
        Some(Value::String(text)) => vec![text_node(text)],
        Some(Value::Array(list)) => {
            list.into_iter().flat_map(|it| read_block(it, provider)).collect()
        }
        None | Some(Value::Null) => Vec::new(),
        _ => return Err(Shape::new("a string or a list").within("content")),
    };
    match parts.is_empty() {
        true => Ok(vec![NewNode { kind: Some("text".into()), ..NewNode::default() }]),
        false => Ok(parts),
    }
}

fn read_block(block: Value, provider: Option<Provider>) -> Vec<NewNode> {
    let kind: Box<str> = block.get("type").and_then(Value::as_str).unwrap_or_default().into();
    let text = |name: &str| block.get(name).and_then(Value::as_str).is_some();
    let known = match &*kind {
        "text" => text("text"),
        "thinking" => text("thinking"),
        "image" => text("data") && text("mimeType"),
        "toolCall" => text("id") && text("name"),
        _ => false,
    };
    let (Value::Object(object), true) = (&block, known) else { return vec![foreign("pi", block)] };
    let mut fields = Fields(object.clone());
    fields.take("type");
    let mut take = |name: &str| fields.take_text(name).unwrap_or_default();
    let node = match &*kind {
        "text" => text_node(take("text")),
        "thinking" => return read_thinking(fields, provider),
        "image" => {
            let content = Content::Text(take("data"));
            let node = NewNode { content, ..NewNode::default() }.kind("image");
            node.mime(take("mimeType")).encoding("base64")
        }
        _ => {
            let (id, name) = (take("id"), take("name"));
            let arguments = fields.take("arguments").map_or(Content::Absent, Content::from);
            let mut node = NewNode { content: arguments, ..NewNode::default() }.kind("call");
            set(&mut node, names::CALL_ID, Value::String(id));
            set(&mut node, names::NAME, Value::String(name));
            if let (Some(signature), Some(provider)) = (fields.take("thoughtSignature"), provider) {
                set(&mut node, names::SIGNATURE, signature);
                mark_provider(&mut node, provider);
            }
            node
        }
    };
    let mut node = node;
    note(&mut node, fields.0);
    vec![node]
}

/// Reads reasoning. Its signature is opaque text, except that Responses has the whole item there.
fn read_thinking(mut fields: Fields, provider: Option<Provider>) -> Vec<NewNode> {
    let text = fields.take_text("thinking").unwrap_or_default();
    let signature = fields.take_text("thinkingSignature");
    if let (Some(item), Some(Provider::OpenAiResponses)) = (&signature, provider) {
        let item = parse(item.as_bytes()).ok();
        let read = item.and_then(|item| read_message(Provider::OpenAiResponses, item).ok());
        if let Some(read) = read {
            return read.into_nodes();
        }
    }
    let mut node = NewNode { content: Content::Text(text), ..NewNode::default() }.kind("reasoning");
    // Elsewhere it is the name of the field that the text was in.
    let signed = matches!(provider, Some(Provider::Anthropic | Provider::Gemini));
    if let Some(signature) = signature {
        match signed {
            true => set(&mut node, names::SIGNATURE, Value::String(signature)),
            false => {
                fields.0.insert("thinkingSignature", Value::String(signature));
            }
        }
    }
    if let Some(provider) = provider {
        mark_provider(&mut node, provider);
    }
    note(&mut node, fields.0);
    vec![node]
}

fn read_result(fields: &mut Fields) -> Result<NewNode, Shape> {
    let id = fields.need_text("toolCallId")?;
    let content = match fields.take("content") {
        Some(Value::Array(list)) => match &*list {
            [] => Value::from(""),
            [only] if only.get("text").is_some() => only.get("text").cloned().unwrap_or_default(),
            _ => Value::Array(list.into_iter().map(as_anthropic).collect()),
        },
        Some(text @ Value::String(_)) => text,
        _ => Value::from(""),
    };
    let mut result = Object::from_iter([
        ("type", Value::from("tool_result")),
        ("tool_use_id", Value::String(id)),
        ("content", content),
    ]);
    if fields.take("isError").and_then(|it| it.as_bool()) == Some(true) {
        result.insert("is_error", Value::Bool(true));
    }
    let mut node = read_part(Provider::Anthropic, Value::Object(result));
    if let Some(name) = fields.take_text("toolName") {
        set(&mut node, names::NAME, Value::String(name));
    }
    Ok(node)
}

/// Returns a part of a result in a form that the other providers can be given.
fn as_anthropic(part: Value) -> Value {
    let (Some(data), Some(mime)) = (part.get("data"), part.get("mimeType")) else { return part };
    let source = Object::from_iter([
        ("type", Value::from("base64")),
        ("media_type", mime.clone()),
        ("data", data.clone()),
    ]);
    let image = [("type", Value::from("image")), ("source", Value::Object(source))];
    Value::Object(image.into_iter().collect())
}

/// Returns what the model is told about a command that the user ran.
fn command_text(fields: &Fields) -> String {
    let text = |name: &str| fields.text(name).unwrap_or_default();
    let is = |name: &str| fields.0.get(name).and_then(Value::as_bool) == Some(true);
    let mut told = format!("Ran `{}`\n", text("command"));
    match text("output") {
        "" => told.push_str("(no output)"),
        output => told.push_str(&format!("```\n{output}\n```")),
    }
    let code = fields.0.get("exitCode").and_then(Value::as_i64).filter(|code| *code != 0);
    if is("cancelled") {
        told.push_str("\n\n(command cancelled)");
    } else if let Some(code) = code {
        told.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if is("truncated") && !text("fullOutputPath").is_empty() {
        told.push_str(&format!("\n\n[Output truncated. Full output: {}]", text("fullOutputPath")));
    }
    told
}

fn text_node(text: Box<str>) -> NewNode {
    NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text")
}
