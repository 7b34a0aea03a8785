//! What the tests share.

use std::path::PathBuf;

use contextree_json::Value;
use contextree_provider::{
    Format, ImportOptions, Imported, LossKind, Provider, RenderOptions, Rendered, Severity, import,
    lint, lint_value, render,
};

/// The samples of a format, by name.
pub(crate) fn samples(format: Format) -> Vec<(String, Vec<u8>)> {
    let directory =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(format.name());
    let mut samples: Vec<(String, Vec<u8>)> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.to_string_lossy().ends_with(".expected.json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    samples.sort();
    assert!(!samples.is_empty(), "there are samples of {format}");
    samples
}

/// The request that a sample is expected to be rendered as.
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

pub(crate) fn parse(text: &[u8]) -> Value {
    contextree_json::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn imported(text: &[u8], format: Format) -> Imported {
    import(text, format, ImportOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn rendered(imported: &Imported, provider: Provider) -> Rendered {
    let head = imported.context.head().expect("there is a turn");
    render(head.view(), provider, &RenderOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Fails if a provider would refuse what is rendered for it.
pub(crate) fn assert_sound(imported: &Imported, what: &str) {
    for provider in Provider::ALL {
        let rendered = rendered(imported, provider);
        let mut findings = lint(&rendered);
        findings.retain(|finding| finding.severity == Severity::Error);
        assert!(findings.is_empty(), "{what}, {provider}: {findings:?}\n{}", rendered.text());
    }
}

/// What is said, by whom, in a few words: `user: Hi`, `assistant: Look. [c1 clock {}]`, `tool c1: noon`. Every provider would take it.
pub(crate) fn said(imported: &Imported) -> Vec<String> {
    assert_sound(imported, "what is said");
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

/// Fails with the first place at which two values differ.
pub(crate) fn assert_same(left: &Value, right: &Value, what: &str) {
    if let Some(difference) = difference(left, right, "") {
        panic!("{what}: {difference}");
    }
}

fn difference(left: &Value, right: &Value, at: &str) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let missing = right.keys().find(|key| !left.contains_key(key));
            let extra = left.keys().find(|key| !right.contains_key(key));
            if let Some(key) = missing {
                return Some(format!("`{at}.{key}` is missing"));
            }
            if let Some(key) = extra {
                return Some(format!("`{at}.{key}` should not be there"));
            }
            left.iter()
                .find_map(|(key, value)| difference(value, right.get(key)?, &format!("{at}.{key}")))
        }
        (Value::Array(left), Value::Array(right)) => {
            let pairs = left.iter().zip(right).enumerate();
            let found = pairs
                .filter_map(|(index, (left, right))| {
                    difference(left, right, &format!("{at}[{index}]"))
                })
                .next();
            let lengths = (left.len() != right.len())
                .then(|| format!("`{at}` has {} elements, not {}", left.len(), right.len()));
            found.or(lengths)
        }
        _ => (left != right).then(|| {
            let text = |value: &Value| String::from_utf8(value.to_canonical()).unwrap();
            format!("`{at}` is {}, not {}", text(left), text(right))
        }),
    }
}

/// Checks that a request comes back as it is, with nothing lost.
pub(crate) fn comes_back(request: &str, format: Format) {
    let imported = imported(request.as_bytes(), format);
    let rendered = rendered(&imported, format.provider());
    assert_same(&rendered.value(), &parse(request.as_bytes()), request);
    assert_eq!(rendered.losses, [], "{request}: nothing is lost");
}

/// Imports a request and renders it for another provider.
pub(crate) fn crossed(request: &str, format: Format, provider: Provider) -> Rendered {
    rendered(&imported(request.as_bytes(), format), provider)
}

/// The codes of what was lost, but for settings.
pub(crate) fn losses(rendered: &Rendered) -> Vec<&'static str> {
    let kept = rendered.losses.iter().filter(|loss| loss.kind != LossKind::Settings);
    kept.map(|loss| loss.kind.code()).collect()
}

/// What stands at a place: `messages.0.content`.
pub(crate) fn at(rendered: &Rendered, path: &str) -> String {
    let mut value = &rendered.value();
    for step in path.split('.') {
        let next = match step.parse::<usize>() {
            Ok(index) => value.as_array().and_then(|list| list.get(index)),
            Err(_) => value.get(step),
        };
        value = next.unwrap_or_else(|| panic!("{path} in {}", rendered.text()));
    }
    String::from_utf8(value.to_canonical()).unwrap()
}

/// What is found in a request: `error code path`, in order.
pub(crate) fn findings(request: &str, provider: Provider) -> Vec<String> {
    let findings = lint_value(&parse(request.as_bytes()), provider);
    let line = |finding: &contextree_provider::Finding| {
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        format!("{severity} {} {}", finding.code, finding.path).trim_end().to_owned()
    };
    findings.iter().map(line).collect()
}
