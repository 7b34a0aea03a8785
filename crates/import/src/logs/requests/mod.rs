//! Reads logs of requests: whole requests, requests with their responses, or single messages.
//!
//! A request is a call, so the tree is brought to exactly what it contains and committed
//! ([`request`]); the answer ([`answer`]) opens the next cycle, where the next request usually repeats
//! it. Wrappers that programs write around requests and responses are taken off first
//! ([`exchange`]).

mod answer;
pub(crate) mod exchange;
mod orders;
mod request;

use contextree_engine::{AttemptStatus, NewNode, PreparedNode};
use contextree_json::{Object, Value};
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{
    Attributes, Fields, Role, is_request, provider_of_answer, read_message, role_of, set,
};
use contextree_provider::{KeyOrder, Provider};
use contextree_tree::Content;

use super::{Entry, Log};
use crate::error::ImportErrorKind;
use crate::fingerprint::{Unmarked, essence_of};
use crate::session::{Seen, Session};
use crate::time::time_of;
use exchange::{Exchange, Outcome, exchanges};

pub(crate) use answer::answer_messages;
pub(super) use answer::outcome_of;
pub(crate) use orders::{Orders, orders_of};
pub(crate) use request::is_system;

/// Reads the requests of a provider.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    provider: Provider,
    /// The answer to the newest request, as it was received, until the next request repeats it.
    answered: Option<Value>,
    /// Whether there was a request, so that single messages belong to it.
    has_requests: bool,
    /// The orders of keys in the requests of the entry that is being read.
    orders: Orders,
}

/// What a document is.
enum Document {
    /// A request that was sent.
    Request(Object),
    /// A conversation: each answer in it ended a call.
    Conversation(Object),
    /// The response to the request before it.
    Answer(Value),
    /// A message.
    Message(Value),
}

impl Requests {
    pub(crate) fn new(provider: Provider) -> Self {
        Requests { provider, answered: None, has_requests: false, orders: Vec::new() }
    }

    /// Continues a conversation of requests.
    pub(crate) fn resume(&mut self) {
        self.has_requests = true;
    }

    fn classify(&self, value: Value) -> Document {
        if provider_of_answer(&value) == Some(self.provider) {
            return Document::Answer(value);
        }
        match value {
            Value::Array(messages) => {
                let field = self.provider.messages_field();
                Document::Conversation(Object::from_iter([(field, Value::Array(messages))]))
            }
            Value::Object(object) if is_request(self.provider, &object) => {
                match self.ends_with_answer(&object) && !object.contains_key("model") {
                    true => Document::Conversation(object),
                    false => Document::Request(object),
                }
            }
            message => Document::Message(message),
        }
    }

    /// Returns whether the last message is the model's.
    fn ends_with_answer(&self, request: &Object) -> bool {
        let messages = request.get(self.provider.messages_field()).and_then(Value::as_array);
        let last = messages.and_then(<[Value]>::last);
        let role = last.and_then(|last| last.get("role")?.as_str());
        role.is_some_and(|role| role_of(role) == Role::Assistant)
    }

    /// Returns whether the body of a captured request is a request for an answer.
    fn is_sent(&self, body: &Object) -> bool {
        let fields: &[&str] = match self.provider {
            Provider::OpenAiResponses => &["input", "prompt", "previous_response_id"],
            _ => &[self.provider.messages_field()],
        };
        fields.iter().any(|field| body.contains_key(field))
    }

    fn is_request(&self, value: &Value) -> bool {
        value.as_object().is_some_and(|object| is_request(self.provider, object))
    }

    /// Takes the order of keys in the request at a place of the entry.
    fn take_order(&mut self, path: &str) -> Option<KeyOrder> {
        let found = self.orders.iter().position(|(place, _)| place == path)?;
        Some(self.orders.swap_remove(found).1)
    }

    /// Reads a document that is at this place of the entry.
    fn document(
        &mut self,
        value: Value,
        path: &str,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let time = value.as_object().and_then(time_of);
        match self.classify(value) {
            Document::Request(object) => {
                session.state.at(time);
                self.request(Fields(object), session)?;
                let order = self.take_order(path);
                self.seal(order, session)
            }
            Document::Conversation(object) => {
                session.state.at(time);
                self.conversation(Fields(object), session)
            }
            Document::Answer(document) => self.answer(document, time, session),
            Document::Message(message) => {
                session.state.at(time);
                self.message(message, session)
            }
        }
    }

