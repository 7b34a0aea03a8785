//! The JSON Schema of everything that doors exchange with their callers.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};

use crate::catalog::COMMANDS;

/// Any JSON value, in a schema.
pub(crate) struct AnyValue;

impl JsonSchema for AnyValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}

/// Any JSON object, in a schema.
pub(crate) struct AnyObject;

impl JsonSchema for AnyObject {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyObject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

/// Returns one schema with a definition for every request, every response and every part of them, as indented JSON.
#[must_use]
pub fn schema() -> String {
    use crate::command::{backup, import, split};
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    for command in COMMANDS {
        command.request_schema(&mut generator);
        command.response_schema(&mut generator);
    }
    generator.subschema_for::<super::Op>();
    generator.subschema_for::<super::Node>();
    generator.subschema_for::<super::Report>();
    generator.subschema_for::<super::Failure>();
    generator.subschema_for::<backup::RestoreRequest>();
    generator.subschema_for::<import::ImportRequest>();
    generator.subschema_for::<import::ImportResponse>();
    generator.subschema_for::<split::SplitRequest>();
    generator.subschema_for::<split::SplitResponse>();
    let definitions = generator.take_definitions(true);
    let definitions = contextree_json::to_value(&definitions)
        .unwrap_or_else(|error| unreachable!("a schema is JSON: {error}"));
    let document = Object::from_iter([
        ("$schema", Value::from("https://json-schema.org/draft/2020-12/schema")),
        ("title", "Contextree wire forms".into()),
        ("$defs", definitions),
    ]);
    to_lines(&Value::Object(document))
}

/// Returns a value as text with one line for each entry, so that changes of a committed schema can be read.
#[must_use]
pub fn to_lines(value: &Value) -> String {
    let mut text = String::new();
    indent(value, 0, &mut text);
    text.push('\n');
    text
}

fn indent(value: &Value, depth: usize, out: &mut String) {
    let canonical = |value: &Value| String::from_utf8_lossy(&value.to_canonical()).into_owned();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Object(object) if !object.is_empty() => {
            out.push('{');
            for (index, (key, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                out.push_str(&canonical(&Value::from(key)));
                out.push_str(": ");
                indent(value, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
        Value::Array(elements) if elements.iter().any(|element| element.as_object().is_some()) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                indent(element, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        other => out.push_str(&canonical(other)),
    }
}
