//! Counts one span of a request as the model reads it: texts, names and arguments, without ids,
//! signatures and the names of fields.
//!
//! The shapes are those of all four providers; anything else is counted as JSON.

use contextree_json::{Object, Value, parse};
use contextree_provider::List;
use contextree_tokens::{Part, Tokenizer, count_json, count_text};

/// Returns the tokens of a span: its text, and what the provider adds around such a part.
pub(crate) fn count_span(bytes: &[u8], list: List, tokenizer: Tokenizer) -> u64 {
    let Ok(value) = parse(bytes) else {
        return json(bytes, tokenizer) + tokenizer.overhead(Part::Text);
    };
    let (part, tokens) = match &value {
        Value::Object(_) if list == List::Tools => (Part::Tool, json(bytes, tokenizer)),
        Value::Object(object) => count_object(object, bytes, tokenizer),
        value => (Part::Text, content(value, tokenizer)),
    };
    tokens + tokenizer.overhead(part)
}

fn count_object(object: &Object, bytes: &[u8], tokenizer: Tokenizer) -> (Part, u64) {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let field = |name: &str| object.get(name).map_or(0, |value| content(value, tokenizer));
    let inner = |name: &str| object.get(name).and_then(Value::as_object);
    let called = |call: &Object, arguments: &str| {
        let field = |name: &str| call.get(name).map_or(0, |value| free(value, tokenizer));
        field("name") + field(arguments)
    };
    let calls = [("function", "arguments"), ("functionCall", "args"), ("custom", "input")];
    if let Some((call, arguments)) = calls.iter().find_map(|(name, it)| Some((inner(name)?, it))) {
        return (Part::Call, called(call, arguments));
    }
    if let Some(response) = inner("functionResponse") {
        let said = response.get("response").map_or(0, |value| free(unwrapped(value), tokenizer));
        return (Part::Result, said);
    }
    match text("type").unwrap_or_default() {
        "tool_use" | "server_tool_use" | "custom_tool_call" => {
            (Part::Call, called(object, "input"))
        }
        "function_call" => (Part::Call, called(object, "arguments")),
        "tool_result" => (Part::Result, field("content")),
        "function_call_output" | "custom_tool_call_output" => (Part::Result, field("output")),
        "thinking" => (Part::Reasoning, field("thinking")),
        // The summary is for people; the model gets back what is encrypted.
        "reasoning" => (Part::Reasoning, field("content")),
        "redacted_thinking" => (Part::Reasoning, 0),
        "text" | "input_text" | "output_text" => (Part::Text, field("text")),
        "image" | "image_url" | "input_image" | "document" | "file" | "input_file"
        | "input_audio" => (Part::Media, json(bytes, tokenizer)),
        _ if text("role") == Some("tool") => (Part::Result, field("content")),
        _ if object.contains_key("content") => (Part::Text, field("content")),
        _ if object.contains_key("text") => (Part::Text, field("text")),
        _ if object.contains_key("inlineData") => (Part::Media, json(bytes, tokenizer)),
        _ => (Part::Text, json(bytes, tokenizer)),
    }
}

/// Returns the text of a function response: the API wants an object, so a text has one around it, which counts with everything else that
/// the format adds to a result.
fn unwrapped(response: &Value) -> &Value {
    let Some(object) = response.as_object().filter(|object| object.len() == 1) else {
        return response;
    };
    let text = ["output", "error", "result"].iter().find_map(|name| object.get(name));
    text.filter(|text| text.as_str().is_some()).unwrap_or(response)
}

/// Counts content: a text, or a list of texts and other parts.
fn content(value: &Value, tokenizer: Tokenizer) -> u64 {
    let part = |part: &Value| match part.get("text") {
        Some(text) => free(text, tokenizer),
        None => free(part, tokenizer),
    };
    match value {
        Value::Array(parts) => parts.iter().map(part).sum(),
        value => free(value, tokenizer),
    }
}

/// Counts a text as it is, nothing for `null`, and any other value as JSON.
fn free(value: &Value, tokenizer: Tokenizer) -> u64 {
    match value {
        Value::Null => 0,
        Value::String(text) => count_text(text, tokenizer).tokens,
        value => json(&value.to_canonical(), tokenizer),
    }
}

fn json(bytes: &[u8], tokenizer: Tokenizer) -> u64 {
    count_json(bytes, tokenizer).tokens
}

#[cfg(test)]
mod tests {
    use contextree_provider::List;
    use contextree_tokens::{Part, Tokenizer};

    use super::count_span;

    #[test]
    fn ids_signatures_and_names_of_fields_are_not_counted() {
        let tokenizer = Tokenizer::default();
        let check = |span: &str, part: Part, said: &[&str]| {
            let expected: u64 = said.iter().map(|text| tokenizer.count(text)).sum();
            let found = count_span(span.as_bytes(), List::Messages, tokenizer);
            assert_eq!(found, expected + tokenizer.overhead(part), "{span}");
        };
        check(r#""hello world""#, Part::Text, &["hello world"]);
        check(r#"{"text":"hello world","type":"text"}"#, Part::Text, &["hello world"]);
        check(
            r#"{"id":"toolu_01AbCdEfGh","input":{"city":"Oslo"},"name":"weather","type":"tool_use"}"#,
            Part::Call,
            &["weather", r#"{"city":"Oslo"}"#],
        );
        check(
            r#"{"function":{"arguments":"{\"a\":1}","name":"f"},"id":"call_0","type":"function"}"#,
            Part::Call,
            &["f", r#"{"a":1}"#],
        );
        check(r#"{"functionCall":{"args":{"a":1},"name":"f"}}"#, Part::Call, &["f", r#"{"a":1}"#]);
        let response = |value: &str| {
            format!(r#"{{"functionResponse":{{"id":"call_0","name":"f","response":{value}}}}}"#)
        };
        check(&response(r#"{"output":"rain"}"#), Part::Result, &["rain"]);
        check(&response(r#"{"rain":true}"#), Part::Result, &[r#"{"rain":true}"#]);
        check(
            r#"{"content":[{"text":"rain","type":"text"}],"tool_use_id":"toolu_01AbCdEfGh","type":"tool_result"}"#,
            Part::Result,
            &["rain"],
        );
        check(
            r#"{"content":"rain","role":"tool","tool_call_id":"call_0"}"#,
            Part::Result,
            &["rain"],
        );
        check(
            r#"{"signature":"EqAb9xYzEqAb9xYz","thinking":"so","type":"thinking"}"#,
            Part::Reasoning,
            &["so"],
        );
        check(r#"{"data":"EqAb9xYzEqAb","type":"redacted_thinking"}"#, Part::Reasoning, &[]);
        check(
            r#"{"encrypted_content":"gAAAAB","summary":[{"text":"short","type":"summary_text"}],"type":"reasoning"}"#,
            Part::Reasoning,
            &[],
        );
        check(r#"{"content":"hi","role":"user"}"#, Part::Text, &["hi"]);
        check(r#"{"content":null,"role":"assistant"}"#, Part::Text, &[]);
    }
}
