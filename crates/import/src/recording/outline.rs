//! What tells conversations apart: fingerprints of the messages of a request.

use contextree_json::{Object, Value};
use contextree_provider::Provider;

use super::{located, shape};
use crate::error::ImportError;
use crate::fingerprint::{Fingerprint, Unmarked, chained, essence_of, fingerprint};
use crate::logs::requests::is_system;

/// The fingerprints of a request.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Of its messages, without cache breakpoints.
    pub(super) messages: Vec<Fingerprint>,
    /// Of what its messages say, without fields that providers add to answers.
    pub(super) essences: Vec<Fingerprint>,
    /// Of its tools and its system text.
    preamble: Fingerprint,
    /// The texts of its first messages, where a summary of what was dropped would be.
    pub(super) opening: String,
    /// The response that it continues, if the provider keeps the conversation.
    pub(super) previous: Option<String>,
}

impl Outline {
    /// Reads a request as far as it is needed to find its conversation.
    ///
    /// # Errors
    ///
    /// If the messages are not a list. Nothing else is checked here.
    pub fn of(provider: Provider, request: &Object) -> Result<Outline, ImportError> {
        let field = provider.messages_field();
        let mut messages = match request.get(field) {
            Some(Value::Array(list)) => list.clone(),
            Some(text @ Value::String(_)) => vec![text.clone()],
            None => Vec::new(),
            Some(_) => return Err(located(shape(field, "a list of messages"))),
        };
        let leading = match provider {
            Provider::OpenAiChat => messages.iter().take_while(|it| is_system(it)).count(),
            _ => 0,
        };
        let mut preamble = Object::new();
        for name in ["tools", "system", "instructions", "systemInstruction"] {
            if let Some(value) = request.get(name) {
                preamble.insert(name, value.clone());
            }
        }
        let system: Vec<Value> = messages.drain(..leading).collect();
        preamble.insert("messages", Value::Array(system));
        let mut opening = String::new();
        messages.iter().take(3).for_each(|message| texts(message, &mut opening));
        let named = |value: &Object, name: &str| value.get(name)?.as_str().map(str::to_owned);
        let thread = request.get("thread").and_then(Value::as_object);
        let previous = named(request, "previous_response_id")
            .or_else(|| named(thread?, "previous_message_id"));
        let essences = messages.iter().map(essence_of).collect();
        let look = |message: &mut Value| Unmarked::take(provider, message).fingerprint;
        Ok(Outline {
            messages: messages.iter_mut().map(look).collect(),
            essences,
            preamble: fingerprint(&Value::Object(preamble)),
            opening,
            previous,
        })
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns whether tools and system text are the same as those of another request.
    #[must_use]
    pub fn has_preamble_of(&self, other: &Outline) -> bool {
        self.preamble == other.preamble
    }

    /// Returns the number of messages that both begin with.
    #[must_use]
    pub fn common(&self, other: &Outline) -> usize {
        self.messages.iter().zip(&other.messages).take_while(|(one, two)| one == two).count()
    }

    /// Returns a fingerprint of the first `length` messages together; `None` if there are fewer.
    #[must_use]
    pub fn beginning(&self, length: usize) -> Option<(u64, u64)> {
        self.messages.get(..length).map(chained)
    }
}

/// Collects the texts of a message.
pub(super) fn texts(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|value| texts(value, out)),
        Value::Object(object) => {
            for name in ["content", "parts", "text"] {
                object.get(name).into_iter().for_each(|value| texts(value, out));
            }
        }
        _ => {}
    }
}
