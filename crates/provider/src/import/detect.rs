//! Finding out which format something is.

use contextree_json::Value;

use super::Format;

/// Returns the format that a document, or the first line of a log, looks like.
pub(crate) fn detect(value: &Value) -> Option<Format> {
    match value {
        Value::Array(elements) => elements.iter().find_map(detect),
        Value::Object(_) => detect_object(value),
        _ => None,
    }
}

fn detect_object(value: &Value) -> Option<Format> {
    let has = |name: &str| value.get(name).is_some();
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let list = |name: &str| value.get(name).and_then(Value::as_array);
    if has("conversations") || (has("from") && has("value")) {
        return Some(Format::ShareGpt);
    }
    if has("resourceSpans")
        || has("gen_ai.input.messages")
        || value.get("attributes").is_some_and(is_otel)
    {
        return Some(Format::OTel);
    }
    if has("lc")
        || (has("data") && matches!(text("type"), Some("human" | "ai" | "system" | "tool")))
    {
        return Some(Format::LangChain);
    }
    if has("payload")
        && matches!(
            text("type"),
            Some("session_meta" | "turn_context" | "response_item" | "event_msg" | "compacted")
        )
    {
        return Some(Format::Codex);
    }
    if has("sessionId") || has("parentUuid") || has("leafUuid") {
        return Some(Format::ClaudeCode);
    }
    if has("contents") || (has("parts") && has("role") && !has("content")) {
        let otel =
            list("parts").is_some_and(|parts| parts.iter().any(|it| it.get("type").is_some()));
        return Some(if otel { Format::OTel } else { Format::Gemini });
    }
    if has("input") || has("instructions") {
        return Some(Format::OpenAiResponses);
    }
    if let Some(messages) = list("messages") {
        if has("system") || messages.iter().any(is_anthropic) || has("anthropic_version") {
            return Some(Format::Anthropic);
        }
        let mut tools = list("tools").into_iter().flatten();
        if tools.any(|tool| tool.get("input_schema").is_some()) {
            return Some(Format::Anthropic);
        }
        // With `max_tokens` and no sign of another, both would do.
        return Some(messages.iter().find_map(detect_log).unwrap_or(Format::OpenAiChat));
    }
    if has("role") {
        if is_anthropic(value) {
            return Some(Format::Anthropic);
        }
        let items = list("content").into_iter().flatten().filter_map(|part| part.get("type"));
        let response = |kind: &Value| {
            kind.as_str().is_some_and(|kind| kind.starts_with("input_") && kind != "input_audio")
                || kind.as_str() == Some("output_text")
        };
        if text("type") == Some("message") || items.into_iter().any(response) {
            return Some(Format::OpenAiResponses);
        }
        if has("tool_calls") || has("tool_call_id") || list("content").is_some() {
            return Some(Format::OpenAiChat);
        }
        return Some(Format::Flat);
    }
    let item = text("type")?;
    let is_item =
        ["function_call", "reasoning", "custom_tool_call", "item_reference", "compaction"]
            .iter()
            .any(|known| item.starts_with(known));
    is_item.then_some(Format::OpenAiResponses)
}

fn detect_log(message: &Value) -> Option<Format> {
    let format = detect(message)?;
    matches!(format, Format::LangChain | Format::ShareGpt | Format::OTel).then_some(format)
}

fn is_otel(attributes: &Value) -> bool {
    let name = |name: &str| name.starts_with("gen_ai.");
    match attributes {
        Value::Object(object) => object.keys().any(name),
        Value::Array(list) => {
            list.iter().any(|it| it.get("key").and_then(Value::as_str).is_some_and(name))
        }
        _ => false,
    }
}

fn is_anthropic(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array).unwrap_or_default();
    blocks.iter().any(|block| {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        let typed = ["tool_use", "tool_result", "thinking", "redacted_thinking", "document"];
        typed.contains(&kind)
            || block.get("source").is_some()
            || block.get("cache_control").is_some()
    })
}
