//! The four formats: what the last message says, and how an answer is written.

use contextree_json::Value;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

/// What the last message says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// Whether it is the result of a tool.
    pub(super) is_result: bool,
}

/// The tools by which agents run commands.
const SHELLS: [&str; 4] = ["Bash", "bash", "shell", "run_shell_command"];

/// The call of a tool.
struct Tool {
    /// The name, as JSON.
    name: String,
    /// The arguments as JSON, in the pieces that are streamed.
    parts: [String; 2],
}

/// Writes a text as JSON.
fn quoted(text: &str) -> String {
    String::from_utf8_lossy(&Value::from(text).to_canonical()).into_owned()
}

impl Wire {
    pub(super) fn of(path: &str) -> Option<Wire> {
        let path = path.split('?').next()?;
        match path.rsplit('/').next()? {
            "messages" => Some(Wire::Anthropic),
            "completions" => Some(Wire::Chat),
            "responses" => Some(Wire::Responses),
            last if last.ends_with("enerateContent") => Some(Wire::Gemini),
            _ => None,
        }
    }

    fn list(self) -> &'static str {
        match self {
            Wire::Anthropic | Wire::Chat => "messages",
            Wire::Responses => "input",
            Wire::Gemini => "contents",
        }
    }

    /// Returns what the last message says: its last text, because agents write what they add for the model before it.
    pub(super) fn last_text(self, document: &Value) -> Said {
        let mut said = Said::default();
        let messages = match document.get(self.list()) {
            Some(Value::Array(list)) => list.clone(),
            Some(text @ Value::String(_)) => vec![text.clone()],
            _ => Vec::new(),
        };
        if let Some(last) = messages.last() {
            collect(last, &mut said);
        }
        said
    }

    /// Returns the words of a plain answer.
    pub(super) fn words(self, said: &Said) -> Vec<String> {
        let text = format!("You said: {}", said.text);
        text.split_inclusive(' ').map(str::to_owned).collect()
    }

    fn model(document: &Value) -> String {
        document.get("model").and_then(Value::as_str).unwrap_or("model-1").to_owned()
    }

    /// Returns the tool that is called: a shell if there is one, so that an agent does something, otherwise the first.
    fn tool(document: &Value) -> Tool {
        let tools = document.get("tools").and_then(Value::as_array).unwrap_or_default();
        let names = tools.iter().flat_map(|tool| {
            let declared = tool.get("functionDeclarations").and_then(Value::as_array);
            let inner = tool.get("function").unwrap_or(tool);
            declared.unwrap_or(std::slice::from_ref(inner)).iter()
        });
        let names: Vec<&str> = names.filter_map(|tool| tool.get("name")?.as_str()).collect();
        let shell = names.iter().find(|name| SHELLS.contains(*name));
        let parts = match shell {
            Some(_) => ["{\"command\":", "\"echo sun\"}"],
            None => ["{\"city\":", "\"Oslo\"}"],
        };
        let name = shell.or(names.first()).copied().unwrap_or("get_weather");
        Tool { name: quoted(name), parts: parts.map(str::to_owned) }
    }

    /// Returns the tokens that a request is billed with, and those of them that were cached.
    fn billed(document: &Value) -> (usize, usize) {
        let all = document.to_canonical().len() / 4;
        (all, all / 2)
    }

    /// Returns the tokens that are not cached: those that Anthropic bills as input, and those that it bills as written, because the request
    /// has a breakpoint.
    fn fresh(document: &Value, tokens: usize) -> (usize, usize) {
        let request = document.to_canonical();
        let is_marked = String::from_utf8_lossy(&request).contains("\"cache_control\":");
        if is_marked { (0, tokens) } else { (tokens, 0) }
    }

    pub(super) fn error(self, status: u16, kind: &str, message: &str) -> Vec<u8> {
        let (kind, message) = (quoted(kind), quoted(message));
        match self {
            Wire::Anthropic => {
                format!(r#"{{"type":"error","error":{{"type":{kind},"message":{message}}}}}"#)
            }
            Wire::Gemini => {
                format!(r#"{{"error":{{"code":{status},"message":{message},"status":{kind}}}}}"#)
            }
            _ => format!(
                r#"{{"error":{{"message":{message},"type":{kind},"param":null,"code":null}}}}"#
            ),
        }
        .into_bytes()
    }

    /// Returns an answer that is not streamed.
    pub(super) fn document(
        self,
        document: &Value,
        said: &Said,
        number: u64,
        calls_tool: bool,
    ) -> Vec<u8> {
        let model = quoted(&Wire::model(document));
        let Tool { name: tool, parts: arguments } = Wire::tool(document);
        let text = quoted(&self.words(said).concat());
        let (sent, cached) = Wire::billed(document);
        let (input, written) = Wire::fresh(document, sent - cached);
        match self {
            Wire::Anthropic => {
                let (content, reason) = match calls_tool {
                    true => (
                        format!(r#"{{"type":"text","text":"I look."}},{{"type":"tool_use","id":"toolu_{number}","name":{tool},"input":{}}}"#, arguments.concat()),
                        "tool_use",
                    ),
                    false => (format!(r#"{{"type":"text","text":{text}}}"#), "end_turn"),
                };
                format!(r#"{{"id":"msg_{number}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":"{reason}","stop_sequence":null,"usage":{{"input_tokens":{input},"cache_read_input_tokens":{cached},"cache_creation_input_tokens":{written},"output_tokens":12}}}}"#)
            }
            Wire::Chat => {
                let (message, reason) = match calls_tool {
                    true => (
                        format!(r#"{{"role":"assistant","content":null,"refusal":null,"tool_calls":[{{"id":"call_{number}","type":"function","function":{{"name":{tool},"arguments":{}}}}}]}}"#, quoted(&arguments.concat())),
                        "tool_calls",
                    ),
                    false => (format!(r#"{{"role":"assistant","content":{text},"refusal":null,"annotations":[]}}"#), "stop"),
                };
                format!(r#"{{"id":"chatcmpl-{number}","object":"chat.completion","created":1700000000,"model":{model},"choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"{reason}"}}],"usage":{{"prompt_tokens":{sent},"completion_tokens":12,"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{cached},"audio_tokens":0}}}},"service_tier":"default","system_fingerprint":"fp_1"}}"#, sent + 12)
            }
            Wire::Responses => self.response(document, said, number, calls_tool, "completed"),
            Wire::Gemini => {
                let part = match calls_tool {
                    true => format!(r#"{{"functionCall":{{"name":{tool},"args":{}}}}}"#, arguments.concat()),
                    false => format!(r#"{{"text":{text}}}"#),
                };
                format!(r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":{sent},"candidatesTokenCount":12,"totalTokenCount":{},"cachedContentTokenCount":{cached}}},"modelVersion":"gemini-1","responseId":"r{number}"}}"#, sent + 12)
            }
        }
        .into_bytes()
    }

    fn response(
        self,
        document: &Value,
        said: &Said,
        number: u64,
        calls_tool: bool,
        status: &str,
    ) -> String {
        let model = quoted(&Wire::model(document));
        let (sent, cached) = Wire::billed(document);
        let output = match status {
            "completed" => self.item(document, said, number, calls_tool),
            _ => String::new(),
        };
        let usage = match status {
            "completed" => format!(
                r#"{{"input_tokens":{sent},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":12,"output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{}}}"#,
                sent + 12
            ),
            _ => "null".to_owned(),
        };
        format!(
            r#"{{"id":"resp_{number}","object":"response","created_at":1700000000,"status":"{status}","error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"model":{model},"output":[{output}],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{{"effort":null,"summary":null}},"store":true,"temperature":1.0,"text":{{"format":{{"type":"text"}}}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":{usage},"user":null,"metadata":{{}}}}"#
        )
    }

    fn item(self, document: &Value, said: &Said, number: u64, calls_tool: bool) -> String {
        let Tool { name: tool, parts: arguments } = Wire::tool(document);
        let text = quoted(&self.words(said).concat());
        match calls_tool {
            true => format!(
                r#"{{"id":"fc_{number}","type":"function_call","status":"completed","call_id":"call_{number}","name":{tool},"arguments":{}}}"#,
                quoted(&arguments.concat())
            ),
            false => format!(
                r#"{{"id":"msg_{number}","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":{text},"annotations":[]}}]}}"#
            ),
        }
    }

    /// Returns the events of a streamed answer.
    pub(super) fn events(
        self,
        document: &Value,
        said: &Said,
        number: u64,
        calls_tool: bool,
        words: &[String],
    ) -> Vec<String> {
        let model = quoted(&Wire::model(document));
        let Tool { name: tool, parts: arguments } = Wire::tool(document);
        let (sent, cached) = Wire::billed(document);
        let (input, written) = Wire::fresh(document, sent - cached);
        match self {
            Wire::Anthropic => {
                let named = |name: &str, data: String| format!("event: {name}\ndata: {data}\n\n");
                let mut events = vec![named(
                    "message_start",
                    format!(
                        r#"{{"type":"message_start","message":{{"id":"msg_{number}","type":"message","role":"assistant","model":{model},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":{input},"cache_read_input_tokens":{cached},"cache_creation_input_tokens":{written},"output_tokens":1}}}}}}"#
                    ),
                )];
                events.push(named("ping", r#"{"type":"ping"}"#.to_owned()));
                let (begin, kind) = match calls_tool {
                    true => (
                        format!(
                            r#"{{"type":"tool_use","id":"toolu_{number}","name":{tool},"input":{{}}}}"#
                        ),
                        "tool_use",
                    ),
                    false => (r#"{"type":"text","text":""}"#.to_owned(), "end_turn"),
                };
                events.push(named(
                    "content_block_start",
                    format!(
                        r#"{{"type":"content_block_start","index":0,"content_block":{begin}}}"#
                    ),
                ));
                let deltas: Vec<String> = match calls_tool {
                    true => arguments
                        .iter()
                        .map(|part| {
                            format!(
                                r#"{{"type":"input_json_delta","partial_json":{}}}"#,
                                quoted(part)
                            )
                        })
                        .collect(),
                    false => words
                        .iter()
                        .map(|word| format!(r#"{{"type":"text_delta","text":{}}}"#, quoted(word)))
                        .collect(),
                };
                events.extend(deltas.into_iter().map(|delta| {
                    named(
                        "content_block_delta",
                        format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#),
                    )
                }));
                events.push(named(
                    "content_block_stop",
                    r#"{"type":"content_block_stop","index":0}"#.to_owned(),
                ));
                events.push(named("message_delta", format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{kind}","stop_sequence":null}},"usage":{{"output_tokens":12}}}}"#)));
                events.push(named("message_stop", r#"{"type":"message_stop"}"#.to_owned()));
                events
            }
            Wire::Chat => {
                let chunk = |delta: String, reason: &str| {
                    format!(
                        "data: {{\"id\":\"chatcmpl-{number}\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":{model},\"system_fingerprint\":\"fp_1\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{reason}}}]}}\n\n"
                    )
                };
                let mut events = Vec::new();
                match calls_tool {
                    true => {
                        events.push(chunk(format!(r#"{{"role":"assistant","content":null,"tool_calls":[{{"index":0,"id":"call_{number}","type":"function","function":{{"name":{tool},"arguments":""}}}}]}}"#), "null"));
                        for part in &arguments {
                            events.push(chunk(format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{}}}}}]}}"#, quoted(part)), "null"));
                        }
                        events.push(chunk("{}".to_owned(), "\"tool_calls\""));
                    }
                    false => {
                        events.push(chunk(
                            r#"{"role":"assistant","content":"","refusal":null}"#.to_owned(),
                            "null",
                        ));
                        events.extend(words.iter().map(|word| {
                            chunk(format!(r#"{{"content":{}}}"#, quoted(word)), "null")
                        }));
                        events.push(chunk("{}".to_owned(), "\"stop\""));
                    }
                }
                let wants_usage =
                    document.get("stream_options").and_then(|it| it.get("include_usage")).is_some();
                if wants_usage {
                    events.push(format!("data: {{\"id\":\"chatcmpl-{number}\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":{model},\"choices\":[],\"usage\":{{\"prompt_tokens\":{sent},\"completion_tokens\":12,\"total_tokens\":{},\"prompt_tokens_details\":{{\"cached_tokens\":{cached}}}}}}}\n\n", sent + 12));
                }
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Wire::Responses => {
                let mut events = Vec::new();
                let mut push = |name: &str, rest: String| {
                    let at = events.len();
                    let comma = if rest.is_empty() { "" } else { "," };
                    events.push(format!("event: {name}\ndata: {{\"type\":\"{name}\",\"sequence_number\":{at}{comma}{rest}}}\n\n"));
                };
                let begin = self.response(document, said, number, calls_tool, "in_progress");
                // The provider sends both to programs that keep a connection open for long; the SDKs do not expect the first.
                let is_long = said.text.contains("keep alive");
                if is_long {
                    push(
                        "codex.rate_limits",
                        r#""plan_type":"plus","rate_limits":{"allowed":true}"#.to_owned(),
                    );
                }
                push("response.created", format!(r#""response":{begin}"#));
                if is_long {
                    push("keepalive", String::new());
                }
                push("response.in_progress", format!(r#""response":{begin}"#));
                let item = self.item(document, said, number, calls_tool);
                match calls_tool {
                    true => {
                        let empty = item
                            .replace(&quoted(&arguments.concat()), r#""""#)
                            .replace("completed", "in_progress");
                        push(
                            "response.output_item.added",
                            format!(r#""output_index":0,"item":{empty}"#),
                        );
                        for part in &arguments {
                            push(
                                "response.function_call_arguments.delta",
                                format!(
                                    r#""item_id":"fc_{number}","output_index":0,"delta":{}"#,
                                    quoted(part)
                                ),
                            );
                        }
                        push(
                            "response.function_call_arguments.done",
                            format!(
                                r#""item_id":"fc_{number}","output_index":0,"name":{tool},"arguments":{}"#,
                                quoted(&arguments.concat())
                            ),
                        );
                    }
                    false => {
                        push(
                            "response.output_item.added",
                            format!(
                                r#""output_index":0,"item":{{"id":"msg_{number}","type":"message","status":"in_progress","role":"assistant","content":[]}}"#
                            ),
                        );
                        push(
                            "response.content_part.added",
                            format!(
                                r#""item_id":"msg_{number}","output_index":0,"content_index":0,"part":{{"type":"output_text","text":"","annotations":[]}}"#
                            ),
                        );
                        for word in words {
                            push(
                                "response.output_text.delta",
                                format!(
                                    r#""item_id":"msg_{number}","output_index":0,"content_index":0,"delta":{},"logprobs":[]"#,
                                    quoted(word)
                                ),
                            );
                        }
                        let text = quoted(&words.concat());
                        push(
                            "response.output_text.done",
                            format!(
                                r#""item_id":"msg_{number}","output_index":0,"content_index":0,"text":{text},"logprobs":[]"#
                            ),
                        );
                        push(
                            "response.content_part.done",
                            format!(
                                r#""item_id":"msg_{number}","output_index":0,"content_index":0,"part":{{"type":"output_text","text":{text},"annotations":[]}}"#
                            ),
                        );
                    }
                }
                push("response.output_item.done", format!(r#""output_index":0,"item":{item}"#));
                push(
                    "response.completed",
                    format!(
                        r#""response":{}"#,
                        self.response(document, said, number, calls_tool, "completed")
                    ),
                );
                events
            }
            Wire::Gemini => {
                let usage = format!(
                    r#""usageMetadata":{{"promptTokenCount":{sent},"candidatesTokenCount":12,"totalTokenCount":{},"cachedContentTokenCount":{cached}}},"modelVersion":"gemini-1","responseId":"r{number}""#,
                    sent + 12
                );
                let parts: Vec<String> = match calls_tool {
                    true => vec![format!(
                        r#"{{"functionCall":{{"name":{tool},"args":{}}}}}"#,
                        arguments.concat()
                    )],
                    false => {
                        words.iter().map(|word| format!(r#"{{"text":{}}}"#, quoted(word))).collect()
                    }
                };
                let last = parts.len().saturating_sub(1);
                let event = |(index, part): (usize, String)| {
                    let reason = if index == last { r#","finishReason":"STOP""# } else { "" };
                    format!(
                        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}],\"role\":\"model\"}}{reason},\"index\":0}}],{usage}}}\r\n\r\n"
                    )
                };
                parts.into_iter().enumerate().map(event).collect()
            }
        }
    }
}

/// Collects the texts of a message.
fn collect(value: &Value, said: &mut Said) {
    match value {
        Value::String(text) => said.text = text.to_string(),
        Value::Array(list) => list.iter().for_each(|value| collect(value, said)),
        Value::Object(object) => {
            let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
            let is_tool = object.get("role").and_then(Value::as_str) == Some("tool");
            if matches!(kind, "tool_result" | "function_call_output")
                || is_tool
                || object.contains_key("functionResponse")
            {
                said.is_result = true;
            }
            for name in ["content", "parts", "text", "output"] {
                object.get(name).into_iter().for_each(|value| collect(value, said));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use contextree_json::parse;

    use super::*;

    #[test]
    fn answers_and_events_are_json() {
        let request = parse(br#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi \"you\""}]}"#).expect("it is JSON");
        for wire in [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini] {
            let said = Said { text: "hi \"you\"".to_owned(), is_result: false };
            for calls_tool in [false, true] {
                parse(&wire.document(&request, &said, 7, calls_tool)).expect("it is JSON");
                for event in wire.events(&request, &said, 7, calls_tool, &wire.words(&said)) {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let data = data.expect("every event has data");
                    assert!(data == "[DONE]" || parse(data.as_bytes()).is_ok(), "{data}");
                }
            }
        }
    }
}
