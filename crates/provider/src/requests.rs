//! Requests as logs: whole requests, or single messages, one after the other.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::{Object, Value};

use crate::Provider;
use crate::import::{
    Fields, ImportErrorKind, Incoming, Session, Shape, digests, set, settings_node,
};
use crate::logs::{Entry, Log};
use crate::parts::{Role, names};
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
        let Request { settings, tools, mut system, messages } = request;
        let digests = digests(&messages);
        let known = session.known(&digests);
        // Everything is read before the first message is added.
        let field = self.provider.messages_field();
        let incoming =
            read_messages(self.provider, messages, known).map_err(|shape| shape.within(field))?;
        session.begin_request(digests)?;
        let leading = incoming.iter().take_while(|(_, it)| it.role == Role::System).count();
        let leading = if self.provider == Provider::OpenAiChat { leading } else { 0 };
        let mut incoming = incoming.into_iter();
        for (_, message) in incoming.by_ref().take(leading) {
            let number = system.len() as u64;
            system.extend(numbered(message.into_nodes(), number));
        }
        let mut nodes = vec![settings_node(settings, self.provider)];
        nodes.extend(tools);
        nodes.extend(system);
        session.system(nodes)?;
        for (first, message) in incoming {
            if first >= known {
                session.message(message)?;
            }
        }
        Ok(())
    }
}

impl Log for Requests {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        match value {
            Value::Array(messages) => {
                let request =
                    Object::from_iter([(self.provider.messages_field(), Value::Array(messages))]);
                self.request(Fields(request), session)
            }
            Value::Object(object) if object.contains_key(self.provider.messages_field()) => {
                self.request(Fields(object), session)
            }
            message => session.single(read_single(self.provider, message)?),
        }
    }
}

/// Reads an entry that is a single message and no request.
pub(crate) fn read_ahead(provider: Provider, value: Value) -> Entry {
    match &value {
        Value::Array(_) => Entry::Value(value),
        Value::Object(object) if object.contains_key(provider.messages_field()) => {
            Entry::Value(value)
        }
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
