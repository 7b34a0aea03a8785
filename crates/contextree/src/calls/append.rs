//! Appending messages as a provider writes them, for programs that make their calls elsewhere.

use contextree_engine::{Context, Place, PreparedNode};
use contextree_json::Value;
use contextree_provider::parts::names;
use contextree_provider::read::{
    Incoming, Role, is_request, provider_of_answer, read_messages, role_of, set,
};
use contextree_provider::{Provider, read_answer};
use contextree_tree::{Class, NodeRef, Region};

use super::answer::{ToolCall, check_error, check_provider};
use crate::error::{Code, Error, Location, Result};

/// What was appended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    /// The messages, in order.
    pub messages: Vec<AppendedMessage>,
    /// The tool calls of all messages, in order.
    pub tool_calls: Vec<ToolCall>,
}

/// A message that was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendedMessage {
    /// Who speaks: `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// Its nodes.
    pub nodes: Vec<String>,
}

/// Appends what a provider writes to the working state: a message, a list of messages, or a response. Nothing is committed.
///
/// Texts, thinking, tool calls, results and media become the same nodes as in an import, so the next request contains
/// them as they were. System messages before all others are added to the system region. To complete a call that was
/// begun with [`Request::begin`](super::Request::begin), use [`complete`](super::complete) instead: it also records the usage.
///
/// ```
/// use contextree::calls::append_in;
/// use contextree::provider::Provider;
/// use contextree::{Context, json};
///
/// let mut context = Context::new();
/// let messages = json::parse(br#"[{"role":"user","content":"Will it rain?"}]"#)?;
/// let appended = append_in(&mut context, Provider::Anthropic, messages)?;
/// assert_eq!(appended.messages[0].nodes, ["block:1.1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// `E_IMPORT_SHAPE` if the document is not a message of the provider, `E_ANSWER_PROVIDER` if it is another provider's response, `E_ANSWER_ERROR` if it is an error,
/// `E_USAGE` if it is a request, and what the engine refuses. The caller discards the context then: some messages may have been added.
pub fn append_in(context: &mut Context, provider: Provider, document: Value) -> Result<Appended> {
    let mut appended = Appended::default();
    for message in read(provider, document)? {
        let Incoming { role, mut parts } = message;
        appended.tool_calls.extend(parts.iter().filter_map(|part| ToolCall::of(part)));
        let last = last_block(context);
        let place = match (&last, role) {
            (None, Role::System) => Place::system(),
            _ => Place::head(),
        };
        separate(provider, last.as_ref(), role, &mut parts);
        let mut nodes = Vec::with_capacity(parts.len());
        for mut part in parts {
            if part.role.is_none() {
                let is_result = part.kind.as_deref() == Some("result");
                part.set_role(if is_result { "tool" } else { word(role) });
            }
            nodes.push(context.add(place.clone(), part)?);
        }
        appended.messages.push(AppendedMessage { role: word(role), nodes });
    }
    Ok(appended)
}

/// Reads the messages of a document.
fn read(provider: Provider, document: Value) -> Result<Vec<Incoming>> {
    let shape = |shape: contextree_provider::read::Shape| {
        let place = shape.at.clone();
        let error = Error::new(Code::ImportShape, format!("not a message of {provider}: {shape}"))
            .with_hint("pass a message, a list of messages, or a response of the provider");
        match place.is_empty() {
            true => error,
            false => error.with_location(Location::Path(place)),
        }
    };
    let list = match document {
        Value::Array(list) => list,
        // An item of Responses looks like a response of Anthropic: a message of the assistant with a list as content.
        Value::Object(object)
            if provider == Provider::OpenAiResponses && object.contains_key("type") =>
        {
            vec![Value::Object(object)]
        }
        Value::Object(object) => {
            let document = Value::Object(object);
            check_error(&document)?;
            check_provider(provider, &document)?;
            if provider_of_answer(&document).is_some() {
                return Ok(vec![read_answer(provider, document).map_err(shape)?]);
            }
            if document.as_object().is_some_and(|object| is_request(provider, object)) {
                return Err(Error::new(Code::Usage, "this is a request, not a message").with_hint(
                    "import a request into a new context, or pass only its new messages",
                ));
            }
            vec![document]
        }
        _ => return Err(shape(contextree_provider::read::Shape::new("an object or a list"))),
    };
    let messages = read_messages(provider, list, usize::MAX).map_err(shape)?;
    Ok(messages.into_iter().map(|(_, message)| message).collect())
}

/// What matters of the block before a message.
struct Last {
    role: Role,
    /// The number of its message, if it has one.
    number: u64,
}

/// Returns the newest block of the conversation.
fn last_block(context: &Context) -> Option<Last> {
    let tree = context.working();
    [Region::Head, Region::Seq].into_iter().find_map(|region| {
        let newest = tree.region(region).children_rev().find_map(last_below)?;
        let number = |name: &str| newest.attribute(name).and_then(Value::as_u64).unwrap_or(0);
        Some(Last {
            role: newest.role().map_or(Role::User, role_of),
            number: number(names::MESSAGE).max(number(names::APART)),
        })
    })
}

/// Returns the last block at or below a node.
fn last_below(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    match node.class() {
        Class::Block => Some(node),
        _ => node.subtree().map(|(_, node)| node).filter(|it| it.class() == Class::Block).last(),
    }
}

/// Marks where a message begins, if roles do not tell: in a message of several blocks, and after one of the same side.
fn separate(provider: Provider, last: Option<&Last>, role: Role, parts: &mut [PreparedNode]) {
    let number = last.map_or(0, |last| last.number) + 1;
    let is_user = |role: Role| matches!(role, Role::User | Role::Tool);
    let merges = |last: &Last| match provider {
        Provider::OpenAiResponses => false,
        Provider::OpenAiChat => role == Role::Assistant && last.role == Role::Assistant,
        _ => {
            (role == Role::Assistant && last.role == Role::Assistant)
                || (is_user(role) && is_user(last.role))
        }
    };
    let is_apart = last.is_some_and(merges);
    let is_numbered = matches!(role, Role::User | Role::System) && parts.len() > 1;
    for part in parts {
        if is_apart {
            set(part, names::APART, number);
        }
        if is_numbered {
            set(part, names::MESSAGE, number);
        }
    }
}

const fn word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
