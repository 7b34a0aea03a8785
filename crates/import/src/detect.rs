//! Detects the format of a document or a log.
//!
//! Most logs begin with a plain message, which fits several formats, or with bookkeeping, which
//! fits none. The detector therefore reads entries until one of them fits only one format.

use contextree_json::Value;
use contextree_provider::Provider;
use contextree_provider::read::provider_of_answer;

use crate::format::Format;
use crate::logs::otel::is_dialect;
use crate::logs::requests::exchange::{entries_of, request_in};

/// The number of entries after which the best guess is used.
const PATIENCE: usize = 256;

/// Detects the format of a document; if several fit, the likeliest.
#[must_use]
pub fn detect(value: &Value) -> Option<Format> {
    let mut detector = Detector::default();
    match (detector.examine(value), detector.settle()) {
        (Verdict::Is(format), _) | (_, Verdict::Is(format)) => Some(format),
        _ => None,
    }
}

/// What an entry looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    /// Only this format fits.
    Sure(Format),
    /// This format fits, but so do others. A format that requires more fields ranks higher.
    Perhaps(Format, u8),
}

/// The state of detecting a format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detector {
    best: Option<(Format, u8)>,
    looked: usize,
}

/// The result after an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// More entries are needed.
    Wait,
    /// The format is known.
    Is(Format),
    /// The format cannot be detected.
    Unknown,
}

impl Detector {
    /// Examines one more entry.
    pub(crate) fn examine(&mut self, value: &Value) -> Verdict {
        match guess(value) {
            Some(Guess::Sure(format)) => return Verdict::Is(format),
            Some(Guess::Perhaps(format, rank)) if self.best.is_none_or(|(_, best)| rank > best) => {
                self.best = Some((format, rank));
            }
            _ => {}
        }
        self.looked += 1;
        if self.looked < PATIENCE { Verdict::Wait } else { self.settle() }
    }

    /// Returns the best guess after the last entry.
    pub(crate) fn settle(&self) -> Verdict {
        self.best.map_or(Verdict::Unknown, |(format, _)| Verdict::Is(format))
    }
}

/// Guesses the format of a document or a line. In a list, the first element that fits only one
/// format decides, or else the best guess of all elements.
fn guess(value: &Value) -> Option<Guess> {
    match value {
        Value::Array(elements) => guess_list(elements),
        Value::Object(_) => guess_object(value),
        _ => None,
    }
}

fn guess_list(elements: &[Value]) -> Option<Guess> {
    let mut best: Option<Guess> = None;
    for element in elements {
        match (guess(element), best) {
            (sure @ Some(Guess::Sure(_)), _) => return sure,
            (Some(Guess::Perhaps(_, rank)), Some(Guess::Perhaps(_, known))) if rank <= known => {}
            (Some(perhaps), _) => best = Some(perhaps),
            (None, _) => {}
        }
    }
    best
}

