//! `append`: messages as a provider writes them, added to the working state.

use contextree::calls::{self, Appended, StreamCollector};
use contextree::import::{Format, detect, is_lines, without_byte_order_mark};
use contextree::provider::{Provider, is_event_stream};
use contextree_json::{Value, lines, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::ToolCall;
use crate::wire::{Document, Word};
use crate::workspace::Change;
use crate::{Advice, Control, Error, Workspace};

/// Appends messages to the working state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendRequest {
    /// A message, a list of messages, a response, or the body of a stream; or JSON Lines of them.
    pub messages: Document,
    /// The provider whose messages they are; detected if it is absent.
    #[serde(default)]
    pub from: Option<Word<Provider>>,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Messages that were appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendResponse {
    /// The messages, in order.
    pub messages: Vec<AppendedMessage>,
    /// The tools that the model wants to be called.
    pub tool_calls: Vec<ToolCall>,
    /// Parts of a stream that are unknown and therefore missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

/// A message that was appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendedMessage {
    /// Who speaks: `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Its nodes.
    pub nodes: Vec<String>,
}

/// Appends messages to the working state in one durable step: all of them, or none. Nothing is committed.
///
/// # Errors
///
/// If the text is not JSON, a document is not a message of the provider, or the context cannot be changed.
pub fn append(
    workspace: &Workspace,
    request: &AppendRequest,
    control: &Control<'_>,
) -> Result<AppendResponse, Error> {
    let _span = workspace.span("append");
    control.check()?;
    let mut skipped = Vec::new();
    let documents = read(&request.messages, request.from.map(|from| from.0), &mut skipped)?;
    let mut response = workspace.change("append", &request.change, |context| {
        let mut response =
            AppendResponse { messages: Vec::new(), tool_calls: Vec::new(), skipped: Vec::new() };
        for (place, provider, document) in &documents {
            control.check()?;
            let done = calls::append_in(context, *provider, document.clone());
            response.add(done.map_err(|error| Error::from(error).in_file(place))?);
        }
        Ok(response)
    })?;
    response.skipped = skipped;
    Ok(response)
}

impl AppendResponse {
    fn add(&mut self, appended: Appended) {
        let messages = appended.messages.into_iter();
        self.messages.extend(messages.map(|message| AppendedMessage {
            role: message.role.to_owned(),
            nodes: message.nodes,
        }));
        let calls = appended.tool_calls.into_iter();
        self.tool_calls.extend(calls.map(|call| ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
        }));
    }
}

/// Reads the documents of a text, each with its place and its provider.
fn read(
    messages: &Document,
    from: Option<Provider>,
    skipped: &mut Vec<String>,
) -> Result<Vec<(String, Provider, Value)>, Error> {
    let (name, text) = (&messages.name, without_byte_order_mark(&messages.text));
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new("E_IMPORT_EMPTY", format!("{name} is empty"))
            .with_hint("pass a message, a list of messages, or a response"));
    }
    if is_event_stream(text) {
        let provider = from.ok_or_else(|| unknown(name))?;
        let mut collector = StreamCollector::new(provider);
        collector.feed(text).map_err(contextree::Error::from)?;
        skipped.extend_from_slice(collector.skipped());
        let document = collector.finish().map_err(contextree::Error::from)?;
        return Ok(vec![(name.clone(), provider, document)]);
    }
    let parts: Vec<(String, &[u8])> = match is_lines(text) {
        false => vec![(name.clone(), text)],
        true => lines(text)
            .zip(1..)
            .filter(|(line, _)| !line.trim_ascii().is_empty())
            .map(|(line, number)| (format!("{name}: line {number}"), line))
            .collect(),
    };
    let mut documents = Vec::with_capacity(parts.len());
    for (place, text) in parts {
        let document = parse(text).map_err(|error| {
            let column = error.in_line();
            let why = if place == *name { error.to_string() } else { column.to_string() };
            Error::new(error.code(), format!("{place}: not JSON: {why}"))
                .with_detail("place", place.as_str())
                .with_hint("pass a message, a list of messages, or a response as JSON")
        })?;
        if document.as_array().is_some_and(|list| list.is_empty()) {
            return Err(Error::new("E_IMPORT_EMPTY", format!("{place}: the list is empty"))
                .with_hint("pass at least one message"));
        }
        let provider = from.or_else(|| detected(&document)).ok_or_else(|| unknown(&place))?;
        documents.push((place, provider, document));
    }
    Ok(documents)
}

/// Returns the provider whose messages these are. Plain roles and texts are the same for all of them but Gemini.
fn detected(document: &Value) -> Option<Provider> {
    match detect(document)? {
        Format::OpenAiChat | Format::Flat => Some(Provider::OpenAiChat),
        Format::OpenAiResponses => Some(Provider::OpenAiResponses),
        Format::Anthropic => Some(Provider::Anthropic),
        Format::Gemini => Some(Provider::Gemini),
        _ => None,
    }
}

fn unknown(place: &str) -> Error {
    Error::new("E_IMPORT_FORMAT", format!("{place}: not a message of a known provider"))
        .with_advice(Advice::NameMessages)
}
