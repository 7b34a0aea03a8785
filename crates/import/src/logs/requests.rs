//! Reads logs of requests: whole requests or single messages, one after the other.

use std::collections::BTreeMap;

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names::form;
use contextree_provider::read::{
    Fields, Request, Role, is_request, read_message, read_messages, read_request, role_of,
};

use super::{Entry, Log};
use crate::error::ImportErrorKind;
use crate::fingerprint::{Unmarked, fingerprint_of_answer, write_as_text};
use crate::session::{Session, UnmarkedText, numbered, settings_node};

/// Reads the requests of a provider.
pub(crate) struct Requests {
    provider: Provider,
}

impl Requests {
    pub(crate) fn new(provider: Provider) -> Self {
        Requests { provider }
    }

    fn request(&mut self, fields: Fields, session: &mut Session) -> Result<(), ImportErrorKind> {
        let request = read_request(self.provider, fields)?;
        let Request { settings, tools, mut system, mut messages } = request;
        // System text may change between requests of the same conversation.
        let leading = match self.provider {
            Provider::OpenAiChat => messages.iter().take_while(|it| is_system(it)).count(),
            _ => 0,
        };
        let look = |message: &mut Value| Unmarked::take(self.provider, message);
        let unmarked: Vec<Unmarked> = messages[leading..].iter_mut().map(look).collect();
        let fingerprints: Vec<_> = unmarked.iter().map(|message| message.fingerprint).collect();
        let known = session.known(&fingerprints);
        let mut listed: Vec<_> = unmarked.iter().map(|message| message.listed).collect();
        let becomes_string = session.request.unmarked_text == UnmarkedText::BecomesString;
        for (index, message) in unmarked.iter().enumerate().skip(known) {
            if becomes_string && !message.marks.is_empty() && message.listed == Some(true) {
                write_as_text(&mut messages[leading + index]);
                listed[index] = Some(false);
            }
        }
        // Read everything before adding the first message.
        let field = self.provider.messages_field();
        let incoming = read_messages(self.provider, messages, leading + known)
            .map_err(|shape| shape.within(field))?;
        session.begin_request(fingerprints)?;
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
            session.request.record(first - leading, nodes, listed[first - leading]);
        }
        mark(&unmarked, session)
    }
}

fn is_system(message: &Value) -> bool {
    message.get("role").and_then(Value::as_str).is_some_and(|role| role_of(role) == Role::System)
}

/// Records the breakpoints of a request, and the texts that it writes in another form than before.
fn mark(unmarked: &[Unmarked], session: &mut Session) -> Result<(), ImportErrorKind> {
    let (mut marks, mut forms) = (Object::new(), Object::new());
    for (message, seen) in unmarked.iter().zip(&session.request.messages) {
        for (part, fields) in &message.marks {
            if let Some(node) = seen.nodes.get(*part) {
                marks.insert(node, Value::Object(fields.clone()));
            }
        }
        // A text with a breakpoint is a list in any case.
        if let (Some(now), Some(then), [node]) = (message.listed, seen.listed, &*seen.nodes)
            && now != then
            && message.marks.is_empty()
        {
            let (habit, form) = match now {
                true => (UnmarkedText::StaysList, form::LIST),
                false => (UnmarkedText::BecomesString, form::TEXT),
            };
            session.request.unmarked_text = habit;
            forms.insert(node, Value::from(form));
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
            // A list of requests is imported one after the other.
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
                // An answer that is logged after its request is repeated by the next request.
                let repeated =
                    (!session.request.is_empty()).then(|| fingerprint_of_answer(&message));
                session.single(read_message(self.provider, message)?)?;
                if let Some(fingerprint) = repeated {
                    session.request.add_answer(fingerprint);
                }
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

/// Reads an entry ahead if it is a single message, not a request.
pub(crate) fn read_ahead(provider: Provider, value: Value) -> Entry {
    match &value {
        Value::Array(_) => Entry::Value(value),
        Value::Object(object) if is_request(provider, object) => Entry::Value(value),
        _ => read_message(provider, value).into(),
    }
}
