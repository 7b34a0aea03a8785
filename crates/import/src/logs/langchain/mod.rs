//! Reads LangChain messages: `{"type":"human","data":{…}}`,
//! `{"lc":1,"id":[…,"HumanMessage"],"kwargs":{…}}`, or the bare fields of a message, including its
//! type.

mod blocks;
mod calls;
mod results;
mod runs;

use contextree_engine::{CallOutcome, CallResponse};
use contextree_json::Value;
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Shape};
use contextree_tree::NewNode;

use super::note;
use crate::session::CallInfo;
use calls::Calls;

pub(super) use runs::{Run, is_run, read_runs};

/// Takes the list out of an entry that has one: messages, the state of a graph, or a prompt value.
pub(super) fn take_messages(value: Value) -> Result<Vec<Value>, Value> {
    let is_list = |value: &Value| value.as_array().is_some();
    match value {
        Value::Array(list) => Ok(list),
        Value::Object(object) if object.get("messages").is_some_and(is_list) => {
            Ok(Fields(object).take_list("messages").unwrap_or_default())
        }
        Value::Object(mut object) => {
            let kwargs = object.get("kwargs").and_then(|it| it.get("messages"));
            if !kwargs.is_some_and(is_list) {
                return Err(Value::Object(object));
            }
            let kwargs = object.remove("kwargs").and_then(|it| Fields::of(it).ok());
            Ok(kwargs.unwrap_or_default().take_list("messages").unwrap_or_default())
        }
        other => Err(other),
    }
}

/// Reads a message; `None` if it only removes another message.
pub(super) fn read_message(message: Value) -> Result<Option<Incoming>, Shape> {
    let mut outer = Fields::of(message)?;
    let (word, mut fields) = if outer.0.contains_key("lc") {
        let class = outer.take_list("id").unwrap_or_default();
        let class = class.last().and_then(Value::as_str).unwrap_or_default().to_owned();
        let kwargs = outer.take_object("kwargs");
        (class, Fields(kwargs.ok_or_else(|| Shape::new("an object").within("kwargs"))?))
    } else {
        let word: String = outer.need_text("type")?.into();
        let data = outer.take_object("data").map(Fields);
        let alone = outer.0.contains_key("content").then_some(outer);
        let shape = || Shape::new("an object").within("data");
        (word, data.or(alone).ok_or_else(shape)?)
    };
    let word = word.trim_end_matches("Chunk").trim_end_matches("Message").to_ascii_lowercase();
    if word == "remove" {
        return Ok(None);
    }
    let spoken = fields.text("role").map(str::to_owned);
    let role = role_of(&word, spoken.as_deref()).ok_or_else(|| Shape::new("a known message"))?;
    let mut parts =
        if role == Role::Tool { vec![results::read(&mut fields)] } else { read_parts(&mut fields) };
    if parts.is_empty() {
        parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() });
    }
    fields.take("type");
    note(&mut parts[0], fields.0);
    Ok(Some(Incoming::new(role, parts)))
}

/// Returns what a message says about the call that it ended.
pub(super) fn call_of(message: &Incoming) -> CallInfo {
    let first = message.parts.first().map(|part| &part.attributes);
    let entry = first.into_iter().flatten().find(|(name, _)| name == names::ENTRY);
    let Some((_, entry)) = entry else { return CallInfo::default() };
    let usage = |path: [&str; 2]| match path {
        ["", name] => entry.get("usage_metadata")?.get(name)?.as_u64(),
        [inner, name] => entry.get("usage_metadata")?.get(inner)?.get(name)?.as_u64(),
    };
    let said = |names: [&str; 2]| {
        let metadata = entry.get("response_metadata")?;
        let found = names.into_iter().find_map(|name| metadata.get(name)?.as_str());
        found.map(str::to_owned)
    };
    let model = said(["model_name", "model"]);
    let response = CallResponse {
        cache_read: usage(["input_token_details", "cache_read"]),
        cache_write: usage(["input_token_details", "cache_creation"]),
        reasoning: usage(["output_token_details", "reasoning"]),
        stop_reason: said(["finish_reason", "stop_reason"]),
        response_id: entry.get("id").and_then(Value::as_str).map(str::to_owned),
        model: model.clone(),
        ..CallResponse::default()
    };
    let outcome = CallOutcome {
        token_in: usage(["", "input_tokens"]),
        token_out: usage(["", "output_tokens"]),
        response,
    };
    let provider = message.parts.first().and_then(|_| provider_in(entry));
    CallInfo {
        model: model.map(Into::into),
        provider,
        outcome: Some(Box::new(outcome)),
        ..CallInfo::default()
    }
}

fn role_of(word: &str, spoken: Option<&str>) -> Option<Role> {
    match word {
        "human" => Some(Role::User),
        "ai" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "tool" | "function" => Some(Role::Tool),
        "chat" => Some(contextree_provider::read::role_of(spoken.unwrap_or("user"))),
        _ => None,
    }
}

fn read_parts(fields: &mut Fields) -> Vec<NewNode> {
    let provider = provider_of(fields);
    let mut calls = Calls::take(fields);
    let mut parts = Vec::new();
    match fields.take("content") {
        Some(Value::String(text)) if text.is_empty() && !calls.is_empty() => {}
        Some(Value::String(text)) => parts.push(blocks::text_node(text)),
        Some(Value::Array(list)) => {
            let mut before = None;
            for block in blocks::joined(list) {
                let goes_on = blocks::goes_on(before.as_ref(), &block);
                let kept = block.get("annotations").is_some().then(|| block.clone());
                let node = calls.read_block(&block);
                let node = node.unwrap_or_else(|| blocks::read(block, provider));
                parts.push(if goes_on { blocks::joined_to_last(node) } else { node });
                before = kept;
            }
        }
        _ => {}
    }
    parts.extend(calls.rest());
    parts
}

/// Returns the provider of a message, if recorded. Signatures and reasoning of OpenAI come from
/// Responses.
fn provider_of(fields: &Fields) -> Option<Provider> {
    provider_named(fields.0.get("response_metadata")?)
}

fn provider_in(entry: &Value) -> Option<Provider> {
    provider_named(entry.get("response_metadata")?)
}

fn provider_named(metadata: &Value) -> Option<Provider> {
    match metadata.get("model_provider")?.as_str()? {
        "anthropic" => Some(Provider::Anthropic),
        "openai" => Some(Provider::OpenAiResponses),
        name if name.starts_with("google") => Some(Provider::Gemini),
        _ => None,
    }
}
