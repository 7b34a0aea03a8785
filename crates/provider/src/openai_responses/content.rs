//! Writes the content parts of Responses messages and results.

use contextree_json::Value;
use contextree_tree::Content;

use super::write::ME;
use crate::media::{data_url, detail};
use crate::parts::names::{self, form};
use crate::parts::{Kind, Role, View};
use crate::render::wire::{drop_name, drop_signature, knows_file, lose_fields, write_own};
use crate::render::{LossKind, Out};

/// Writes a text as a content part.
pub(super) fn text_part(out: &mut Out, view: &View<'_>, id: &str, role: Role, text: &str) -> bool {
    let usual = if role == Role::Assistant { "output_text" } else { "input_text" };
    let own = view.own_fields(names::EXTRA, ME);
    let kind = own.and_then(|own| own.get("type")).and_then(Value::as_str).unwrap_or(usual);
    out.typed_text(kind, "text", text);
    match own {
        Some(own) => out.fields(own, &["type"]),
        None => {
            if view.attribute(names::EXTRA).is_some() {
                write_own(out, view, names::EXTRA, id);
            }
            // The API requires `annotations` on the model's own output.
            if kind == "output_text" && !view.is_from(ME) {
                out.raw(",\"annotations\":[]");
            }
        }
    }
    drop_signature(out, view, id);
    out.raw("}");
    true
}

/// Writes a content part; returns whether it could be expressed.
pub(super) fn content(out: &mut Out, view: &View<'_>, id: &str, role: Role) -> bool {
    drop_signature(out, view, id);
    let text = view.text();
    let is_media = matches!(view.kind, Kind::Image | Kind::Audio)
        || (view.kind == Kind::Document && view.encoding.is_some());
    if is_media && role == Role::Assistant && !view.is_from(ME) {
        // Assistant messages may contain only text.
        out.loss(LossKind::Media, id, view.mime.unwrap_or_default());
        return false;
    }
    match (view.kind, view.encoding) {
        (Kind::Text, _) => return text_part(out, view, id, role, &text),
        (Kind::Refusal, _) => out.typed_text("refusal", "refusal", &text),
        (Kind::Image | Kind::Document, Some("file_id")) if knows_file(view, ME) => {
            let kind = if view.kind == Kind::Image { "input_image" } else { "input_file" };
            out.typed_text(kind, "file_id", &text);
        }
        (Kind::Image, Some("base64" | "uri")) => {
            out.typed_text("input_image", "image_url", &data_url(view));
            drop_name(out, view, id);
            if view.is_from(ME) {
                return close(out, view, id);
            }
            let (detail, others) = detail(view);
            out.key("detail");
            out.value(detail.unwrap_or(&Value::from("auto")));
            lose_fields(out, id, &others);
            out.raw("}");
            return true;
        }
        (Kind::Document, Some("uri")) => out.typed_text("input_file", "file_url", &text),
        (Kind::Document, Some("base64")) => {
            let whole = view.form() == Some(form::FIELD);
            let data = if whole { text } else { data_url(view) };
            out.typed_text("input_file", "file_data", &data);
        }
        (Kind::Document, None) if view.content.as_text().is_some() => {
            drop_name(out, view, id);
            return text_part(out, view, id, role, &text);
        }
        (Kind::Opaque, _) if view.is_from(ME) && view.shape() != Some(form::ITEM) => {
            if let Content::Json(value) = view.content {
                out.value(value);
            }
            return true;
        }
        (Kind::Image | Kind::Document | Kind::Audio, _) => {
            out.loss(LossKind::Media, id, view.mime.unwrap_or_default());
            return false;
        }
        _ => {
            out.loss(LossKind::Opaque, id, "");
            return false;
        }
    }
    match view.name() {
        Some(name) if view.kind == Kind::Document => out.text_field("filename", name),
        _ => drop_name(out, view, id),
    }
    close(out, view, id)
}

/// Closes a part or an item after writing its remaining fields.
pub(super) fn close(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
    true
}
