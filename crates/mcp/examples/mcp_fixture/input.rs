//! Tools that need something from the client before they can answer: the caller gets what is needed as the result, and calls again.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, InputRequiredResult, RequestMetaObject,
};
use serde_json::{Value, json};

use crate::content::{complete, read};

/// Returns what asks a person for a value.
pub(crate) fn question(message: &str, name: &str, kind: &str) -> Value {
    json!({"method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {"type": "object", "properties": {name: {"type": kind}}, "required": [name]},
    }})
}

fn sampling(prompt: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

fn roots() -> Value {
    json!({"method": "roots/list"})
}

/// Returns the result that asks for inputs.
pub(crate) fn required(requests: Value, state: Option<String>) -> Value {
    let mut result = json!({"resultType": "input_required"});
    result["inputRequests"] = requests;
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

/// Returns a result with a text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

/// Returns a result of a tool that is written as JSON.
pub(crate) fn respond(result: Value) -> Result<CallToolResponse, ErrorData> {
    match result.get("inputRequests") {
        Some(_) => Ok(read::<InputRequiredResult>(result)?.into()),
        None => Ok(complete::<CallToolResult>(result)?.into()),
    }
}

/// Returns a state that shows whether a client changed it. The sum is no secret: the suite changes bytes, it does not forge.
fn sealed(state: &str) -> String {
    format!("{state}.{:08x}", crc32fast::hash(state.as_bytes()))
}

fn opened(state: &str) -> Result<&str, ErrorData> {
    let parts = state.rsplit_once('.').filter(|(text, _)| sealed(text) == state);
    parts
        .map(|(text, _)| text)
        .ok_or_else(|| ErrorData::invalid_params("requestState was changed", None))
}

/// Answers a call of a tool whose name begins with `test_input_required_result_`.
pub(crate) fn call(
    request: &CallToolRequestParams,
    meta: &RequestMetaObject,
) -> Result<CallToolResponse, ErrorData> {
    let state = request.request_state.as_deref().map(opened).transpose()?;
    let given = |name: &str| {
        let given = request.input_responses.as_ref().and_then(|given| given.get(name));
        given.filter(|given| given.is_object())
    };
    let name = || question("What is your name?", "name", "string");
    let result = match request.name.trim_start_matches("test_input_required_result_") {
        "elicitation" => match given("user_name") {
            Some(given) => {
                text(format!("Hello, {}!", given["content"]["name"].as_str().unwrap_or("friend")))
            }
            None => required(json!({"user_name": name()}), None),
        },
        "sampling" => match given("capital_question") {
            Some(given) => text(format!("The model said: {}", given["content"])),
            None => required(
                json!({"capital_question": sampling("What is the capital of France?")}),
                None,
            ),
        },
        "list_roots" => match given("client_roots") {
            Some(given) => text(format!("The roots: {}", given["roots"])),
            None => required(json!({"client_roots": roots()}), None),
        },
        "request_state" | "tampered_state" => match state {
            Some(_) => text("Confirmed: state-ok"),
            None => {
                let confirm = question("Please confirm", "ok", "boolean");
                required(json!({ "confirm": confirm }), Some(sealed("confirm")))
            }
        },
        "multiple_inputs" => {
            let names = ["user_name", "greeting", "client_roots"];
            match state.is_some() && names.iter().all(|name| given(name).is_some()) {
                true => text("All inputs received"),
                false => {
                    let greeting = sampling("Generate a greeting");
                    let all =
                        json!({"user_name": name(), "greeting": greeting, "client_roots": roots()});
                    required(all, Some(sealed("gather")))
                }
            }
        }
        "multi_round" => match state {
            None => required(json!({"step1": name()}), Some(sealed("one"))),
            Some("one") => {
                let color = question("What is your favorite color?", "color", "string");
                required(json!({ "step2": color }), Some(sealed("two")))
            }
            Some(_) => text("Multi-round flow complete"),
        },
        "capabilities" if request.input_responses.is_some() => {
            text("Capability-aware flow complete")
        }
        "capabilities" => {
            let able = meta.client_capabilities().unwrap_or_default();
            let all = [
                ("user_name", able.elicitation.is_some(), name()),
                ("greeting", able.sampling.is_some(), sampling("Generate a greeting")),
                ("client_roots", able.roots.is_some(), roots()),
            ];
            let possible = all.into_iter().filter(|(_, is_able, _)| *is_able);
            let requests: serde_json::Map<String, Value> =
                possible.map(|(name, _, request)| (name.to_owned(), request)).collect();
            match requests.is_empty() {
                true => text("The client can be asked for nothing"),
                false => required(requests.into(), None),
            }
        }
        other => return Err(ErrorData::invalid_params(format!("unknown tool `{other}`"), None)),
    };
    respond(result)
}
