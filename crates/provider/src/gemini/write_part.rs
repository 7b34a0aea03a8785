//! Writes the parts of Gemini contents.

use std::borrow::Cow;

use contextree_json::Value;
use contextree_tree::Content;

use super::ME;
use super::spelling::{INNER_NULL, NULL, names as nulls, spelled};
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    MISSING, arguments_object, call_of, drop_name, drop_signature, is_kept_blank, plain_text,
    result_text, sent_name, tool_name, wire_call_id, write_own,
};
use crate::render::{LossKind, Out};

/// Writes a part; returns whether it could be expressed. `continued` if it continues an earlier
/// response.
pub(super) fn write_part(
    out: &mut Out,
    part: &Part<'_>,
    calls: &[Part<'_>],
    continued: bool,
) -> bool {
    match part.kind {
        Kind::Call => call(out, part),
        Kind::Result => result(out, part, calls),
        Kind::Text if continued => result(out, part, calls),
        Kind::Text if part.role != Role::Assistant => write_text(out, part),
        _ => data(out, &part.view(), part.node.id()),
    }
}

fn write_text(out: &mut Out, part: &Part<'_>) -> bool {
    let id = part.node.id();
    let view = part.view();
    let mut text = plain_text(out, part);
    if text.is_empty() && view.attribute(names::SIGNATURE).is_none() && !is_kept_blank(&view, ME) {
        out.loss(LossKind::Empty, id, "");
        return false;
    }
    if part.role == Role::System {
        out.loss(LossKind::SystemInline, id, "");
        text = Cow::Owned(format!("<system>\n{text}\n</system>"));
    }
    out.raw("{");
    out.text_field("text", &text);
    close(out, &view, id, None)
}

fn call(out: &mut Out, part: &Part<'_>) -> bool {
    let view = part.view();
    let node = part.node.id();
    out.raw("{");
    out.key(&spelled(&view, "functionCall"));
    out.raw("{");
    if view.form() != Some(form::ANONYMOUS) {
        out.text_field("id", &wire_call_id(part, &[]));
    }
    let name = sent_name(out, part);
    out.text_field("name", &name);
    if view.form() == Some(form::CUSTOM) {
        out.loss(LossKind::CustomCall, node, "");
        out.raw(",\"args\":{");
        out.text_field("input", &view.text());
        out.raw("}");
    } else if *view.content != Content::Absent {
        let arguments = arguments_object(out, &view, node);
        out.key("args");
        out.value(&arguments);
    }
    close(out, &view, node, Some("functionCall"))
}

fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) -> bool {
    let view = part.view();
    let node = part.node.id();
    let call = call_of(part, calls);
    out.raw("{");
    out.key(&spelled(&view, "functionResponse"));
    out.raw("{");
    let anonymous = view.form() == Some(form::ANONYMOUS)
        || call.is_some_and(|call| call.view().form() == Some(form::ANONYMOUS));
    if !anonymous {
        out.text_field("id", &wire_call_id(part, calls));
    }
    let name = view.name().or_else(|| call.map(|call| tool_name(&call))).unwrap_or("unknown");
    // The call has already reported the changed name.
    let name = out.names.sent(name, ME);
    out.text_field("name", &name);
    response(out, &view, node);
    close(out, &view, node, Some("functionResponse"))
}

/// Writes the payload of a response: an object, with errors under a name of their own.
fn response(out: &mut Out, view: &View<'_>, node: &str) {
    let own = view.is_from(ME);
    let is_error = view.attribute(names::IS_ERROR).and_then(Value::as_bool) == Some(true);
    let field = if is_error { "error" } else { "output" };
    match view.content {
        Content::Absent if own => {}
        Content::Json(value) if own || (value.as_object().is_some() && !is_error) => {
            out.key("response");
            out.value(value);
        }
        Content::Json(value) if value.as_object().is_some() => {
            out.raw(",\"response\":{");
            out.key(field);
            out.value(value);
            out.raw("}");
        }
        _ => {
            let text = result_text(out, view, node);
            out.raw(",\"response\":{");
            out.text_field(field, &text);
            out.raw("}");
        }
    }
}