fn guess_object(value: &Value) -> Option<Guess> {
    let has = |name: &str| value.get(name).is_some();
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let list = |name: &str| value.get(name).and_then(Value::as_array);
    let sure = |format| Some(Guess::Sure(format));
    if list("flat_log").is_some() {
        return sure(Format::Flat);
    }
    if let Some(entries) = value.as_object().and_then(entries_of) {
        return entries.iter().find_map(guess_object);
    }
    if let Some(request) = value.as_object().and_then(request_in) {
        return guess_object(&request);
    }
    if let Some(provider) = provider_of_answer(value) {
        return sure(match provider {
            Provider::OpenAiResponses => Format::OpenAiResponses,
            Provider::Anthropic => Format::Anthropic,
            Provider::Gemini => Format::Gemini,
            _ => Format::OpenAiChat,
        });
    }
    if ["conversations", "conversation"].into_iter().any(|name| list(name).is_some())
        || (has("from") && has("value"))
    {
        return sure(Format::ShareGpt);
    }
    if is_otel(value) {
        return sure(Format::OTel);
    }
    if is_langchain(value) {
        return sure(Format::LangChain);
    }
    if is_codex(value) {
        return sure(Format::Codex);
    }
    if is_gemini_cli(value) {
        return sure(Format::GeminiCli);
    }
    if is_pi(value) {
        return sure(Format::Pi);
    }
    if is_trajectory(value) {
        return sure(Format::SweAgent);
    }
    // Gemini CLI lists the prompts of all its sessions like this.
    if has("messageId") && text("message").is_some() {
        return None;
    }
    if ["sessionId", "parentUuid", "leafUuid", "parent_tool_use_id"].into_iter().any(has)
        || (has("session_id") && has("type"))
    {
        return sure(Format::ClaudeCode);
    }
    if has("contents") || (has("parts") && has("role") && !has("content")) {
        let otel =
            list("parts").is_some_and(|parts| parts.iter().any(|it| it.get("type").is_some()));
        return sure(if otel { Format::OTel } else { Format::Gemini });
    }
    if let Some(messages) = list("messages") {
        return Some(guess_request(value, messages));
    }
    if let Some(simulations) = list("simulations") {
        return guess_list(simulations);
    }
    if has("role") {
        return Some(guess_message(value));
    }
    if list("input").is_some() && text("type").is_none() {
        return sure(Format::OpenAiResponses);
    }
    // Rows of data sets have an `input` too.
    let settings = ["model", "instructions", "prompt", "previous_response_id"];
    if settings.into_iter().any(has)
        && (text("input").is_some() || has("previous_response_id") || has("prompt"))
        && !has("output")
        && text("type").is_none()
        && text("prompt").is_none()
    {
        return sure(Format::OpenAiResponses);
    }
    is_item(text("type")?).then_some(Guess::Sure(Format::OpenAiResponses))
}

/// Guesses the format of a request with `messages`: OpenAI's, Anthropic's, or a list in another
/// log.
fn guess_request(request: &Value, messages: &[Value]) -> Guess {
    let list = |name: &str| request.get(name).and_then(Value::as_array).unwrap_or_default();
    let has = |name: &str| request.get(name).is_some();
    if list("tools").iter().any(|tool| tool.get("function").is_some()) {
        return Guess::Sure(Format::OpenAiChat);
    }
    if has("system")
        || has("anthropic_version")
        || list("tools").iter().any(|tool| tool.get("input_schema").is_some())
    {
        return Guess::Sure(Format::Anthropic);
    }
    match guess_list(messages) {
        Some(sure @ Guess::Sure(_)) => sure,
        perhaps => {
            let by_system =
                messages.iter().any(|it| it.get("role").and_then(Value::as_str) == Some("system"));
            let model = request.get("model").and_then(Value::as_str).unwrap_or_default();
            if model.starts_with("claude") && has("max_tokens") && !by_system {
                return Guess::Perhaps(Format::Anthropic, 3);
            }
            match perhaps {
                Some(Guess::Perhaps(format @ (Format::Anthropic | Format::PlainChat), rank)) => {
                    Guess::Perhaps(format, rank)
                }
                _ => Guess::Perhaps(Format::OpenAiChat, 3),
            }
        }
    }
}

/// Guesses the format of a message. Most providers use the same message, but not the same parts.
fn guess_message(message: &Value) -> Guess {
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    let role = text("role").unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
    if calls.iter().any(is_plain_call) || is_plain_result(message, role) {
        return Guess::Sure(Format::PlainChat);
    }
    let says = |name: &str| message.get(name).is_some_and(|value| !value.is_null());
    let called = ["tool_call_id", "function_call"];
    if !calls.is_empty() || called.into_iter().any(says) || role == "function" {
        return Guess::Sure(Format::OpenAiChat);
    }
    let parts = message.get("content").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_use" | "tool_result" | "thinking" | "redacted_thinking" => {
                return Guess::Sure(Format::Anthropic);
            }
            "image_url" | "input_audio" => return Guess::Sure(Format::OpenAiChat),
            "file" if part.get("file").is_some() => return Guess::Sure(Format::OpenAiChat),
            "output_text" => return Guess::Sure(Format::OpenAiResponses),
            _ if kind.starts_with("input_") => return Guess::Sure(Format::OpenAiResponses),
            _ if part.get("source").is_some() => return Guess::Sure(Format::Anthropic),
            _ => {}
        }
    }
    if text("type") == Some("message") {
        return Guess::Sure(Format::OpenAiResponses);
    }
    match parts {
        // Gateways accept Anthropic's cache markers in OpenAI requests too.
        Some(parts) if parts.iter().any(|part| part.get("cache_control").is_some()) => {
            Guess::Perhaps(Format::Anthropic, 2)
        }
        Some(_) => Guess::Perhaps(Format::OpenAiChat, 1),
        // Benchmarks number their messages.
        None if message.get("turn_idx").is_some() => Guess::Perhaps(Format::PlainChat, 2),
        None if message.get("tool_calls").is_some() => Guess::Perhaps(Format::OpenAiChat, 1),
        None => Guess::Perhaps(Format::Flat, 0),
    }
}

