//! Completing a call with the provider's response.

use contextree_engine::{CallOutcome, CallResponse, CommitReport, Context, Place};
use contextree_json::{Value, parse};
use contextree_provider::parts::names;
use contextree_provider::read::{
    Kind, Usage, kind_of_node, provider_of_answer, read_usage, text_of_node,
};
use contextree_provider::{Provider, StreamCollector, is_event_stream, read_answer};
use contextree_store::Session;
use contextree_tree::NewNode;

use super::request::Request;
use crate::error::{Code, Error, Result};
use crate::nodes::tool_result;

/// What completing a call did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answered {
    /// The report of the commit: its snapshot is what was sent.
    pub report: CommitReport,
    /// The nodes of the answer, the first content of the new head.
    pub nodes: Vec<String>,
    /// The tool calls of the answer, in order. Each needs a result before the next request: see [`Answered::add_results`].
    pub tool_calls: Vec<ToolCall>,
    /// What the provider reported: usage, model, stop reason.
    pub outcome: CallOutcome,
    /// Parts of a stream that are unknown and therefore missing in the answer.
    pub skipped: Vec<String>,
}

impl Answered {
    /// Adds a result for each tool call, in one durable step. `run` returns the result of a call, as text or as a JSON value, and is called
    /// once for each of them.
    ///
    /// An answer without tool calls takes no step. A result that is an error needs an attribute: add it with
    /// [`tool_result`](crate::tool_result).
    ///
    /// # Errors
    ///
    /// If the store cannot be written. No result was added then.
    pub fn add_results<V: Into<Value>>(
        &self,
        session: &mut Session,
        run: impl FnMut(&ToolCall) -> V,
    ) -> Result<()> {
        let results: Vec<V> = self.tool_calls.iter().map(run).collect();
        if results.is_empty() {
            return Ok(());
        }
        let results = self.tool_calls.iter().zip(results);
        let nodes: Vec<NewNode> =
            results.map(|(call, result)| tool_result(&call.id, result)).collect();
        session.update(|context| {
            for node in &nodes {
                context.add(Place::head(), node.clone())?;
            }
            Ok(())
        })
    }
}

/// A tool that the model wants to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's id of the call; its result refers to it.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: String,
}

impl ToolCall {
    pub(super) fn of(part: &NewNode) -> Option<Self> {
        let text = |name: &str| {
            let found = part.attributes.iter().find(|(own, _)| own == name);
            found.and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned()
        };
        (kind_of_node(part) == Kind::Call).then(|| ToolCall {
            id: text(names::CALL_ID),
            name: text(names::NAME),
            arguments: text_of_node(part).into_owned(),
        })
    }
}

/// Completes a call by the id of its attempt, in one durable step: the snapshot that was sent becomes part of the history, the usage is
/// recorded, and the answer, with thinking and tool calls, is the first content of the next request.
///
/// `response` is the document as the API returned it, the assistant's message alone, or the body of a stream: server-sent events. A
/// program that reads a stream itself collects it with [`StreamCollector`], and passes the document on.
///
/// # Errors
///
/// If the document is not an answer of the provider that was asked, is half a stream, or is the answer to an earlier call
/// (`E_ANSWER_…`), if the call is not running, or if the store cannot be written. The context is unchanged.
pub fn complete(session: &mut Session, attempt: &str, response: &[u8]) -> Result<Answered> {
    session.update(|context| complete_in(context, attempt, response))
}

/// Like [`complete`], but for a context in memory, for programs that store contexts themselves.
///
/// # Errors
///
/// See [`complete`].
pub fn complete_in(context: &mut Context, id: &str, response: &[u8]) -> Result<Answered> {
    let provider = provider_of(context, id)?;
    if is_event_stream(response) {
        let mut collector = StreamCollector::new(provider);
        collector.feed(response)?;
        return complete_collected(context, id, collector);
    }
    let document = parse(response).map_err(|error| {
        Error::new(Code::AnswerInvalid, format!("the response is not JSON: {error}"))
            .with_hint("pass the body of the response as the provider returned it")
            .with_source(error)
    })?;
    complete_with_document(context, id, document)
}

