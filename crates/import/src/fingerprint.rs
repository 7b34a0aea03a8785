//! Computes fingerprints, which recognise a message that a later request repeats, and separates
//! messages from their cache breakpoints.
//!
//! A log of requests repeats the conversation in every line, but not literally: cache breakpoints
//! move from request to request, and a client that writes a text as a list only to attach a
//! breakpoint writes it as a string again later. Neither changes the content. So a message is
//! compared without its breakpoints, and with a single text always in the form of a string.
//! [`Unmarked`] keeps what this removes, so that the newest request can be rendered exactly as it
//! was logged.

use contextree_json::{Object, Value};
use contextree_provider::Provider;

/// A fingerprint that recognises a message repeated in a later request: 128 bits of hash, so that
/// accidental collisions do not occur in practice. Recordings store those of messages that were left
/// out, so every version computes the same.
pub(crate) type Fingerprint = (u64, u64);

/// Returns the fingerprint of a message without normalising it.
pub(crate) fn fingerprint(value: &Value) -> Fingerprint {
    let mut mixer = Mixer::default();
    mixer.value(value);
    mixer.finish()
}

/// Returns the fingerprint of several messages in a row.
pub(crate) fn chained(messages: &[Fingerprint]) -> Fingerprint {
    let mut mixer = Mixer::default();
    for (first, second) in messages {
        mixer.word(*first);
        mixer.word(*second);
    }
    mixer.finish()
}

/// A hash function of two lanes of 64 bits. Every value begins with its kind, and every text and list
/// with its length, so that different values never feed the same words.
struct Mixer(u64, u64);

impl Default for Mixer {
    fn default() -> Self {
        Mixer(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344)
    }
}

impl Mixer {
    fn word(&mut self, word: u64) {
        self.0 = folded(self.0 ^ word, 0x9e37_79b9_7f4a_7c15);
        self.1 = folded(self.1.rotate_left(29) ^ word, 0xd6e8_feb8_6659_fd93);
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for piece in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..piece.len()].copy_from_slice(piece);
            self.word(u64::from_le_bytes(bytes));
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.word(1),
            Value::Bool(truth) => self.word(2 + u64::from(*truth)),
            Value::Number(_) => {
                self.word(4);
                self.text(&String::from_utf8_lossy(&value.to_canonical()));
            }
            Value::String(text) => {
                self.word(5);
                self.text(text);
            }
            Value::Array(list) => {
                self.word(6);
                self.word(list.len() as u64);
                list.iter().for_each(|value| self.value(value));
            }
            Value::Object(object) => {
                self.word(7);
                self.word(object.len() as u64);
                for (name, value) in object.iter() {
                    self.text(name);
                    self.value(value);
                }
            }
        }
    }

    fn finish(mut self) -> Fingerprint {
        self.word(8);
        (self.0, self.1)
    }
}