/// Writes a placeholder response for a call without a result.
pub(super) fn no_result(out: &mut Out, call: &Part<'_>, calls: &[Part<'_>]) {
    out.raw("{\"functionResponse\":{");
    if call.view().form() != Some(form::ANONYMOUS) {
        out.text_field("id", &wire_call_id(call, calls));
    }
    let name = out.names.sent(tool_name(call), ME);
    out.text_field("name", &name);
    out.raw(",\"response\":{");
    out.text_field("error", MISSING);
    out.raw("}}}");
}

/// Writes a part that is neither a call nor a result; returns whether it could be expressed.
pub(super) fn data(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    let own = view.is_from(ME);
    match (view.kind, view.encoding) {
        (Kind::Text | Kind::Refusal, _) | (Kind::Document, None) => {
            let text = view.text();
            let is_signed = own && view.attribute(names::SIGNATURE).is_some();
            if text.is_empty() && !is_signed && !is_kept_blank(view, ME) {
                out.loss(LossKind::Empty, id, "");
                return false;
            }
            if view.kind == Kind::Refusal {
                out.loss(LossKind::Refusal, id, "");
            }
            if view.kind == Kind::Document {
                drop_name(out, view, id);
            }
            out.raw("{");
            out.text_field("text", &text);
            close(out, view, id, None)
        }
        (Kind::Reasoning, _) if own => {
            out.raw("{");
            out.text_field("text", &view.text());
            out.raw(",\"thought\":true");
            close(out, view, id, None)
        }
        (Kind::Reasoning, _) => {
            out.loss(LossKind::Reasoning, id, "from another provider");
            false
        }
        (Kind::Image | Kind::Document | Kind::Audio, Some("base64")) => {
            blob(out, view, id, "inlineData", "data")
        }
        (Kind::Image | Kind::Document | Kind::Audio, Some("uri")) => {
            blob(out, view, id, "fileData", "fileUri")
        }
        (Kind::Opaque, _) if own => {
            if let Content::Json(value) = view.content {
                out.value(value);
            }
            true
        }
        (Kind::Image | Kind::Document | Kind::Audio, _) => {
            out.loss(LossKind::Media, id, view.mime.unwrap_or_default());
            false
        }
        _ => {
            out.loss(LossKind::Opaque, id, "");
            false
        }
    }
}

fn blob(
    out: &mut Out,
    view: &View<'_>,
    id: &str,
    object: &'static str,
    field: &'static str,
) -> bool {
    out.raw("{");
    out.key(&spelled(view, object));
    out.raw("{");
    match view.mime {
        Some(mime) => out.text_field(&spelled(view, "mimeType"), mime),
        None if object == "inlineData" => out.text_field("mimeType", "application/octet-stream"),
        None => {}
    }
    out.text_field(&spelled(view, field), &view.text());
    if let Some(name) = view.name() {
        out.text_field(&spelled(view, "displayName"), name);
    }
    close(out, view, id, Some(object))
}

/// Closes a part, and its inner object if it has one, after writing provider-specific fields and
/// the signature.
fn close(out: &mut Out, view: &View<'_>, id: &str, inner: Option<&str>) -> bool {
    let own = view.own_fields(names::EXTRA, ME);
    if let Some(inner) = inner {
        if let Some(fields) = own.and_then(|own| own.get(inner)).and_then(Value::as_object) {
            out.fields(fields, &[]);
        }
        write_nulls(out, view, INNER_NULL);
        out.raw("}");
    }
    if !view.is_from(ME) {
        drop_signature(out, view, id);
    } else if let Some(signature) = view.attribute(names::SIGNATURE) {
        out.key(&spelled(view, "thoughtSignature"));
        out.value(signature);
    }
    match own {
        Some(own) => out.fields(own, inner.as_slice()),
        None if view.attribute(names::EXTRA).is_some() => write_own(out, view, names::EXTRA, id),
        None => {}
    }
    write_nulls(out, view, NULL);
    out.raw("}");
    true
}

fn write_nulls(out: &mut Out, view: &View<'_>, list: &str) {
    for name in nulls(view, list) {
        out.key(name);
        out.raw("null");
    }
}