    /// Adds a single message. After a request, it is the answer, or something that the next request
    /// repeats.
    fn message(
        &mut self,
        mut value: Value,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        if !self.has_requests {
            return session.single(read_message(self.provider, value)?);
        }
        let mut message = read_message(self.provider, value.clone())?;
        keep_blank(self.provider, &mut message.parts);
        // Items of Responses, such as calls and reasoning, have no role of their own.
        if message.role == Role::Assistant && session.state.has_call() {
            return self.answer(value, None, session);
        }
        let essence = Some(essence_of(&value));
        let Unmarked { fingerprint, listed, .. } = Unmarked::take(self.provider, &mut value);
        session.message(message)?;
        if let Some(last) = session.state.window.last_mut() {
            last.seen = Some(Seen { fingerprint, listed, essence });
        }
        Ok(())
    }

    /// Takes a request together with its response.
    fn exchange(
        &mut self,
        exchange: Exchange,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let Exchange { request, order, path, is_call, outcome, started_at, ended_at } = exchange;
        session.state.at(started_at);
        let Value::Object(object) = request else {
            return self.document(request, &path, session);
        };
        if !is_call || !self.is_sent(&object) {
            session.state.skip("other_request");
            return Ok(());
        }
        self.request(Fields(object), session).map_err(|kind| kind.within("request"))?;
        let order = order.or_else(|| self.take_order(&path));
        match outcome {
            Outcome::Failed(why) => self.fail(why, ended_at, session),
            Outcome::Answer(document) => {
                self.seal(order, session)?;
                let done = self.answer(document, ended_at, session);
                done.map_err(|kind| kind.within("response"))
            }
            Outcome::Unknown => self.seal(order, session),
        }
    }

    /// Records a request that was not answered. Nothing is sealed, as with any call that fails.
    fn fail(
        &mut self,
        why: String,
        ended_at: Option<i64>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        self.has_requests = true;
        session.failed_call(AttemptStatus::Error(why), ended_at)
    }
}

impl Log for Requests {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let value = match exchanges(self.provider, value) {
            Ok(exchanges) => {
                return exchanges.into_iter().try_for_each(|it| self.exchange(it, session));
            }
            Err(value) => value,
        };
        match value {
            // A list of requests is imported one after the other.
            Value::Array(list) if !list.is_empty() && list.iter().all(|it| self.is_request(it)) => {
                for (index, request) in list.into_iter().enumerate() {
                    let done = self.document(request, &format!("/{index}"), session);
                    done.map_err(|kind| kind.within(&format!("[{index}]")))?;
                }
                Ok(())
            }
            value => self.document(value, "", session),
        }
    }

    fn note_orders(&mut self, orders: Orders) {
        self.orders = orders;
    }

    fn take(&mut self, entry: Entry, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        match entry {
            Entry::Message { message, time } => {
                session.state.at(time);
                session.single(message)
            }
            Entry::Value(value) => self.entry(value, session),
            Entry::Bad(kind) => Err(kind),
            Entry::Claude(_) => unreachable!("only the reader of its format reads it ahead"),
        }
    }
}

/// Notes which texts are blank, so that a request that has them renders with them. Other requests
/// leave them out, because Anthropic and Gemini refuse them.
fn keep_blank(provider: Provider, parts: &mut [PreparedNode]) {
    for part in parts.iter_mut().filter(|part| is_blank(provider, part)) {
        note_blank(provider, part);
    }
}

fn note_blank(provider: Provider, part: &mut impl Attributes) {
    set(part, names::SHAPE, form::BLANK);
    if !part.attributes().iter().any(|(name, _)| name == names::PROVIDER) {
        set(part, names::PROVIDER, provider.name());
    }
}

/// Returns whether a block is a text that requests leave out.
fn is_blank(provider: Provider, part: &NewNode) -> bool {
    if part.kind.as_deref() != Some("text") {
        return false;
    }
    match (provider, &part.content) {
        (Provider::Anthropic, Content::Absent) => true,
        (Provider::Anthropic, Content::Text(text)) => text.trim().is_empty(),
        (Provider::Gemini, Content::Text(text)) => text.is_empty(),
        _ => false,
    }
}

/// Reads an entry ahead if it is a single message, not a request.
pub(crate) fn read_ahead(provider: Provider, value: Value) -> Entry {
    let is_single = match &value {
        Value::Object(object) => {
            !is_request(provider, object)
                && !exchange::is_exchange(object)
                && provider_of_answer(&value).is_none()
        }
        _ => false,
    };
    if !is_single {
        return Entry::Value(value);
    }
    let time = value.as_object().and_then(time_of);
    match read_message(provider, value) {
        Ok(message) => Entry::Message { message, time },
        Err(shape) => Entry::Bad(shape.into()),
    }
}
