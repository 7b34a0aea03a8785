//! Takes an entry apart into conversations, or finds the conversation that it belongs to.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::read::{Fields, Role, is_request, provider_of_answer, role_of};

use crate::fingerprint::{Fingerprint, Unmarked, fingerprint};
use crate::format::Format;
use crate::logs::requests::exchange::{entries_of, is_exchange, request_in};

/// Where an entry belongs.
pub(super) enum Place {
    /// To the conversation of the entry before it.
    Current,
    /// To a conversation of its own.
    New,
    /// To the conversation with this key.
    Keyed(Fingerprint),
}

/// Takes an entry apart.
pub(super) fn units(format: Format, value: Value) -> Vec<(Place, Value)> {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic | Format::Gemini => {
            of_provider(format.provider(), value)
        }
        Format::ClaudeCode => vec![(keyed(value.get("sessionId")), value)],
        Format::Codex => {
            let meta = value.get("type").and_then(Value::as_str) == Some("session_meta");
            let id = value.get("payload").and_then(|payload| payload.get("id"));
            vec![(keyed(id.filter(|_| meta)), value)]
        }
        Format::GeminiCli => {
            let id = value.get("sessionId").filter(|_| value.get("type").is_none());
            vec![(keyed(id), value)]
        }
        Format::Pi => {
            let is_header = value.get("type").and_then(Value::as_str) == Some("session");
            let place =
                if is_header || value.as_array().is_some() { Place::New } else { Place::Current };
            vec![(place, value)]
        }
        Format::OTel | Format::Auto => vec![(Place::Current, value)],
        Format::LangChain
        | Format::ShareGpt
        | Format::SweAgent
        | Format::PlainChat
        | Format::Flat => of_messages(value),
    }
}

fn keyed(id: Option<&Value>) -> Place {
    id.map_or(Place::Current, |id| Place::Keyed(fingerprint(id)))
}

/// The fields that hold the messages of a conversation.
const LISTS: [&str; 5] = ["messages", "conversations", "conversation", "history", "trajectory"];

/// Takes lists of conversations apart. A list of messages is one conversation.
fn of_messages(value: Value) -> Vec<(Place, Value)> {
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(is_conversation) => {
            list.into_iter().flat_map(of_messages).collect()
        }
        Value::Array(_) => vec![(Place::New, value)],
        Value::Object(mut object) => match object.remove("simulations") {
            Some(Value::Array(list)) => list.into_iter().flat_map(of_messages).collect(),
            Some(other) => {
                object.insert("simulations", other);
                vec![(Place::Current, Value::Object(object))]
            }
            None => {
                let value = Value::Object(object);
                let place = if is_conversation(&value) { Place::New } else { Place::Current };
                vec![(place, value)]
            }
        },
        value => vec![(Place::Current, value)],
    }
}

fn is_conversation(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        value => LISTS.iter().any(|name| value.get(name).is_some()),
    }
}

/// Takes requests, exchanges and lists of messages apart.
fn of_provider(provider: Provider, value: Value) -> Vec<(Place, Value)> {
    let field = provider.messages_field();
    let is_whole = |value: &Value| match value {
        Value::Array(_) => true,
        Value::Object(object) => is_request(provider, object) || is_exchange(object),
        _ => false,
    };
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(is_whole) => {
            list.into_iter().flat_map(|value| of_provider(provider, value)).collect()
        }
        Value::Array(_) => vec![(Place::New, value)],
        Value::Object(mut object) => {
            if let Some(entries) = take_entries(&mut object) {
                return entries.into_iter().flat_map(|it| of_provider(provider, it)).collect();
            }
            let place = match request_in(&object) {
                Some(request) => key_of(provider, &request),
                None if !is_request(provider, &object) => Place::Current,
                None if provider_of_answer(&Value::Object(object.clone())).is_some() => {
                    Place::Current
                }
                // A row of a data set, as opposed to a request that was sent.
                None if ends_with_answer(&object, field) && !object.contains_key("model") => {
                    Place::New
                }
                None => key_of(provider, &Value::Object(object.clone())),
            };
            vec![(place, Value::Object(object))]
        }
        value => vec![(Place::Current, value)],
    }
}

/// Takes the entries of a HAR file.
fn take_entries(object: &mut Object) -> Option<Vec<Value>> {
    entries_of(object)?;
    match object.remove("log") {
        Some(Value::Object(log)) => Fields(log).take_list("entries"),
        _ => None,
    }
}

fn ends_with_answer(object: &Object, field: &str) -> bool {
    let last = object.get(field).and_then(|list| list.as_array()?.last());
    role_in(last).is_some_and(|role| role == Role::Assistant)
}

fn role_in(message: Option<&Value>) -> Option<Role> {
    message?.get("role")?.as_str().map(role_of)
}

/// Returns the place of a request: its first message is the key of its conversation. System text may
/// change from one request to the next.
fn key_of(provider: Provider, request: &Value) -> Place {
    let first = match request.get(provider.messages_field()) {
        Some(Value::Array(list)) => {
            list.iter().find(|message| role_in(Some(message)) != Some(Role::System))
        }
        other => other,
    };
    first.map_or(Place::Current, |first| {
        Place::Keyed(Unmarked::take(provider, &mut first.clone()).fingerprint)
    })
}