/// Returns whether a call has its name in itself.
fn is_plain_call(call: &Value) -> bool {
    let text = |name: &str| call.get(name).and_then(Value::as_str).is_some();
    text("name") && call.get("function").is_none() && call.get("custom").is_none()
}

/// Returns whether a result has the id of its call as its own.
fn is_plain_result(message: &Value, role: &str) -> bool {
    let has = |name: &str| message.get(name).is_some();
    role == "tool" && has("id") && !has("tool_call_id") && (has("requestor") || has("error"))
}

fn is_gemini_cli(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    let is_answer = value.get("type").and_then(Value::as_str) == Some("gemini");
    (has("sessionId") && has("projectHash"))
        || has("$rewindTo")
        || has("$set")
        || (is_answer && has("id") && has("content"))
}

fn is_pi(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    let role = value.get("message").and_then(|message| message.get("role")?.as_str());
    match value.get("type").and_then(Value::as_str) {
        Some("session") => has("id") && has("timestamp") && has("cwd"),
        Some("message") => {
            has("parentId") || matches!(role, Some("toolResult" | "bashExecution" | "custom"))
        }
        Some("model_change") => has("modelId"),
        Some("thinking_level_change") => has("thinkingLevel"),
        _ => false,
    }
}

fn is_trajectory(value: &Value) -> bool {
    let list = |name: &str| value.get(name).and_then(Value::as_array);
    let steps = list("trajectory").unwrap_or_default();
    let is_step = |step: &Value| step.get("response").is_some() && step.get("action").is_some();
    steps.iter().any(is_step)
        || (list("trajectory").is_some() && list("history").is_some())
        || (list("messages").is_some() && value.get("trajectory_format").is_some())
}

fn is_otel(value: &Value) -> bool {
    let named = |name: &str| name.starts_with("gen_ai.") || is_dialect(name);
    let has = |object: &Value| match object {
        Value::Object(object) => object.keys().any(named),
        Value::Array(list) => {
            list.iter().any(|it| it.get("key").and_then(Value::as_str).is_some_and(named))
        }
        _ => false,
    };
    let named_by = |field: &str| value.get(field).and_then(Value::as_str).is_some_and(named);
    let events = value.get("events").and_then(Value::as_array);
    let exports = ["resourceSpans", "resourceLogs", "resource_spans", "resource_logs"];
    exports.iter().any(|name| value.get(name).is_some())
        || has(value)
        || value.get("attributes").is_some_and(has)
        || ["event_name", "eventName", "event.name"].into_iter().any(named_by)
        || events.into_iter().flatten().any(|event| {
            let name = event.get("name").and_then(Value::as_str);
            name.is_some_and(named) || event.get("attributes").is_some_and(has)
        })
}

fn is_langchain(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let speaker = matches!(
        kind,
        "human" | "ai" | "HumanMessageChunk" | "AIMessageChunk" | "ToolMessageChunk"
    );
    let others = ["system", "tool", "function", "chat", "remove"];
    let speaks = value.get("data").is_some() && others.contains(&kind);
    (value.get("run_type").is_some() && value.get("inputs").is_some())
        || value.get("lc").is_some()
        || speaks
        || (speaker && (value.get("data").is_some() || value.get("content").is_some()))
        || (others.contains(&kind) && value.get("content").is_some() && value.get("role").is_none())
}

fn is_codex(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let kinds = [
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "inter_agent_communication",
    ];
    // Older rollouts begin with what is now in `session_meta`, but without a type.
    let named = has("role") || has("model");
    (has("payload") && kinds.contains(&kind))
        || (kind.is_empty() && has("id") && has("timestamp") && !named)
        || has("record_type")
}

