//! Writes the blocks of Anthropic messages: tool calls, tool results, and everything else.

use contextree_tree::Content;

use super::ME;
use crate::media::{base64, is_public};
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, View};
use crate::render::wire::{
    MISSING, arguments_object, drop_name, drop_signature, for_each_nested, is_kept_blank,
    knows_file, safe_call_id, sent_name, wire_call_id, write_own,
};
use crate::render::{LossKind, Out, Slot};

fn call_id(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let id = wire_call_id(part, calls);
    let safe = safe_call_id(&id);
    if part.kind == Kind::Call && *safe != *id {
        out.loss(LossKind::CallId, part.node.id(), &*id);
    }
    out.string(&safe);
}

pub(super) fn call(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    let node = part.node.id();
    out.raw("{\"type\":\"tool_use\",\"id\":");
    call_id(out, part, &[]);
    let name = sent_name(out, part);
    out.text_field("name", &name);
    if view.form() == Some(form::CUSTOM) {
        out.loss(LossKind::CustomCall, node, "");
        out.raw(",\"input\":{");
        out.text_field("input", &view.text());
        out.raw("}");
    } else {
        let arguments = arguments_object(out, &view, node);
        out.key("input");
        out.value(&arguments);
    }
    drop_signature(out, &view, node);
    close(out, &view, node);
}

pub(super) fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let view = part.view();
    let node = part.node.id();
    out.raw("{\"type\":\"tool_result\",\"tool_use_id\":");
    call_id(out, part, calls);
    match view.content {
        Content::Absent => {}
        Content::Json(value) if view.is_from(ME) => {
            out.key("content");
            out.value(value);
        }
        _ => {
            out.key("content");
            let start = out.place();
            out.raw("[");
            let nested = for_each_nested(&view, |inner| {
                let before = out.place();
                out.comma();
                if !block(out, &inner, node) {
                    out.rendered.bytes.truncate(before);
                }
            });
            if nested && out.place() > start + 1 {
                out.raw("]");
            } else {
                // No element of the list could be expressed: write an empty result.
                out.rendered.bytes.truncate(start);
                let text = if nested { "".into() } else { view.text() };
                out.string(&text);
            }
        }
    }
    if let Some(is_error) = view.attribute(names::IS_ERROR) {
        out.key("is_error");
        out.value(is_error);
    }
    close(out, &view, node);
}

/// Writes a placeholder result for each of these calls.
pub(super) fn no_results(out: &mut Out, calls: &[Part<'_>], index: &mut u32) {
    for call in calls {
        out.comma();
        let start = out.place();
        out.raw("{\"type\":\"tool_result\",\"tool_use_id\":");
        let id = wire_call_id(call, calls);
        out.string(&safe_call_id(&id));
        out.text_field("content", MISSING);
        out.raw(",\"is_error\":true}");
        let slot = Slot { inner: Some(("content", *index)), ..out.message_slot() };
        out.span(start, call.node.id(), slot);
        *index += 1;
    }
}

/// Writes a block that is neither a call nor a result; returns whether it could be expressed.
pub(super) fn block(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.kind != Kind::Reasoning {
        drop_signature(out, view, id);
    }
    match view.kind {
        Kind::Text | Kind::Refusal => {
            let text = view.text();
            if text.trim().is_empty() && !is_kept_blank(view, ME) {
                out.loss(LossKind::Empty, id, "");
                return false;
            }
            if view.kind == Kind::Refusal {
                out.loss(LossKind::Refusal, id, "");
            }
            out.typed_text("text", "text", &text);
            close(out, view, id)
        }
        Kind::Reasoning => reasoning(out, view, id),
        Kind::Image | Kind::Document => media(out, view, id),
        Kind::Opaque if view.is_from(ME) => {
            if let Content::Json(value) = view.content {
                out.value(value);
            }
            true
        }
        Kind::Audio => {
            out.loss(LossKind::Media, id, view.mime.unwrap_or("audio"));
            false
        }
        _ => {
            out.loss(LossKind::Opaque, id, "");
            false
        }
    }
}

fn reasoning(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    let signature = view.text_attribute(names::SIGNATURE);
    if !view.is_from(ME) || signature.is_none() {
        let reason = if view.is_from(ME) { "no signature" } else { "from another provider" };
        out.loss(LossKind::Reasoning, id, reason);
        return false;
    }
    let signature = signature.unwrap_or_default();
    if view.form() == Some(form::REDACTED) {
        out.typed_text("redacted_thinking", "data", signature);
    } else {
        out.typed_text("thinking", "thinking", &view.text());
        out.text_field("signature", signature);
    }
    close(out, view, id)
}

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Returns the source type of an image or a document and the field that holds it; `None` if the
/// provider would refuse it.
fn source(view: &View<'_>) -> Option<(&'static str, &'static str)> {
    let is_image = view.kind == Kind::Image;
    let fits = |mime: &str| {
        let known = if is_image { IMAGES.contains(&mime) } else { mime == "application/pdf" };
        known || view.is_from(ME)
    };
    match view.encoding {
        Some("base64") => view.mime.is_some_and(fits).then_some(("base64", "data")),
        Some("uri") => {
            let public = view.is_from(ME) || is_public(&view.text());
            let fetched = public && view.mime.is_none_or(fits);
            fetched.then_some(("url", "url"))
        }
        Some("file_id") => knows_file(view, ME).then_some(("file", "file_id")),
        None if !is_image => Some(("text", "data")),
        _ => None,
    }
}

fn media(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    let is_image = view.kind == Kind::Image;
    let Some((kind, field)) = source(view) else {
        out.loss(LossKind::Media, id, view.mime.unwrap_or_default());
        return false;
    };
    out.raw("{");
    out.text_field("type", if is_image { "image" } else { "document" });
    out.raw(",\"source\":{");
    out.text_field("type", kind);
    match (kind, view.mime) {
        (_, Some(mime)) if kind == "base64" || view.is_from(ME) => {
            out.text_field("media_type", mime);
        }
        ("text", mime) => {
            // Plain text is the only text media type that this API accepts.
            if let Some(mime) = mime.filter(|mime| *mime != "text/plain") {
                out.loss(LossKind::Field, id, format!("mime `{mime}`"));
            }
            out.text_field("media_type", "text/plain");
        }
        _ => {}
    }
    match kind {
        "base64" if !view.is_from(ME) => out.text_field(field, &base64(view)),
        _ => out.text_field(field, &view.text()),
    }
    out.raw("}");
    match view.name() {
        Some(name) if !is_image => out.text_field("title", name),
        _ => drop_name(out, view, id),
    }
    close(out, view, id)
}

/// Closes a block after writing its provider-specific fields.
pub(super) fn close(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
    true
}