/// Returns both halves of a product, one laid over the other.
fn folded(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A message of a request, prepared for comparison: its fingerprint, and what the fingerprint
/// ignores.
#[derive(Clone, Debug)]
pub(crate) struct Unmarked {
    pub(crate) fingerprint: Fingerprint,
    /// Breakpoints, by the index of their part.
    pub(crate) marks: Vec<(usize, Object)>,
    /// If the message consists of a single text: whether that is written as a list.
    pub(crate) listed: Option<bool>,
}

impl Unmarked {
    /// Computes the fingerprint of a message and removes its breakpoints.
    pub(crate) fn take(provider: Provider, message: &mut Value) -> Unmarked {
        let marks = take_marks(provider, message);
        let listed = match message.get("content") {
            Some(Value::String(_)) => Some(false),
            _ => single_text(message).map(|_| true),
        };
        Unmarked { fingerprint: fingerprint_of(message), marks, listed }
    }
}

/// Returns a fingerprint of what an answer says, which recognizes it in the next request: clients
/// leave out fields that the provider added, such as ids of items and empty lists.
pub(crate) fn essence_of(message: &Value) -> Fingerprint {
    let mut message = essence(message);
    fingerprint_of(&mut message)
}

fn essence(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let is_item = object.contains_key("type");
            let kept = object.iter().filter(|(name, value)| {
                let is_empty = match value {
                    Value::Null => true,
                    Value::Array(list) => list.is_empty(),
                    _ => false,
                };
                let is_added = match *name {
                    "status" | "annotations" | "logprobs" | "phase" => true,
                    // The ids of calls identify them; those of items need not be repeated.
                    "id" => is_item && object.contains_key("call_id") || is_message(object),
                    _ => false,
                };
                !is_empty && !is_added
            });
            Value::Object(kept.map(|(name, value)| (name, essence(value))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(essence).collect()),
        value => value.clone(),
    }
}

fn is_message(object: &Object) -> bool {
    matches!(object.get("type").and_then(Value::as_str), Some("message" | "reasoning"))
}

/// Replaces a list of a single text by the text.
pub(crate) fn write_as_text(message: &mut Value) {
    let text = single_text(message).map(Value::from);
    if let (Value::Object(object), Some(text)) = (message, text) {
        object.insert("content", text);
    }
}

fn fingerprint_of(message: &mut Value) -> Fingerprint {
    if let Value::String(text) = message {
        // An input that is a string is a user message.
        let said = [("role", Value::from("user")), ("content", Value::String(text.clone()))];
        return fingerprint(&Value::Object(Object::from_iter(said)));
    }
    let Some(text) = single_text(message).map(Value::from) else { return fingerprint(message) };
    let Value::Object(object) = &mut *message else { return fingerprint(message) };
    let list = object.insert("content", text);
    let found = fingerprint(message);
    if let (Value::Object(object), Some(list)) = (message, list) {
        object.insert("content", list);
    }
    found
}

/// Returns the text of a message whose content is a list of exactly one text without further
/// fields.
fn single_text(message: &Value) -> Option<&str> {
    let [Value::Object(part)] = message.get("content")?.as_array()? else { return None };
    let kind = part.get("type")?.as_str()?;
    let plain = matches!(kind, "text" | "input_text") && part.len() == 2;
    part.get("text")?.as_str().filter(|_| plain)
}

fn take_marks(provider: Provider, message: &mut Value) -> Vec<(usize, Object)> {
    let Some(field) = provider.breakpoint_field() else { return Vec::new() };
    // The parts of a tool result are kept unchanged.
    if message.get("role").and_then(Value::as_str).is_none_or(|role| role == "tool") {
        return Vec::new();
    }
    let Value::Object(object) = message else { return Vec::new() };
    let Some(Value::Array(parts)) = object.get_mut("content") else { return Vec::new() };
    let mut marks = Vec::new();
    for (index, part) in parts.iter_mut().enumerate() {
        if let Value::Object(part) = part
            && let Some(mark) = part.remove(field)
        {
            marks.push((index, Object::from_iter([(field, mark)])));
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(provider: Provider, message: &str) -> (Unmarked, String) {
        let mut value = contextree_json::parse(message.as_bytes()).expect("it is JSON");
        let unmarked = Unmarked::take(provider, &mut value);
        (unmarked, String::from_utf8(value.to_canonical()).expect("it is ASCII"))
    }

    #[test]
    fn fingerprint_ignores_breakpoints() {
        let marked = r#"{"content":[{"cache_control":{"type":"ephemeral"},"text":"a","type":"text"}],"role":"user"}"#;
        let listed = r#"{"content":[{"text":"a","type":"text"}],"role":"user"}"#;
        let plain = r#"{"content":"a","role":"user"}"#;
        let other = r#"{"content":"b","role":"user"}"#;
        let (first, stripped) = look(Provider::Anthropic, marked);
        assert_eq!(stripped, listed, "only the breakpoint was removed");
        assert_eq!(first.marks.len(), 1);
        let known = [listed, plain].map(|it| look(Provider::Anthropic, it).0);
        assert_eq!(known.clone().map(|it| it.fingerprint), [first.fingerprint; 2]);
        assert_eq!(known.map(|it| it.listed), [Some(true), Some(false)]);
        assert_ne!(look(Provider::Anthropic, other).0.fingerprint, first.fingerprint);
        assert_eq!(look(Provider::Gemini, marked).1, marked, "not a field of this provider");
    }

    #[test]
    fn fingerprint_is_the_same_in_every_version() {
        let value = contextree_json::parse(
            br#"{"a":[null,true,false,1,1.0,"text of more than eight bytes"],"b":{},"c":[]}"#,
        );
        let found = fingerprint(&value.expect("it is JSON"));
        assert_eq!(found, (11_516_346_706_861_377_431, 681_089_269_294_039_676));
    }

    #[test]
    fn different_values_have_different_fingerprints() {
        let texts = [
            "[]",
            "{}",
            "\"\"",
            "null",
            "0",
            "0.0",
            "\"0\"",
            "[[],[]]",
            "[[[]]]",
            r#"["ab","c"]"#,
            r#"["a","bc"]"#,
            r#"{"a":"b"}"#,
            r#"["a","b"]"#,
            r#""\u0000""#,
        ];
        let prints = texts
            .map(|text| fingerprint(&contextree_json::parse(text.as_bytes()).expect("it is JSON")));
        let distinct: std::collections::BTreeSet<Fingerprint> = prints.into_iter().collect();
        assert_eq!(distinct.len(), texts.len());
    }

    #[test]
    fn string_input_equals_a_user_message() {
        let (text, _) = look(Provider::OpenAiResponses, r#""hi""#);
        let (message, _) = look(Provider::OpenAiResponses, r#"{"role":"user","content":"hi"}"#);
        assert_eq!(text.fingerprint, message.fingerprint);
    }
}
