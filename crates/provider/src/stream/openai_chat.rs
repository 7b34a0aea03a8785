//! Collects the chunks of OpenAI's Chat Completions: each adds a delta to the message of a choice.

use std::collections::BTreeMap;

use contextree_json::{Object, Value};

use super::StreamError;
use super::grow::{Fields, Growing, object};
use crate::read::Shape;

/// A completion in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Completion {
    /// The fields besides the choices; the newest value of each.
    fields: Object,
    choices: BTreeMap<u64, Choice>,
    text: String,
    is_ended: bool,
}

/// A choice in progress.
#[derive(Clone, Debug, Default)]
struct Choice {
    fields: Fields,
    message: Fields,
}

impl Completion {
    pub(super) fn add(&mut self, event: Value) -> Result<(), StreamError> {
        let Value::Object(event) = event else { return Err(Shape::new("an object").into()) };
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(StreamError::reported(error));
        }
        // The SDK's own events carry the chunk of the API inside.
        if event.get("type").and_then(Value::as_str) == Some("chunk") {
            let chunk = event.get("chunk").cloned();
            let chunk = chunk.filter(|chunk| chunk.get("type").is_none());
            return self.add(chunk.ok_or_else(|| Shape::new("a chunk").within("chunk"))?);
        }
        if event.contains_key("type") && !event.contains_key("choices") {
            // The other events of the SDK repeat what its chunks say.
            return Ok(());
        }
        let Some(Value::Array(_)) = event.get("choices") else {
            return Err(Shape::new("a list").within("choices").into());
        };
        for (name, value) in event {
            match (&*name, value) {
                ("choices", Value::Array(choices)) => {
                    for (index, choice) in choices.into_iter().enumerate() {
                        let within = |shape: Shape| shape.within(&format!("choices[{index}]"));
                        self.add_choice(choice, index).map_err(within)?;
                    }
                }
                (_, Value::Null) => {}
                (_, value) => drop(self.fields.insert(name, value)),
            }
        }
        Ok(())
    }

    /// Notes the `[DONE]` at the end of the stream.
    pub(super) fn end(&mut self) {
        self.is_ended = true;
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The last event, `[DONE]`, does not reach programs that read events from an SDK: there the reason for which every choice ended tells.
    pub(super) fn is_complete(&self) -> bool {
        let is_finished = |choice: &Choice| choice.fields.contains_key("finish_reason");
        !self.choices.is_empty() && (self.is_ended || self.choices.values().all(is_finished))
    }

    pub(super) fn into_document(self) -> Value {
        let mut document = self.fields;
        document.insert("object", Value::from("chat.completion"));
        let choices = self.choices.into_iter().map(|(index, choice)| choice.into_value(index));
        document.insert("choices", Value::Array(choices.collect()));
        Value::Object(document)
    }

    fn add_choice(&mut self, choice: Value, position: usize) -> Result<(), Shape> {
        let Value::Object(choice) = choice else { return Err(Shape::new("an object")) };
        let index = match choice.get("index") {
            None | Some(Value::Null) => position as u64,
            Some(index) => {
                index.as_u64().ok_or_else(|| Shape::new("a whole number").within("index"))?
            }
        };
        let Choice { fields, message } = self.choices.entry(index).or_default();
        for (name, value) in choice {
            match (&*name, value) {
                ("index", _) | (_, Value::Null) => {}
                ("delta", Value::Object(delta)) => {
                    if let (0, Some(more)) = (index, delta.get("content").and_then(Value::as_str)) {
                        self.text.push_str(more);
                    }
                    grow(message, delta);
                }
                ("delta", _) => return Err(Shape::new("an object").within("delta")),
                ("logprobs", Value::Object(more)) => {
                    let mut grown = match fields.remove("logprobs") {
                        Some(grown @ Growing::Object(_)) => grown,
                        _ => Growing::Object(Fields::new()),
                    };
                    grown.merge(Value::Object(more));
                    fields.insert("logprobs".to_owned(), grown);
                }
                (_, value) => drop(fields.insert(name.into(), value.into())),
            }
        }
        Ok(())
    }
}

/// Adds a delta to a message. Fields that are null and stay so are left out, except those that every message has.
fn grow(message: &mut Fields, delta: Object) {
    for name in ["content", "refusal"] {
        if delta.get(name).is_some_and(Value::is_null) && !message.contains_key(name) {
            message.insert(name.to_owned(), Growing::Other(Value::Null));
        }
    }
    let mut grown = Growing::Object(std::mem::take(message));
    let known = delta.into_iter().filter(|(_, value)| !value.is_null());
    grown.merge(Value::Object(known.collect()));
    if let Growing::Object(fields) = grown {
        *message = fields;
    }
}

impl Choice {
    fn into_value(self, index: u64) -> Value {
        let Choice { fields, mut message } = self;
        message.entry("role".to_owned()).or_insert_with(|| Growing::Text("assistant".to_owned()));
        // The position of a call in the stream; a message has none.
        if let Some(Growing::List(calls)) = message.get_mut("tool_calls") {
            for call in calls.iter_mut().filter_map(|call| call.fields().ok()) {
                call.remove("index");
            }
        }
        let mut choice = object(fields);
        choice.insert("index", Value::from(index));
        choice.insert("message", Value::Object(object(message)));
        Value::Object(choice)
    }
}
