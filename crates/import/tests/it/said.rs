//! Returns the conversation of an imported log, and checks that every provider accepts it.

use contextree_import::{Format, Imported};
use contextree_json::Value;
use contextree_provider::{Provider, Severity, lint};

use crate::support::{parse, rendered};

/// Returns the request that a sample should render as.
pub(crate) fn expected(format: Format, sample: &str) -> Value {
    let name = sample.rsplit_once('.').unwrap().0;
    let path = format!(
        "{}/tests/samples/{}/{name}.expected.json",
        env!("CARGO_MANIFEST_DIR"),
        format.name()
    );
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    parse(&text)
}

/// Panics if a provider would refuse its rendering.
pub(crate) fn assert_sound(imported: &Imported, what: &str) {
    for provider in Provider::ALL {
        let rendered = rendered(imported, provider);
        let mut findings = lint(&rendered);
        findings.retain(|finding| finding.severity == Severity::Error);
        assert!(findings.is_empty(), "{what}, {provider}: {findings:?}\n{}", rendered.text());
    }
}

/// Returns the conversation in short form: `user: Hi`, `assistant: Look. [c1 clock {}]`, `tool c1:
/// noon`. Checks that every provider accepts it.
pub(crate) fn said(imported: &Imported) -> Vec<String> {
    assert_sound(imported, "the conversation");
    let request = rendered(imported, Provider::OpenAiChat).value();
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let message = |message: &Value| {
        let mut line = text(message, "role");
        if let Some(id) = message.get("tool_call_id").and_then(Value::as_str) {
            line = format!("{line} {id}");
        }
        line.push(':');
        match message.get("content") {
            Some(Value::String(said)) => line.push_str(&format!(" {said}")),
            Some(Value::Array(parts)) => {
                for part in parts {
                    let said = part.get("text").and_then(Value::as_str);
                    let kind = text(part, "type");
                    line.push_str(&format!(" {}", said.unwrap_or(&format!("({kind})"))));
                }
            }
            _ => {}
        }
        for call in message.get("tool_calls").and_then(Value::as_array).unwrap_or_default() {
            let function = call.get("function").unwrap();
            let (name, arguments) = (text(function, "name"), text(function, "arguments"));
            line.push_str(&format!(" [{} {name} {arguments}]", text(call, "id")));
        }
        line
    };
    request.get("messages").and_then(Value::as_array).unwrap().iter().map(message).collect()
}
