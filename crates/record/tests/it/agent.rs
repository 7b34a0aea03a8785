//! An agent: it keeps its own transcript and sends all of it with every call, whatever the proxy makes of it.

use contextree::json::Value;
use contextree::provider::Provider;

use crate::fixture::{Answer, Fixture, json};

/// An agent of one format.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) provider: Provider,
    path: String,
    /// The request before its messages. Keys and spaces are as no library writes them, so that bytes that pass can be told from bytes that
    /// were written anew.
    before: &'static str,
    /// The messages, as they are written.
    pub(crate) messages: Vec<String>,
    is_stream: bool,
}

pub(crate) const ALL: [Provider; 4] =
    [Provider::Anthropic, Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Gemini];

impl Agent {
    /// Returns an agent that is led to a context by its path, or to none.
    pub(crate) fn new(provider: Provider, context: Option<&str>) -> Agent {
        let (path, before, first) = match provider {
            Provider::Anthropic => (
                "/anthropic/v1/messages",
                r#"{"model":"m", "max_tokens":9,"tools":[{"name":"look","input_schema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}}}}],"system":"Be brief.","messages":"#,
                None,
            ),
            Provider::OpenAiChat => (
                "/openai/chat/completions",
                r#"{"temperature":1.0, "model":"m","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"messages":"#,
                Some(r#"{"role":"system", "content":"Be brief."}"#),
            ),
            Provider::OpenAiResponses => (
                "/openai/responses",
                r#"{"model":"m", "store":false,"instructions":"Be brief.","tools":[{"type":"function","name":"look","parameters":{"type":"object"}}],"input":"#,
                None,
            ),
            _ => (
                "/google/v1beta/models/gemini-1:generateContent",
                r#"{"tools":[{"functionDeclarations":[{"name":"look","parameters":{"type":"OBJECT"}}]}], "contents":"#,
                None,
            ),
        };
        let path = match context {
            Some(context) => format!("/p/{context}{path}"),
            None => path.to_owned(),
        };
        let messages = first.into_iter().map(str::to_owned).collect();
        Agent { provider, path, before, messages, is_stream: false }
    }

    /// Asks for streams from now on.
    pub(crate) fn streaming(mut self) -> Agent {
        self.is_stream = true;
        if self.provider == Provider::Gemini {
            self.path = self.path.replace(":generate", ":streamGenerate") + "?alt=sse";
        }
        self
    }

    pub(crate) fn body(&self) -> String {
        let more = match self.is_stream && self.provider != Provider::Gemini {
            true => r#", "stream":true"#,
            false => "",
        };
        format!("{}[{}]{more}}}", self.before, self.messages.join(", "))
    }

    /// Sends what it has.
    pub(crate) fn send(&self, fixture: &Fixture) -> Answer {
        fixture.post(&self.path, &[("content-md5", "of another body")], &self.body())
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Adds what the user says.
    pub(crate) fn say(&mut self, text: &str) {
        self.messages.push(match self.provider {
            Provider::Gemini => format!(r#"{{"role":"user", "parts":[{{"text":"{text}"}}]}}"#),
            _ => format!(r#"{{"role":"user", "content":"{text}"}}"#),
        });
    }

    /// Adds what the model says, without having asked it.
    pub(crate) fn answer(&mut self, text: &str) {
        self.messages.push(match self.provider {
            Provider::Gemini => format!(r#"{{"role":"model", "parts":[{{"text":"{text}"}}]}}"#),
            _ => format!(r#"{{"role":"assistant", "content":"{text}"}}"#),
        });
    }

    /// Adds a call of the model, and the result of the tool.
    pub(crate) fn call(&mut self, number: usize, result: &str) {
        let pair = match self.provider {
            Provider::Anthropic => [
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"text","text":"Look {number}."}},{{"type":"tool_use","id":"c{number}","name":"look","input":{{"z":"{number}","a":1.50}}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{number}","content":"{result}"}}]}}"#
                ),
            ],
            Provider::OpenAiChat => [
                format!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{number}","type":"function","function":{{"name":"look","arguments":"{{\"z\": 1}}"}}}}]}}"#
                ),
                format!(r#"{{"role":"tool","tool_call_id":"c{number}","content":"{result}"}}"#),
            ],
            Provider::OpenAiResponses => [
                format!(
                    r#"{{"type":"function_call","call_id":"c{number}","name":"look","arguments":"{{\"z\": 1}}"}}"#
                ),
                format!(
                    r#"{{"type":"function_call_output","call_id":"c{number}","output":"{result}"}}"#
                ),
            ],
            _ => [
                format!(
                    r#"{{"role":"model","parts":[{{"functionCall":{{"name":"look","args":{{"z":"{number}","a":1.50}}}}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"look","response":{{"output":"{result}"}}}}}}]}}"#
                ),
            ],
        };
        self.messages.extend(pair);
    }

    /// Drops the newest messages. A call without its result is dropped, too: providers refuse it.
    pub(crate) fn truncate(&mut self, length: usize) {
        let calls = [r#""tool_use""#, r#""tool_calls""#, r#""function_call""#, r#""functionCall""#];
        let is_call = |message: &String| calls.iter().any(|call| message.contains(call));
        self.messages.truncate(length);
        while self.messages.pop_if(|last| is_call(last)).is_some() {}
    }

    /// Sends what it has, and adds the answer as clients do. Returns the request and whether there was an answer.
    pub(crate) fn ask(&mut self, fixture: &Fixture) -> bool {
        let answer = self.send(fixture);
        if answer.status != 200 {
            return false;
        }
        match self.is_stream {
            true => {
                let last = self.messages.last().expect("it asked");
                let said = format!("You said: {}", text_of(&json(last)));
                self.answer(&said);
            }
            false => {
                let document = json(&String::from_utf8(answer.body).expect("it is text"));
                self.take(&document);
            }
        }
        true
    }

    fn take(&mut self, document: &Value) {
        let at = |value: &Value, name: &str| value.get(name).expect("it is there").clone();
        let first = |list: Value| list.as_array().expect("a list")[0].clone();
        let written = |value: &Value| String::from_utf8(value.to_canonical()).expect("it is ASCII");
        match self.provider {
            Provider::Anthropic => {
                let content = written(&at(document, "content"));
                self.messages.push(format!(r#"{{"role":"assistant", "content":{content}}}"#));
            }
            Provider::OpenAiChat => {
                let message = at(&first(at(document, "choices")), "message");
                let content = written(&at(&message, "content"));
                let calls =
                    message.get("tool_calls").map(|it| format!(r#","tool_calls":{}"#, written(it)));
                let calls = calls.unwrap_or_default();
                self.messages
                    .push(format!(r#"{{"role":"assistant", "content":{content}{calls}}}"#));
            }
            Provider::OpenAiResponses => {
                let items = at(document, "output");
                self.messages.extend(items.as_array().expect("a list").iter().map(written));
            }
            _ => self.messages.push(written(&at(&first(at(document, "candidates")), "content"))),
        }
    }
}

/// Returns the text of a message.
pub(crate) fn text_of(message: &Value) -> String {
    let list = message.get("content").or_else(|| message.get("parts"));
    match list {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

/// Returns a text of about as many tokens, which begins with a name.
pub(crate) fn words(name: &str, tokens: usize) -> String {
    format!("{name}:{}", " rain".repeat(tokens))
}