/// Like [`complete_in`], but with a stream that was collected already.
///
/// # Errors
///
/// See [`complete`].
pub fn complete_collected(
    context: &mut Context,
    id: &str,
    collector: StreamCollector,
) -> Result<Answered> {
    let skipped = collector.skipped().to_vec();
    let answered = complete_with_document(context, id, collector.finish()?)?;
    Ok(Answered { skipped, ..answered })
}

/// Like [`complete_in`], but with a document that was parsed already.
///
/// # Errors
///
/// See [`complete`].
pub fn complete_with_document(
    context: &mut Context,
    id: &str,
    document: Value,
) -> Result<Answered> {
    let provider = provider_of(context, id)?;
    check_error(&document)?;
    check_provider(provider, &document)?;
    let outcome = outcome_of(read_usage(provider, &document));
    if let Some(id) = &outcome.response.response_id {
        check_new(context, id)?;
    }
    let answer = read_answer(provider, document).map_err(|shape| {
        Error::new(Code::AnswerInvalid, format!("not an answer of {provider}: {shape}"))
            .with_source(shape)
    })?;
    let mut parts = answer.parts;
    for part in parts.iter_mut().filter(|part| part.role.is_none()) {
        part.set_role("assistant");
    }
    let count = parts.len();
    let tool_calls = parts.iter().filter_map(|part| ToolCall::of(part)).collect();
    let report = context.complete_call(id, parts, outcome.clone())?;
    let cores = context.working().region(contextree_tree::Region::Head).children();
    let nodes = cores.flat_map(|core| core.children()).take(count);
    let nodes = nodes.map(|node| node.id().to_owned()).collect();
    Ok(Answered { report, nodes, tool_calls, outcome, skipped: Vec::new() })
}

/// Keeps what has arrived of an answer with the attempt of a running call, in place of what was kept before. Of the body of a stream, only
/// its text is kept; anything else is kept as text.
///
/// # Errors
///
/// If the call is not running, or the text is longer than 1 MiB.
pub fn attach_in(context: &mut Context, id: &str, body: &[u8]) -> Result<()> {
    let text = if is_event_stream(body) {
        let mut collector = StreamCollector::new(provider_of(context, id)?);
        // An error ends the stream; what arrived before it is kept.
        let _ = collector.feed(body);
        collector.text().to_owned()
    } else {
        String::from_utf8_lossy(body).into_owned()
    };
    context.attach_partial(id, text)?;
    Ok(())
}

/// Returns the provider that was asked.
fn provider_of(context: &Context, id: &str) -> Result<Provider> {
    let found = context.attempts().iter().rev().find(|attempt| attempt.attempt_id == id);
    match found.and_then(|attempt| attempt.request.as_ref()) {
        Some(request) => Ok(Request::from_text(&request.options)?.provider),
        // The engine says what is wrong with the attempt.
        None => Ok(Provider::OpenAiChat),
    }
}

pub(super) fn check_error(document: &Value) -> Result<()> {
    match document.get("error").filter(|error| !error.is_null()) {
        None => Ok(()),
        Some(error) => {
            let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
            let message = format!("the provider returned an error: {message}");
            Err(Error::new(Code::AnswerError, message)
                .with_hint("fail or cancel the call, then begin again"))
        }
    }
}

pub(super) fn check_provider(provider: Provider, document: &Value) -> Result<()> {
    match provider_of_answer(document) {
        Some(other) if other != provider => {
            let message = format!("the response comes from {other}, but {provider} was asked");
            Err(Error::new(Code::AnswerProvider, message))
        }
        _ => Ok(()),
    }
}

fn check_new(context: &Context, id: &str) -> Result<()> {
    match context.attempt_with_response(id) {
        None => Ok(()),
        Some(attempt) => {
            let message =
                format!("the response `{id}` was already recorded for `{}`", attempt.attempt_id);
            Err(Error::new(Code::AnswerRepeated, message)
                .with_hint("complete the call with the response to its own request"))
        }
    }
}

fn outcome_of(usage: Usage) -> CallOutcome {
    CallOutcome {
        token_in: usage.input,
        token_out: usage.output,
        response: CallResponse {
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            reasoning: usage.reasoning,
            model: usage.model,
            stop_reason: usage.stop_reason,
            response_id: usage.id,
            request_id: None,
            diagnostics: usage.diagnostics,
        },
    }
}
