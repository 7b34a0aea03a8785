//! Collects Gemini's chunks: each is a response with the parts that are new.

use std::collections::BTreeMap;

use contextree_json::{Object, Value};

use super::StreamError;
use crate::gemini::get;
use crate::read::Shape;

/// An answer in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The fields besides the candidates; the newest value of each.
    fields: Object,
    candidates: BTreeMap<u64, Candidate>,
    text: String,
    skipped: Vec<String>,
}

/// A candidate in progress.
#[derive(Clone, Debug, Default)]
struct Candidate {
    fields: Object,
    /// The fields of its content besides the parts.
    content: Object,
    parts: Vec<Part>,
}

/// A part of the content.
#[derive(Clone, Debug)]
enum Part {
    /// A text without a signature, which the next chunk may continue. Thoughts and other texts are not joined.
    Text {
        text: String,
        is_thought: bool,
    },
    Whole(Value),
}

impl Answer {
    pub(super) fn add(&mut self, event: Value) -> Result<(), StreamError> {
        let Value::Object(event) = event else { return Err(Shape::new("an object").into()) };
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(StreamError::reported(error));
        }
        let known = ["candidates", "usageMetadata", "promptFeedback", "responseId", "modelVersion"];
        if !known.iter().any(|name| get(&event, name).is_some()) {
            return Err(Shape::new("a chunk of a response").into());
        }
        for (name, value) in event {
            match (camel(&name).as_str(), value) {
                ("candidates", Value::Array(candidates)) => {
                    for (index, candidate) in candidates.into_iter().enumerate() {
                        let within = |shape: Shape| shape.within(&format!("candidates[{index}]"));
                        self.add_candidate(candidate, index).map_err(within)?;
                    }
                }
                // Only the SDK has it: the headers of the HTTP response.
                (_, Value::Null) | ("sdkHttpResponse", _) => {}
                ("usageMetadata", Value::Object(changed)) => {
                    let mut usage = match self.fields.remove("usageMetadata") {
                        Some(Value::Object(usage)) => usage,
                        _ => Object::new(),
                    };
                    for (name, value) in changed.into_iter().filter(|(_, value)| !value.is_null()) {
                        usage.insert(camel(&name), value);
                    }
                    self.fields.insert("usageMetadata", Value::Object(usage));
                }
                (name, value) => drop(self.fields.insert(name, value)),
            }
        }
        Ok(())
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A prompt that was blocked has no candidate.
    pub(super) fn is_complete(&self) -> bool {
        let is_blocked = self.fields.get("promptFeedback").and_then(Value::as_object);
        let is_blocked = is_blocked.is_some_and(|it| get(it, "blockReason").is_some());
        let is_finished = |it: &Candidate| it.fields.contains_key("finishReason");
        match self.candidates.is_empty() {
            true => is_blocked,
            false => self.candidates.values().all(is_finished),
        }
    }

    pub(super) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    pub(super) fn into_document(self) -> Value {
        let mut document = self.fields;
        let candidates = self.candidates.into_iter().map(|(index, it)| it.into_value(index));
        document.insert("candidates", Value::Array(candidates.collect()));
        Value::Object(document)
    }

    fn add_candidate(&mut self, candidate: Value, position: usize) -> Result<(), Shape> {
        let Value::Object(candidate) = candidate else { return Err(Shape::new("an object")) };
        let index = match candidate.get("index") {
            None | Some(Value::Null) => position as u64,
            Some(index) => {
                index.as_u64().ok_or_else(|| Shape::new("a whole number").within("index"))?
            }
        };
        let known = self.candidates.entry(index).or_default();
        for (name, value) in candidate {
            match (camel(&name).as_str(), value) {
                ("index", _) | (_, Value::Null) => {}
                ("content", Value::Object(content)) => {
                    for (name, value) in content {
                        match (&*name, value) {
                            (_, Value::Null) => {}
                            ("parts", Value::Array(parts)) => {
                                for part in parts {
                                    if is_piece_of_call(&part) {
                                        self.skipped = vec!["`partialArgs`".to_owned()];
                                    }
                                    known.add_part(part, (index == 0).then_some(&mut self.text));
                                }
                            }
                            (_, value) => drop(known.content.insert(name, value)),
                        }
                    }
                }
                (name, value) => drop(known.fields.insert(name, value)),
            }
        }
        Ok(())
    }
}

impl Candidate {
    fn add_part(&mut self, part: Value, text: Option<&mut String>) {
        let Some((more, is_more_thought)) = plain_text(&part) else {
            return self.parts.push(Part::Whole(part));
        };
        if let (Some(text), false) = (text, is_more_thought) {
            text.push_str(more);
        }
        match self.parts.last_mut() {
            Some(Part::Text { text, is_thought }) if *is_thought == is_more_thought => {
                text.push_str(more);
            }
            _ => {
                self.parts.push(Part::Text { text: more.to_owned(), is_thought: is_more_thought });
            }
        }
    }

    fn into_value(self, index: u64) -> Value {
        let Candidate { mut fields, mut content, parts } = self;
        if !content.is_empty() || !parts.is_empty() {
            let parts = parts.into_iter().map(|part| match part {
                Part::Whole(value) => value,
                Part::Text { text, is_thought } => {
                    let mut part = Object::from_iter([("text", Value::String(text.into()))]);
                    if is_thought {
                        part.insert("thought", Value::Bool(true));
                    }
                    Value::Object(part)
                }
            });
            content.insert("parts", Value::Array(parts.collect()));
            fields.insert("content", Value::Object(content));
        }
        fields.insert("index", Value::from(index));
        Value::Object(fields)
    }
}

/// Returns the text of a part that is nothing but text, and whether it is a thought. A part with a signature must be returned to the
/// provider as it is.
fn plain_text(part: &Value) -> Option<(&str, bool)> {
    let object = part.as_object()?;
    let is_plain =
        |(name, value): (&str, &Value)| value.is_null() || ["text", "thought"].contains(&name);
    let is_thought = object.get("thought").and_then(Value::as_bool).unwrap_or(false);
    let text = object.get("text")?.as_str()?;
    object.iter().all(is_plain).then_some((text, is_thought))
}

/// Returns whether the arguments of a call are streamed piece by piece.
fn is_piece_of_call(part: &Value) -> bool {
    let call = part.as_object().and_then(|part| get(part, "functionCall"));
    call.and_then(Value::as_object).is_some_and(|call| get(call, "partialArgs").is_some())
}

/// Returns the API's name of a field, which the Python SDK spells in `snake_case`.
fn camel(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    let mut after_bar = false;
    for letter in name.chars() {
        match letter {
            '_' => after_bar = true,
            letter if std::mem::take(&mut after_bar) => spelled.push(letter.to_ascii_uppercase()),
            letter => spelled.push(letter),
        }
    }
    spelled
}
