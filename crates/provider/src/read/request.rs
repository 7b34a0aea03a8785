//! Reads requests, messages and model responses of every provider.

use contextree_json::{Object, Value};
use contextree_tree::NewNode;

use super::{Fields, Incoming, Shape, set};
use crate::Provider;
use crate::parts::{Role, names};
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// A request that was taken apart.
#[derive(Debug, Default)]
pub struct Request {
    /// Its settings: all fields that are not listed below.
    pub settings: Object,
    /// Its tool definitions.
    pub tools: Vec<NewNode>,
    /// Its system text.
    pub system: Vec<NewNode>,
    /// Its messages or items, unchanged.
    pub messages: Vec<Value>,
}

/// Reads a request.
///
/// # Errors
///
/// If the fields are not those of a request of this provider.
pub fn read_request(provider: Provider, fields: Fields) -> Result<Request, Shape> {
    match provider {
        Provider::OpenAiChat => openai_chat::read_request(fields),
        Provider::OpenAiResponses => openai_responses::read_request(fields),
        Provider::Anthropic => anthropic::read_request(fields),
        Provider::Gemini => gemini::read_request(fields),
    }
}

/// Returns whether a document of a provider is a request, as opposed to a single message.
#[must_use]
pub fn is_request(provider: Provider, object: &Object) -> bool {
    match provider {
        // An item has a type or a role, or consists of an id. A call of a custom tool has an
        // `input` as well.
        Provider::OpenAiResponses => {
            let is_reference = object.len() == 1 && object.contains_key("id");
            let is_item = object.contains_key("type") || object.contains_key("role");
            !is_item && !is_reference && !object.is_empty()
        }
        _ => object.contains_key(provider.messages_field()),
    }
}

/// Reads one message of a provider, or one item of Responses.
///
/// Also reads a complete response of Anthropic or Gemini; [`read_answer`] does so for every
/// provider.
///
/// # Errors
///
/// If the document is not a message of this provider.
pub fn read_message(provider: Provider, document: Value) -> Result<Incoming, Shape> {
    match provider {
        Provider::OpenAiChat => openai_chat::read_message(document),
        Provider::OpenAiResponses => openai_responses::read_item(document),
        Provider::Anthropic => anthropic::read_message(document),
        Provider::Gemini => gemini::read_content(document),
    }
}

/// Reads messages, each with the position of its first entry. No message spans the position
/// `known`.
///
/// # Errors
///
/// If one of them is not a message of this provider.
pub fn read_messages(
    provider: Provider,
    messages: Vec<Value>,
    known: usize,
) -> Result<Vec<(usize, Incoming)>, Shape> {
    let one_by_one = |read: fn(Value) -> Result<Incoming, Shape>, messages: Vec<Value>| {
        let read = |(index, message): (usize, Value)| match read(message) {
            Ok(message) => Ok((index, message)),
            Err(shape) => Err(shape.within(&format!("[{index}]"))),
        };
        messages.into_iter().enumerate().map(read).collect()
    };
    match provider {
        Provider::OpenAiChat => one_by_one(openai_chat::read_message, messages),
        Provider::OpenAiResponses => openai_responses::read_items(messages, known),
        Provider::Anthropic => one_by_one(anthropic::read_message, messages),
        Provider::Gemini => one_by_one(gemini::read_content, messages),
    }
}

/// Reads one part of a provider's message.
#[must_use]
pub fn read_part(provider: Provider, part: Value) -> NewNode {
    match provider {
        Provider::OpenAiChat => openai_chat::read_part(part),
        Provider::OpenAiResponses => openai_responses::read_part(part),
        Provider::Anthropic => anthropic::read_part(part),
        Provider::Gemini => gemini::read_part(part),
    }
}

/// Reads a model response: the complete document that the provider returned, or only its message.
///
/// Reads the first of several choices or candidates. Metadata (id, usage) is kept in the attribute
/// [`names::ENTRY`] of the first block.
///
/// ```
/// use contextree_provider::{Provider, read_answer};
///
/// let answer = br#"{"id":"r1","choices":[{"message":{"role":"assistant","content":"It will."}}]}"#;
/// let answer = read_answer(Provider::OpenAiChat, contextree_json::parse(answer)?)?;
/// assert_eq!(answer.parts.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the document is not a response of this provider.
pub fn read_answer(provider: Provider, document: Value) -> Result<Incoming, Shape> {
    match (provider, document) {
        (Provider::OpenAiChat, Value::Object(answer)) if answer.contains_key("choices") => {
            read_choice(answer)
        }
        (Provider::OpenAiResponses, Value::Object(answer)) if is_response(&answer) => {
            read_output(Fields(answer))
        }
        (_, document) => read_message(provider, document),
    }
}

fn read_choice(mut answer: Object) -> Result<Incoming, Shape> {
    let first = match answer.get_mut("choices") {
        Some(Value::Array(choices)) => choices.first_mut(),
        _ => None,
    };
    let message = match first {
        Some(Value::Object(choice)) => choice.remove("message"),
        _ => None,
    };
    let message = message.ok_or_else(|| Shape::new("a message").within("choices[0].message"))?;
    let read = openai_chat::read_message(message);
    let mut read = read.map_err(|shape| shape.within("choices[0].message"))?;
    set(&mut read.parts[0], names::ENTRY, Value::Object(answer));
    Ok(read)
}

/// Returns whether this is a response, not an item: a tool output has an `output` as well, but also
/// a type.
fn is_response(object: &Object) -> bool {
    !object.contains_key("type") && object.get("output").is_some_and(|it| it.as_array().is_some())
}

fn read_output(mut answer: Fields) -> Result<Incoming, Shape> {
    let items = answer.take_list("output").unwrap_or_default();
    let read = openai_responses::read_items(items, usize::MAX);
    let messages = read.map_err(|shape| shape.within("output"))?;
    let mut parts: Vec<_> = messages.into_iter().flat_map(|(_, message)| message.parts).collect();
    if parts.is_empty() {
        parts.push(NewNode { kind: Some("text".into()), ..NewNode::default() }.into());
    }
    set(&mut parts[0], names::ENTRY, Value::Object(answer.0));
    Ok(Incoming { role: Role::Assistant, parts })
}
