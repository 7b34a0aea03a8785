//! Writes what precedes the messages of an Anthropic request: tools and system text.

use std::borrow::Cow;

use contextree_json::{Object, Value};

use super::ME;
use super::blocks::block;
use crate::messages::drop_message_fields;
use crate::parts::names;
use crate::parts::{Kind, Part, View};
use crate::render::wire::{drop_signature, has_own, is_kept_blank, sent_tool, write_own};
use crate::render::{List, LossKind, Out, Slot};
use crate::tools::{Function, write_tools};

pub(super) fn tools(out: &mut Out, parts: &[Part<'_>]) {
    write_tools(out, parts, function);
}

fn function(out: &mut Out, function: &Function<'_>) {
    let Function { id, view, name, description, parameters } = function;
    out.raw("{");
    let name = sent_tool(out, name, id);
    out.text_field("name", &name);
    if let Some(description) = description.filter(|it| !it.is_null() || view.is_from(ME)) {
        out.key("description");
        out.value(description);
    }
    let schema = schema(out, *parameters, id);
    out.key("input_schema");
    out.value(&schema);
    write_own(out, view, names::EXTRA, id);
    out.raw("}");
}

/// Returns the schema of the arguments as the API requires it: an object with `"type": "object"`.
fn schema<'a>(out: &mut Out, parameters: Option<&'a Value>, id: &str) -> Cow<'a, Value> {
    let object = parameters.and_then(Value::as_object);
    let kind = object.and_then(|it| it.get("type"));
    match (parameters, kind) {
        (Some(parameters), Some(kind)) if kind.as_str() == Some("object") => {
            return Cow::Borrowed(parameters);
        }
        (None | Some(Value::Null), _) | (Some(Value::Object(_)), None) => {}
        // Several types are allowed, for example a nullable object: `object` is the one that
        // matters.
        (_, Some(Value::Array(kinds))) if kinds.iter().any(|it| it.as_str() == Some("object")) => {}
        _ => out.loss(LossKind::Field, id, "type of `parameters`"),
    }
    let mut object: Object = object.cloned().unwrap_or_default();
    object.insert("type", Value::from("object"));
    Cow::Owned(Value::Object(object))
}

pub(super) fn system(out: &mut Out, parts: &[Part<'_>]) {
    if let [only] = parts
        && only.kind == Kind::Text
        && !has_own(&only.view(), ME)
        && !out.is_list(&only.view(), only.node.id())
    {
        let text = only.view().text();
        if text.is_empty() && !is_kept_blank(&only.view(), ME) {
            out.loss(LossKind::Empty, only.node.id(), "");
            return;
        }
        out.key("system");
        let start = out.place();
        out.string(&text);
        write_losses(out, &only.view(), only.node.id());
        out.span(start, only.node.id(), Slot { list: List::System, index: 0, inner: None });
        return;
    }
    let mut index = 0;
    for part in parts {
        let id = part.node.id();
        if part.kind != Kind::Text && !part.view().is_from(ME) {
            out.loss(LossKind::Media, id, "");
            continue;
        }
        let mark = out.mark();
        if index == 0 {
            out.key("system");
            out.raw("[");
        }
        out.comma();
        let start = out.place();
        if block(out, &part.view(), id) {
            out.span(start, id, Slot { list: List::System, index, inner: None });
            index += 1;
        } else {
            let lost = out.rendered.losses.pop();
            out.rewind(mark);
            out.rendered.losses.extend(lost);
        }
    }
    if index > 0 {
        out.raw("]");
    }
}

/// Reports fields of other providers that have no equivalent on plain text.
fn write_losses(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    drop_message_fields(out, view, id);
    drop_signature(out, view, id);
}