fn is_item(kind: &str) -> bool {
    let ends = ["_call", "_call_output", "_output"];
    let kinds = [
        "reasoning",
        "item_reference",
        "compaction",
        "compaction_trigger",
        "additional_tools",
        "configuration_update",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
    ];
    kinds.contains(&kind) || ends.iter().any(|end| kind.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: Option<Format>) {
        let values: Vec<Value> = lines
            .iter()
            .map(|line| contextree_json::parse(line.as_bytes()).expect("it is JSON"))
            .collect();
        let mut detector = Detector::default();
        let verdict = values.iter().map(|value| detector.examine(value));
        let found = match verdict.into_iter().find(|verdict| *verdict != Verdict::Wait) {
            Some(verdict) => verdict,
            None => detector.settle(),
        };
        assert_eq!(found, expected.map_or(Verdict::Unknown, Verdict::Is), "{lines:?}");
        // A list of entries has the format of its entries.
        let mut detector = Detector::default();
        let found = match detector.examine(&Value::Array(values)) {
            Verdict::Wait => detector.settle(),
            verdict => verdict,
        };
        assert_eq!(found, expected.map_or(Verdict::Unknown, Verdict::Is), "[{lines:?}]");
    }

    #[test]
    fn a_plain_message_decides_nothing() {
        let plain = r#"{"role":"user","content":"Rain?"}"#;
        check(&[plain], Some(Format::Flat));
        check(&[r#"{"flat_log":[{"role":"user","content":"Hello"}]}"#], Some(Format::Flat));
        let calls = r#"{"role":"assistant","content":null,"tool_calls":[]}"#;
        check(&[plain, calls], Some(Format::OpenAiChat));
        let uses = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}"#;
        check(&[plain, uses], Some(Format::Anthropic));
        let item = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;
        check(&[plain, item], Some(Format::OpenAiResponses));
        let parts = r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#;
        check(&[plain, parts, plain], Some(Format::OpenAiChat));
    }

    #[test]
    fn bookkeeping_is_passed_over() {
        let snapshot = r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#;
        let entry = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{}}"#;
        check(&[snapshot, snapshot, entry], Some(Format::ClaudeCode));
        check(&[snapshot], None);
    }

    #[test]
    fn agents_are_known_by_their_fields() {
        let plain = r#"{"role":"user","content":"Rain?"}"#;
        let null = r#"{"role":"assistant","content":"Hi","tool_calls":null}"#;
        check(&[null, plain], Some(Format::OpenAiChat));
        let call = r#"{"role":"assistant","tool_calls":[{"id":"c","name":"f","arguments":{}}]}"#;
        check(&[null, plain, call], Some(Format::PlainChat));
        let step = r#"{"trajectory":[{"action":"ls","response":"I look."}],"history":[]}"#;
        check(&[step], Some(Format::SweAgent));
        let header = r#"{"type":"session","id":"s","timestamp":"2026-03-01T09:00:00Z","cwd":"/"}"#;
        check(&[header], Some(Format::Pi));
        let session = r#"{"sessionId":"s","projectHash":"p","messages":[]}"#;
        check(&[session], Some(Format::GeminiCli));
        let answer = r#"{"id":"2","type":"gemini","timestamp":"t","content":"Hi"}"#;
        check(&[answer], Some(Format::GeminiCli));
    }

    #[test]
    fn what_is_no_log_is_not_taken_for_one() {
        check(&[r#"{"instruction":"Translate","input":"Hello","output":"Hallo"}"#], None);
        check(&[r#"{"prompt":"Hello","completion":"Hallo"}"#], None);
        check(&["{}", "[]", "1"], None);
    }

    #[test]
    fn gateways_write_requests_of_openai_with_markers_of_anthropic() {
        let marked = r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#;
        let called = r#"{"role":"tool","tool_call_id":"c","content":"x"}"#;
        check(&[marked], Some(Format::Anthropic));
        check(&[marked, called], Some(Format::OpenAiChat));
        let request = format!(r#"{{"messages":[{marked},{called}]}}"#);
        check(&[&request], Some(Format::OpenAiChat));
    }

    #[test]
    fn requests_of_responses_need_not_have_a_list() {
        let requests = [
            r#"{"model":"m","input":"hi"}"#,
            r#"{"model":"m","prompt":{"id":"p"}}"#,
            r#"{"model":"m","previous_response_id":"r","input":[]}"#,
        ];
        for request in requests {
            check(&[request], Some(Format::OpenAiResponses));
        }
    }
}
