//! The JSON Schema of everything that doors exchange with their callers.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};

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

/// Adds types to a generator.
macro_rules! add {
    ($generator:ident, $($kind:ty),* $(,)?) => { $($generator.subschema_for::<$kind>();)* };
}

/// Returns one schema with a definition for every request, every response and every part of them, as indented JSON.
#[must_use]
pub fn schema() -> String {
    use crate::command::*;
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    add!(
        generator,
        super::Op,
        super::Node,
        super::Report,
        super::Failure,
        add::AddRequest,
        add::AddResponse,
        attempt::StartRequest,
        attempt::EndRequest,
        attempt::AttemptResponse,
        attempt::ListResponse,
        backup::BackupRequest,
        backup::RestoreRequest,
        backup::BackupResponse,
        cache::CacheRequest,
        cache::CacheResponse,
        call::AnswerRequest,
        call::AnswerResponse,
        call::BeginRequest,
        call::BeginResponse,
        call::AttachRequest,
        call::CancelRequest,
        canon::CanonRequest,
        canon::CanonResponse,
        commit::CommitRequest,
        commit::CommitResponse,
        contexts::ContextsRequest,
        contexts::ContextsResponse,
        delete::DeleteRequest,
        delete::DeleteResponse,
        diff::DiffRequest,
        diff::DiffResponse,
        edit::EditRequest,
        edit::EditResponse,
        explain::ExplainRequest,
        explain::ExplainResponse,
        export::ExportRequest,
        export::ExportResponse,
        fork::ForkRequest,
        fork::ForkResponse,
        gc::GcRequest,
        gc::GcResponse,
        hash::HashRequest,
        hash::HashResponse,
        import::ImportRequest,
        import::ImportResponse,
        lint::LintRequest,
        lint::LintResponse,
        log::LogRequest,
        log::LogResponse,
        move_::MoveRequest,
        move_::MoveResponse,
        new::NewRequest,
        new::NewResponse,
        pin::PinRequest,
        pin::PinResponse,
        pin::UnpinRequest,
        pin::UnpinResponse,
        remove::RemoveRequest,
        remove::RemoveResponse,
        render::RenderRequest,
        render::RenderResponse,
        render::SentRequest,
        render::SentResponse,
        select::SelectRequest,
        select::SelectResponse,
        show::ShowRequest,
        show::ShowResponse,
        status::StatusResponse,
        thread::ThreadRequest,
        thread::ThreadResponse,
        tokens::TokensRequest,
        tokens::TokensResponse,
        verify::VerifyResponse,
    );
    let definitions = generator.take_definitions(true);
    let definitions = contextree_json::to_value(&definitions)
        .unwrap_or_else(|error| unreachable!("a schema is JSON: {error}"));
    let document = Object::from_iter([
        ("$schema", Value::from("https://json-schema.org/draft/2020-12/schema")),
        ("title", "Contextree wire forms".into()),
        ("$defs", definitions),
    ]);
    let mut text = String::new();
    indent(&Value::Object(document), 0, &mut text);
    text.push('\n');
    text
}

/// Writes a value with one line for each entry, so that changes of the schema can be read.
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
