//! Writes the content parts of Chat Completions messages.

use contextree_json::Value;
use contextree_tree::Content;

use super::write::ME;
use crate::media::{data_url, detail, extension};
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    drop_name, drop_signature, knows_file, lose_fields, plain_text, write_own,
};
use crate::render::{LossKind, Out, Slot};

/// Writes a part as an element of a list of contents.
pub(super) fn listed(out: &mut Out, part: &Part<'_>, index: &mut u32) {
    let before = out.rendered.bytes.len();
    out.comma();
    let start = out.place();
    let id = part.node.id();
    let written = match part.kind {
        Kind::Text => {
            let text = plain_text(out, part);
            let view = part.view();
            out.typed_text("text", "text", &text);
            close(out, &view, id)
        }
        _ => content(out, &part.view(), id, part.role),
    };
    if written {
        let slot = Slot { inner: Some(("content", *index)), ..out.message_slot() };
        out.span(start, id, slot);
        *index += 1;
    } else {
        out.rendered.bytes.truncate(before);
    }
}

/// Writes a part other than a call, a result or reasoning; returns whether it could be expressed.
fn content(out: &mut Out, view: &View<'_>, id: &str, role: Role) -> bool {
    drop_signature(out, view, id);
    // Only user messages may contain media. The text of a document is text.
    let is_media = matches!(view.kind, Kind::Image | Kind::Audio)
        || (view.kind == Kind::Document && view.encoding.is_some());
    if is_media && role != Role::User {
        out.loss(LossKind::Media, id, view.mime.unwrap_or_default());
        return false;
    }
    match view.kind {
        Kind::Text => {
            out.typed_text("text", "text", &view.text());
            close(out, view, id)
        }
        Kind::Refusal => {
            out.typed_text("refusal", "refusal", &view.text());
            close(out, view, id)
        }
        Kind::Image if view.encoding != Some("file_id") => image(out, view, id),
        Kind::Audio if view.encoding == Some("base64") => {
            out.raw("{\"type\":\"input_audio\",\"input_audio\":{");
            out.text_field("data", &view.text());
            out.text_field("format", extension(view.mime.unwrap_or("audio/wav")));
            out.raw("}");
            close(out, view, id)
        }
        Kind::Document
            if view.encoding == Some("base64")
                || (view.encoding == Some("file_id") && knows_file(view, ME)) =>
        {
            file(out, view, id)
        }
        Kind::Document if view.encoding.is_none() && view.content.as_text().is_some() => {
            drop_name(out, view, id);
            out.typed_text("text", "text", &view.text());
            close(out, view, id)
        }
        Kind::Opaque if view.is_from(ME) => {
            if let Content::Json(value) = view.content {
                out.value(value);
            }
            true
        }
        Kind::Image | Kind::Audio | Kind::Document => {
            out.loss(LossKind::Media, id, view.mime.unwrap_or_default());
            false
        }
        Kind::Reasoning => {
            out.loss(LossKind::Reasoning, id, "");
            false
        }
        _ => {
            out.loss(LossKind::Opaque, id, "");
            false
        }
    }
}

fn image(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    drop_name(out, view, id);
    out.raw("{\"type\":\"image_url\",\"image_url\":{");
    out.text_field("url", &data_url(view));
    if let Some(own) = view.own_fields(names::EXTRA, ME) {
        let inner = own.get("image_url").and_then(Value::as_object);
        inner.into_iter().for_each(|inner| out.fields(inner, &[]));
        out.raw("}");
        out.fields(own, &["image_url"]);
    } else {
        let (detail, others) = detail(view);
        if let Some(detail) = detail {
            out.key("detail");
            out.value(detail);
        }
        lose_fields(out, id, &others);
        out.raw("}");
    }
    out.raw("}");
    true
}

fn file(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    out.raw("{\"type\":\"file\",\"file\":{");
    if view.encoding == Some("file_id") {
        out.text_field("file_id", &view.text());
    } else {
        let text = view.text();
        let whole = view.form() == Some(form::FIELD);
        let data = if whole { text } else { data_url(view) };
        out.text_field("file_data", &data);
    }
    if let Some(name) = view.name() {
        out.text_field("filename", name);
    }
    out.raw("}");
    close(out, view, id)
}

/// Closes a part after writing its remaining fields.
pub(super) fn close(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
    true
}
