//! What the fixture has: tools with the answers that never change, prompts and resources. The names and texts are those of the suite.

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A picture of one pixel.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A sound without samples.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// Tools without arguments.
const PLAIN: [&str; 29] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_reconnection",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "failing_job",
    "protocol_error_job",
    "confirm_delete",
    "multi_input",
    "test_tool_with_task",
];

/// Returns a value of the protocol's library that is written as JSON.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// Returns a complete result that is written as JSON.
pub(crate) fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = "complete".into();
    read(value)
}

/// Returns the tools.
pub(crate) fn tools() -> Vec<Tool> {
    let plain =
        PLAIN.into_iter().map(|name| tool(name, json!({"type": "object", "properties": {}})));
    plain.chain(with_arguments()).collect()
}

fn tool(name: &'static str, schema: Value) -> Tool {
    let schema: JsonObject = serde_json::from_value(schema).unwrap_or_default();
    Tool::new(name, "A tool of the conformance suite.", schema)
}

fn with_arguments() -> Vec<Tool> {
    let one = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    vec![
        tool("test_sampling", one("prompt")),
        tool("test_elicitation", one("message")),
        tool("greet", one("name")),
        tool(
            "slow_compute",
            json!({"type": "object", "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}}}),
        ),
        tool(
            "test_custom_header",
            json!({
                "type": "object",
                "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
                "required": ["value"],
            }),
        ),
        tool("json_schema_2020_12_tool", schema_of_2020()),
    ]
}

/// Returns a schema with the keywords of JSON Schema 2020-12, which must arrive as they are.
fn schema_of_2020() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["address"]},
        "then": {"properties": {"address": {"required": ["street"]}}},
        "else": {"required": ["name"]},
        "additionalProperties": false,
    })
}

/// Returns the answer of a tool that always answers the same.
pub(crate) fn answer(name: &str) -> Option<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let picture = || json!({"type": "image", "data": PICTURE, "mimeType": "image/png"});
    let content = match name {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([picture()]),
        "test_audio_content" => json!([{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([{"type": "resource", "resource": {
            "uri": "test://embedded-resource",
            "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        }}]),
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            picture(),
            {"type": "resource", "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": r#"{"test":"data","value":123}"#,
            }},
        ]),
        "test_reconnection" => json!([text("Reconnection test completed")]),
        "json_schema_2020_12_tool" => json!([text("Hello!")]),
        "test_error_handling" => {
            let content = [text("This tool intentionally returns an error for testing")];
            return Some(json!({"content": content, "isError": true}));
        }
        _ => return None,
    };
    Some(json!({ "content": content }))
}

/// Returns the prompts.
pub(crate) fn prompts() -> Value {
    let argument =
        |name: &str| json!({"name": name, "description": "An argument.", "required": true});
    let prompt = |name: &str, arguments: Value| json!({"name": name, "description": "A prompt.", "arguments": arguments});
    json!([
        prompt("test_simple_prompt", json!([])),
        prompt("test_prompt_with_arguments", json!([argument("arg1"), argument("arg2")])),
        prompt("test_prompt_with_embedded_resource", json!([argument("resourceUri")])),
        prompt("test_prompt_with_image", json!([])),
        prompt("test_input_required_result_prompt", json!([])),
    ])
}

/// Returns the messages of a prompt.
pub(crate) fn prompt(name: &str, arguments: &JsonObject) -> Option<Value> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let user = |content: Value| json!({"role": "user", "content": content});
    let text = |text: String| user(json!({"type": "text", "text": text}));
    let messages = match name {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.".to_owned())]),
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            json!([text(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))])
        }
        "test_prompt_with_embedded_resource" => json!([
            user(json!({"type": "resource", "resource": {
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }})),
            text("Please process the embedded resource above.".to_owned()),
        ]),
        "test_prompt_with_image" => json!([
            user(json!({"type": "image", "data": PICTURE, "mimeType": "image/png"})),
            text("Please analyze the image above.".to_owned()),
        ]),
        _ => return None,
    };
    Some(json!({ "messages": messages }))
}

/// Returns the resources.
pub(crate) fn resources() -> Value {
    json!([
        {"uri": "test://static-text", "name": "text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "picture", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched", "mimeType": "text/plain"},
    ])
}

/// Returns the contents of a resource.
pub(crate) fn resource(uri: &str) -> Option<Value> {
    let contents = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PICTURE}),
        "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "Watched."})
        }
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
        }
    };
    Some(json!({ "contents": [contents] }))
}
