//! Writes logs of requests from the messages of a conversation, as clients of several kinds would have
//! sent them: what the importer must give back exactly, written without it.

use serde_json::{Value, json};

/// A log of requests: the text of each line.
pub(crate) type Lines = Vec<String>;

/// Returns the logs of a conversation in Chat Completions, one for each style; none if it has no answer.
pub(crate) fn logs(values: &[Value]) -> Vec<Lines> {
    let messages = match values {
        [Value::Array(messages)] => messages,
        _ => return Vec::new(),
    };
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let known = ["system", "user", "assistant", "tool"];
    // Calls without a function are not those of a provider, and no client sends them.
    let calls = |message: &Value| message["tool_calls"].as_array().cloned().unwrap_or_default();
    let is_message = |message: &Value| {
        known.contains(&&*role(message))
            && calls(message).iter().all(|call| call["function"].is_object())
    };
    if !messages.iter().all(is_message) {
        return Vec::new();
    }
    let answers: Vec<usize> =
        (1..messages.len()).filter(|index| role(&messages[*index]) == "assistant").collect();
    let styles = [chat, chat_reversed, anthropic, anthropic_marked, anthropic_cleared];
    let log = |style: fn(&[Value], usize) -> Option<String>| -> Lines {
        let lines = answers.iter().enumerate();
        lines.filter_map(|(call, end)| style(&messages[..*end], call)).collect()
    };
    styles.into_iter().map(log).filter(|lines| !lines.is_empty()).collect()
}

/// Returns the keys of a JSON text, in its order.
pub(crate) fn keys(text: &[u8]) -> Vec<&[u8]> {
    let (mut keys, mut at) = (Vec::new(), 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'"' {
            continue;
        }
        let start = at;
        while text.get(at).is_some_and(|byte| *byte != b'"') {
            at += if text[at] == b'\\' { 2 } else { 1 };
        }
        let end = at.min(text.len());
        at = end + 1;
        let next = text.get(at..).unwrap_or_default().iter().find(|it| !it.is_ascii_whitespace());
        if next == Some(&b':') {
            keys.push(&text[start..end]);
        }
    }
    keys
}

/// Like the official client: the model first, and settings that change from call to call.
fn chat(messages: &[Value], call: usize) -> Option<String> {
    let stream = call.is_multiple_of(2);
    Some(format!(
        r#"{{"model":"gpt-4o","temperature":0.0,"messages":{},"tools":[{{"type":"function","function":{{"name":"w","description":"d","parameters":{{"type":"object","properties":{{"a":{{"type":"string"}}}}}}}}}}],"stream":{stream}}}"#,
        Value::from(messages)
    ))
}

/// With all keys in the opposite order.
fn chat_reversed(messages: &[Value], call: usize) -> Option<String> {
    let all: Value = serde_json::from_str(&chat(messages, call)?).ok()?;
    Some(reversed(&all))
}

fn reversed(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let fields = object.iter().rev();
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), reversed(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(reversed).collect();
            format!("[{}]", list.join(","))
        }
        plain => plain.to_string(),
    }
}

fn anthropic(messages: &[Value], call: usize) -> Option<String> {
    request(&turns(messages), call)
}

/// With a breakpoint on the newest block.
fn anthropic_marked(messages: &[Value], call: usize) -> Option<String> {
    let mut turns = turns(messages);
    let last = &mut turns.last_mut()?["content"];
    if let Some(text) = last.as_str() {
        *last = json!([{"type": "text", "text": text}]);
    }
    last.as_array_mut()?.last_mut()?["cache_control"] = json!({"type": "ephemeral"});
    request(&turns, call)
}

/// With all results but the newest two cleared.
fn anthropic_cleared(messages: &[Value], call: usize) -> Option<String> {
    let mut turns = turns(messages);
    let blocks = turns.iter_mut().filter_map(|turn| turn["content"].as_array_mut()).flatten();
    let mut results: Vec<&mut Value> =
        blocks.filter(|block| block["type"] == "tool_result").collect();
    let kept = results.len().saturating_sub(2);
    for result in &mut results[..kept] {
        result["content"] = Value::from("[cleared]");
    }
    request(&turns, call)
}

fn request(turns: &[Value], call: usize) -> Option<String> {
    let max_tokens = 4096 + call % 2;
    // Anthropic refuses a conversation that the model begins.
    turns.first().is_some_and(|first| first["role"] == "user").then(|| {
        format!(
            r#"{{"model":"claude-opus-4-6","max_tokens":{max_tokens},"system":[{{"type":"text","text":"Rules."}}],"tools":[{{"name":"w","input_schema":{{"type":"object","properties":{{}}}}}}],"messages":{}}}"#,
            Value::from(turns)
        )
    })
}

/// Returns messages as Anthropic has them: results are blocks of the user.
fn turns(messages: &[Value]) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    for message in messages {
        let text = message["content"].as_str().filter(|text| !text.trim().is_empty());
        match message["role"].as_str() {
            Some("user") => turns.push(json!({"role": "user", "content": text.unwrap_or("x")})),
            Some("assistant") => {
                let mut blocks: Vec<Value> =
                    text.iter().map(|text| json!({"type": "text", "text": text})).collect();
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let function = &call["function"];
                    let arguments = function["arguments"].as_str().unwrap_or("{}");
                    let input: Value = serde_json::from_str(arguments).unwrap_or_default();
                    let input = if input.is_object() { input } else { json!({}) };
                    blocks.push(json!({"type": "tool_use", "id": call["id"], "name": function["name"], "input": input}));
                }
                if !blocks.is_empty() {
                    turns.push(json!({"role": "assistant", "content": blocks}));
                }
            }
            Some("tool") => {
                let id = &message["tool_call_id"];
                let block = json!({"type": "tool_result", "tool_use_id": id, "content": message["content"]});
                match turns.last_mut().filter(|last| last["role"] == "user") {
                    Some(last) if last["content"].is_array() => {
                        last["content"]
                            .as_array_mut()
                            .into_iter()
                            .for_each(|it| it.push(block.clone()));
                    }
                    _ => turns.push(json!({"role": "user", "content": [block]})),
                }
            }
            _ => {}
        }
    }
    turns
}
