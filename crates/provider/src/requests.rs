//! Requests as logs: whole requests, or single messages, one after the other.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::{Object, Value};

use crate::Provider;
use crate::import::{
    Fields, ImportErrorKind, Incoming, Seen, Session, Shape, Sight, digest_of_answer, set,
    settings_node, write_as_text,
};
use crate::logs::{Entry, Log};
use crate::parts::names::{self, form};
use crate::parts::{Role, role_of};
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// A request that was taken apart.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) settings: Object,
    pub(crate) tools: Vec<NewNode>,
    pub(crate) system: Vec<NewNode>,
    /// Messages, or items, as they came.
    pub(crate) messages: Vec<Value>,
}

/// Requests of a provider.
pub(crate) struct Requests {
    provider: Provider,
}

impl Requests {
    pub(crate) fn new(provider: Provider) -> Self {
        Requests { provider }
    }

    fn request(&mut self, fields: Fields, session: &mut Session) -> Result<(), ImportErrorKind> {
        let request = match self.provider {
            Provider::OpenAiChat => openai_chat::read_request(fields),
            Provider::OpenAiResponses => openai_responses::read_request(fields),
            Provider::Anthropic => anthropic::read_request(fields),
            Provider::Gemini => gemini::read_request(fields),
        }?;
        let Request { settings, tools, mut system, mut messages } = request;
        // System text may change from request to request; the conversation goes on.
        let leading = match self.provider {
            Provider::OpenAiChat => messages.iter().take_while(|it| is_system(it)).count(),
            _ => 0,
        };
        let look = |message: &mut Value| Sight::take(self.provider, message);
        let sights: Vec<Sight> = messages[leading..].iter_mut().map(look).collect();
        let digests: Vec<_> = sights.iter().map(|sight| sight.digest).collect();
        let known = session.known(&digests);
        let mut listed: Vec<_> = sights.iter().map(|sight| sight.listed).collect();
        for (index, sight) in sights.iter().enumerate().skip(known) {
            if session.unmarked_is_text && !sight.marks.is_empty() && sight.listed == Some(true) {
                write_as_text(&mut messages[leading + index]);
                listed[index] = Some(false);
            }
        }
        // Everything is read before the first message is added.
        let field = self.provider.messages_field();
        let incoming = read_messages(self.provider, messages, leading + known)
            .map_err(|shape| shape.within(field))?;
        session.begin_request(digests)?;
        let mut incoming = incoming.into_iter();
        for (_, message) in incoming.by_ref().take(leading) {
            let number = system.len() as u64;
            system.extend(numbered(message.into_nodes(), number));
        }
        let mut nodes = vec![settings_node(settings, self.provider)];
        nodes.extend(tools);
        nodes.extend(system);
        session.system(nodes)?;
        for (first, message) in incoming.filter(|(first, _)| *first >= leading + known) {
            session.message(message)?;
            let nodes = session.last_nodes();
            let seen = &mut session.seen[first - leading];
            *seen = Seen { nodes, listed: listed[first - leading], ..seen.clone() };
        }
        mark(&sights, session)
    }
}

fn is_system(message: &Value) -> bool {
    message.get("role").and_then(Value::as_str).is_some_and(|role| role_of(role) == Role::System)
}

/// Notes where the breakpoints of a request stand, and what it writes in another form than before.
fn mark(sights: &[Sight], session: &mut Session) -> Result<(), ImportErrorKind> {
    let (mut marks, mut forms) = (Object::new(), Object::new());
    for (sight, seen) in sights.iter().zip(&session.seen) {
        for (part, fields) in &sight.marks {
            if let Some(node) = seen.nodes.get(*part) {
                marks.insert(node, Value::Object(fields.clone()));
            }
        }
        // What is marked is a list in any case.
        if let (Some(now), Some(then), [node]) = (sight.listed, seen.listed, &*seen.nodes)
            && now != then
            && sight.marks.is_empty()
        {
            session.unmarked_is_text = !now;
            forms.insert(node, Value::from(if now { form::LIST } else { form::TEXT }));
        }
    }
    session.marks(marks, forms)
}

impl Log for Requests {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        match value {
            // A list of requests is one after the other.
            Value::Array(list) if !list.is_empty() && list.iter().all(|it| self.is_request(it)) => {
                for (index, request) in list.into_iter().enumerate() {
                    let done = Fields::of(request).map_err(Into::into);
                    let done = done.and_then(|fields| self.request(fields, session));
                    done.map_err(|kind| kind.within(&format!("[{index}]")))?;
                }
                Ok(())
            }
            Value::Array(messages) => {
                let request =
                    Object::from_iter([(self.provider.messages_field(), Value::Array(messages))]);
                self.request(Fields(request), session)
            }
            Value::Object(object) if is_request(self.provider, &object) => {
                self.request(Fields(object), session)
            }
            message => {
                // An answer that is logged behind its request comes again with the next.
                let digest = (!session.seen.is_empty()).then(|| digest_of_answer(&message));
                session.single(read_single(self.provider, message)?)?;
                session.seen.extend(digest.map(Seen::from));
                Ok(())
            }
        }
    }
}

impl Requests {
    fn is_request(&self, value: &Value) -> bool {
        value.as_object().is_some_and(|object| is_request(self.provider, object))
    }
}

/// Tells a request from a message.
fn is_request(provider: Provider, object: &Object) -> bool {
    match provider {
        // An item has a type or a role, or is nothing but the id of one. A call of a custom tool has an input, too.
        Provider::OpenAiResponses => {
            let is_reference = object.len() == 1 && object.contains_key("id");
            let is_item = object.contains_key("type") || object.contains_key("role");
            !is_item && !is_reference && !object.is_empty()
        }
        _ => object.contains_key(provider.messages_field()),
    }
}

/// Reads an entry that is a single message and no request.
pub(crate) fn read_ahead(provider: Provider, value: Value) -> Entry {
    match &value {
        Value::Array(_) => Entry::Value(value),
        Value::Object(object) if is_request(provider, object) => Entry::Value(value),
        _ => read_single(provider, value).into(),
    }
}

fn read_single(provider: Provider, message: Value) -> Result<Incoming, Shape> {
    match provider {
        Provider::OpenAiChat => openai_chat::read_message(message),
        Provider::OpenAiResponses => openai_responses::read_item(message),
        Provider::Anthropic => anthropic::read_message(message),
        Provider::Gemini => gemini::read_content(message),
    }
}

/// Reads messages; each with the position of the first entry that it was made of. None is made of entries on both sides of `known`.
fn read_messages(
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

/// Gives the blocks of a system message of several a number.
pub(crate) fn numbered(mut parts: Vec<NewNode>, number: u64) -> Vec<NewNode> {
    if parts.len() > 1 {
        parts.iter_mut().for_each(|part| set(part, names::MESSAGE, number));
    }
    parts
}
