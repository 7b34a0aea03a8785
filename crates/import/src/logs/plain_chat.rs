//! Reads conversations of agents and benchmarks whose calls are `{"id":…,"name":…,"arguments":…}`:
//! a list of messages, an object with such a list, results with many of them, or one message a line.

use contextree_engine::{CallOutcome, CallResponse};
use contextree_json::{Object, Value};
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Shape};
use contextree_tree::NewNode;

use super::{Log, chat};
use crate::error::ImportErrorKind;
use crate::fingerprint::fingerprint;
use crate::session::{About, CallInfo, Listed, Session, numbered};
use crate::time::time_of;

/// Reads conversations.
#[derive(Debug, Clone)]
pub(crate) struct PlainChat;

/// A conversation that was read.
struct Conversation {
    system: Vec<NewNode>,
    messages: Vec<Listed>,
}

/// What an entry is.
enum Read {
    Conversations(Vec<Conversation>),
    Message(Incoming),
}

const NAME: &str = "plain-chat";

impl Log for PlainChat {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        // Read everything before adding anything.
        match read(value)? {
            Read::Message(message) if message.role == Role::System => session.single(message),
            Read::Message(message) => add(session, message),
            Read::Conversations(list) => list.into_iter().try_for_each(|conversation| {
                let Conversation { system, messages } = conversation;
                session.system(system)?;
                session.list(messages, add)?;
                session.settle()
            }),
        }
    }
}

fn read(value: Value) -> Result<Read, Shape> {
    match value {
        Value::Array(list) if list.iter().any(|it| it.get("role").is_some()) => {
            Ok(Read::Conversations(vec![read_conversation(list, Object::new())?]))
        }
        Value::Array(list) => {
            let read = list.into_iter().enumerate().map(|(index, value)| {
                let place = |shape: Shape| shape.within(&format!("[{index}]"));
                match read(value).map_err(place)? {
                    Read::Conversations(list) => Ok(list),
                    Read::Message(_) => Err(place(Shape::new("a conversation"))),
                }
            });
            let all = read.collect::<Result<Vec<_>, Shape>>()?;
            Ok(Read::Conversations(all.into_iter().flatten().collect()))
        }
        value => read_object(Fields::of(value)?),
    }
}

fn read_object(mut fields: Fields) -> Result<Read, Shape> {
    if let Some(messages) = fields.take_list("messages") {
        let read = read_conversation(messages, fields.0);
        let read = read.map_err(|shape| shape.within("messages"))?;
        return Ok(Read::Conversations(vec![read]));
    }
    match fields.take_list("simulations") {
        Some(list) => read(Value::Array(list)).map_err(|shape| shape.within("simulations")),
        None => Ok(Read::Message(chat::read(Value::Object(fields.0), NAME)?)),
    }
}

/// Reads a conversation; `rest` is what is recorded besides its messages.
fn read_conversation(list: Vec<Value>, rest: Object) -> Result<Conversation, Shape> {
    let mut messages: Vec<Listed> = Vec::with_capacity(list.len());
    let mut system = Vec::new();
    for (index, message) in list.into_iter().enumerate() {
        let own = fingerprint(&message);
        let read = chat::read(message, NAME);
        let message = read.map_err(|shape| shape.within(&format!("[{index}]")))?;
        if message.role == Role::System && messages.is_empty() {
            let number = system.len() as u64;
            system.extend(numbered(message.into_nodes(), number));
        } else {
            messages.push((own, message));
        }
    }
    if !rest.is_empty() {
        let about = NewNode::container(names::REQUEST_TYPE);
        system.insert(0, about.attribute(names::ENTRY, Value::Object(rest)));
    }
    Ok(Conversation { system, messages })
}

fn add(session: &mut Session<'_>, message: Incoming) -> Result<(), ImportErrorKind> {
    let time = chat::entry_of(&message).and_then(time_of);
    if message.role == Role::Assistant {
        // The request was sent after the message before it.
        session.begin_call(call_of(&message, time))?;
    }
    session.state.at(time);
    let is_context = chat::is_foreign(&message);
    session.add(message, &About { is_context, ..About::default() })
}

/// Returns what a message says about the call that it ended.
fn call_of(message: &Incoming, ended_at: Option<i64>) -> CallInfo {
    let Some(usage) = chat::entry_of(message).and_then(|entry| entry.get("usage")) else {
        return CallInfo::default();
    };
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let details = usage.get("prompt_tokens_details");
    let cache_read = details.and_then(|it| it.get("cached_tokens")?.as_u64());
    let outcome = CallOutcome {
        token_in: number("prompt_tokens"),
        token_out: number("completion_tokens"),
        response: CallResponse { cache_read, ..CallResponse::default() },
    };
    CallInfo { outcome: Some(Box::new(outcome)), ended_at, ..CallInfo::default() }
}
