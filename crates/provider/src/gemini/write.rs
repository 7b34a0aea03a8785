//! Contents of Gemini.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use contextree_tree::Content;

use super::read::INNER;
use crate::Provider;
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    FIRST, MISSING, arguments_object, call_of, drop_name, drop_signature, plain_text, result_text,
    tool_name, wire_call_id, write_model, write_own,
};
use crate::render::{List, LossKind, Message, Out, Preamble, Slot, Wire};
use crate::tools::Definition;

/// Writes requests of Gemini.
pub(crate) struct Gemini;

const ME: Provider = Provider::Gemini;

impl Wire for Gemini {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, _same_turn: bool) -> bool {
        if (before.role == Role::Assistant) != (part.role == Role::Assistant) {
            return false;
        }
        if before.kind == Kind::Result && part.kind == Kind::Result {
            return true;
        }
        match (before.message(), part.message()) {
            (Some(before), Some(part)) => part != before + 1,
            _ => true,
        }
    }

    fn answers_together(&self) -> bool {
        true
    }

    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object) {
        out.raw("{");
        write_model(out, settings);
        tools(out, &preamble.tools);
        system(out, &preamble.system);
        out.key("contents");
        out.raw("[");
    }

    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        missing: &[Part<'_>],
    ) {
        let mark = out.mark();
        let losses = out.rendered.losses.len();
        if message.role == Role::Assistant && out.messages == 0 {
            out.loss(LossKind::FirstUser, message.parts[0].node.id(), "");
            out.comma();
            let start = out.place();
            out.raw("{\"role\":\"user\",\"parts\":[{");
            out.text_field("text", FIRST);
            out.raw("}]}");
            out.span(start, message.parts[0].node.id(), out.message_slot());
            out.messages += 1;
        }
        out.comma();
        if content(out, message, calls, missing) {
            out.messages += 1;
        } else {
            let lost = out.rendered.losses.split_off(losses);
            out.rewind(mark);
            out.rendered.losses.extend(lost);
        }
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        out.comma();
        out.raw("{\"role\":\"user\",\"parts\":[");
        let mut index = 0;
        no_results(out, calls, &mut index);
        out.raw("]}");
        out.messages += 1;
    }
}

fn tools(out: &mut Out, parts: &[Part<'_>]) {
    let mut entry: u32 = 0;
    // The number of the entry of functions that is open, and how many it has.
    let mut open: Option<(Option<u64>, u32)> = None;
    for part in parts {
        let id = part.node.id();
        let view = part.view();
        let Some(definition) = Definition::of(out, &view, id, ME) else { continue };
        let group = part.message();
        let continues = matches!((&definition, &open), (Definition::Function { .. }, Some((own, _))) if *own == group);
        if open.is_some() && !continues {
            out.raw("]}");
            entry += 1;
            open = None;
        }
        if entry == 0 && open.is_none() {
            out.key("tools");
            out.raw("[");
        }
        match definition {
            Definition::Own(value) => {
                out.comma();
                let start = out.place();
                out.value(value);
                out.span(start, id, Slot { list: List::Tools, index: entry, inner: None });
                entry += 1;
            }
            Definition::Function { name, description, parameters } => {
                let count = match open {
                    Some((_, count)) => count,
                    None => {
                        out.comma();
                        out.raw("{\"functionDeclarations\":[");
                        0
                    }
                };
                out.comma();
                let start = out.place();
                out.raw("{");
                out.text_field("name", name);
                if let Some(description) = description {
                    out.key("description");
                    out.value(description);
                }
                if let Some(parameters) = parameters {
                    let own = view.is_from(ME) && view.form() == Some(form::FIELD);
                    out.key(if own { "parameters" } else { "parametersJsonSchema" });
                    out.value(parameters);
                }
                if view.attribute(names::EXTRA).is_some() {
                    write_own(out, &view, names::EXTRA, id);
                }
                out.raw("}");
                let inner = Some(("functionDeclarations", count));
                out.span(start, id, Slot { list: List::Tools, index: entry, inner });
                open = Some((group, count + 1));
            }
        }
    }
    if open.is_some() {
        out.raw("]}");
        entry += 1;
    }
    if entry > 0 {
        out.raw("]");
    }
}

fn system(out: &mut Out, parts: &[Part<'_>]) {
    let mut index = 0;
    let mut first = None;
    for part in parts {
        let id = part.node.id();
        let view = part.view();
        let mark = out.mark();
        if index == 0 {
            out.key("systemInstruction");
            out.raw("{\"parts\":[");
        }
        out.comma();
        let start = out.place();
        if part_of(out, &view, id) {
            out.span(start, id, Slot { list: List::System, index, inner: None });
            index += 1;
            first = first.or(Some(view));
        } else {
            let lost = out.rendered.losses.pop();
            out.rewind(mark);
            out.rendered.losses.extend(lost);
        }
        if index > 0 && view.attribute(names::MESSAGE_EXTRA).is_some() && !view.is_from(ME) {
            out.loss(LossKind::Field, id, "fields of its message");
        }
    }
    if let Some(view) = first {
        out.raw("]");
        if let Some(fields) = view.own_fields(names::MESSAGE_EXTRA, ME) {
            out.fields(fields, &[]);
        }
        out.raw("}");
    }
}

/// A message; returns whether anything of it could be written.
fn content(out: &mut Out, message: &Message<'_>, calls: &[Part<'_>], missing: &[Part<'_>]) -> bool {
    let first = &message.parts[0];
    let head = first.view();
    let usual = if message.role == Role::Assistant { "model" } else { "user" };
    out.raw("{");
    match first.node.attribute(names::ROLE) {
        Some(Value::Null) => {}
        Some(Value::String(word)) if &**word == "function" && usual == "user" => {
            out.text_field("role", word);
        }
        _ => out.text_field("role", usual),
    }
    out.key("parts");
    out.raw("[");
    let mut index = 0;
    let results = |part: &&Part<'_>| part.kind == Kind::Result;
    for part in message.parts.iter().filter(results) {
        listed(out, part, &mut index, |out| {
            result(out, part, calls);
            true
        });
    }
    no_results(out, missing, &mut index);
    for part in message.parts.iter().filter(|part| !results(part)) {
        listed(out, part, &mut index, |out| match part.kind {
            Kind::Call => {
                call(out, part);
                true
            }
            Kind::Text if part.role != Role::Assistant => speech(out, part),
            _ => part_of(out, &part.view(), part.node.id()),
        });
    }
    out.raw("]");
    if head.attribute(names::MESSAGE_EXTRA).is_some() {
        write_own(out, &head, names::MESSAGE_EXTRA, first.node.id());
    }
    out.raw("}");
    index > 0
}

fn listed(out: &mut Out, part: &Part<'_>, index: &mut u32, write: impl FnOnce(&mut Out) -> bool) {
    let before = out.place();
    out.comma();
    let start = out.place();
    if write(out) {
        let slot = Slot { inner: Some(("parts", *index)), ..out.message_slot() };
        out.span(start, part.node.id(), slot);
        *index += 1;
    } else {
        out.rendered.bytes.truncate(before);
    }
}

fn speech(out: &mut Out, part: &Part<'_>) -> bool {
    let id = part.node.id();
    let view = part.view();
    let mut text = plain_text(out, part);
    if text.is_empty() && view.attribute(names::SIGNATURE).is_none() {
        out.loss(LossKind::Empty, id, "");
        return false;
    }
    if part.role == Role::System {
        out.loss(LossKind::SystemInline, id, "");
        text = Cow::Owned(format!("<system>\n{text}\n</system>"));
    }
    out.raw("{");
    out.text_field("text", &text);
    close(out, &view, id);
    true
}

fn call(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    let node = part.node.id();
    out.raw("{\"functionCall\":{");
    if view.form() != Some(form::ANONYMOUS) {
        out.text_field("id", &wire_call_id(part, &[]));
    }
    out.text_field("name", tool_name(part));
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
    write_inner(out, &view);
    out.raw("}");
    message_loss(out, &view, node);
    close(out, &view, node);
}

fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let view = part.view();
    let node = part.node.id();
    let call = call_of(part, calls);
    out.raw("{\"functionResponse\":{");
    let anonymous = view.form() == Some(form::ANONYMOUS)
        || call.is_some_and(|call| call.view().form() == Some(form::ANONYMOUS));
    if !anonymous {
        out.text_field("id", &wire_call_id(part, calls));
    }
    let name = view.name().or_else(|| call.map(|call| tool_name(&call))).unwrap_or("unknown");
    out.text_field("name", name);
    let is_error = view.attribute(names::IS_ERROR).and_then(Value::as_bool) == Some(true);
    match view.content {
        Content::Absent => {}
        Content::Json(value) if value.as_object().is_some() => {
            out.key("response");
            out.value(value);
        }
        _ => {
            let text = result_text(out, &view, node);
            out.raw(",\"response\":{");
            out.text_field(if is_error { "error" } else { "output" }, &text);
            out.raw("}");
        }
    }
    if *view.content == Content::Absent && !view.is_from(ME) {
        out.raw(",\"response\":{\"output\":\"\"}");
    }
    write_inner(out, &view);
    out.raw("}");
    message_loss(out, &view, node);
    close(out, &view, node);
}

fn no_results(out: &mut Out, calls: &[Part<'_>], index: &mut u32) {
    for call in calls {
        listed(out, call, index, |out| {
            out.raw("{\"functionResponse\":{");
            if call.view().form() != Some(form::ANONYMOUS) {
                out.text_field("id", &wire_call_id(call, calls));
            }
            out.text_field("name", tool_name(call));
            out.raw(",\"response\":{");
            out.text_field("error", MISSING);
            out.raw("}}}");
            true
        });
    }
}

/// Notes fields of another provider's message.
fn message_loss(out: &mut Out, view: &View<'_>, id: &str) {
    if let Some(fields) = view.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object)
        && !view.is_from(ME)
    {
        let names: Vec<&str> = fields.keys().collect();
        out.loss(LossKind::Field, id, names.join(", "));
    }
}

/// Writes a part that is neither a call nor a result; returns whether it could be expressed.
fn part_of(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    let own = view.is_from(ME);
    match (view.kind, view.encoding) {
        (Kind::Text | Kind::Refusal, _) | (Kind::Document, None) => {
            let text = view.text();
            if text.is_empty() && !(own && view.attribute(names::SIGNATURE).is_some()) {
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
        }
        (Kind::Reasoning, _) if own => {
            out.raw("{");
            out.text_field("text", &view.text());
            out.raw(",\"thought\":true");
        }
        (Kind::Reasoning, _) => {
            out.loss(LossKind::Reasoning, id, "of another provider");
            return false;
        }
        (Kind::Image | Kind::Document | Kind::Audio, Some(encoding @ ("base64" | "uri"))) => {
            let (object, field) = match encoding {
                "base64" => ("inlineData", "data"),
                _ => ("fileData", "fileUri"),
            };
            out.raw("{");
            out.key(object);
            out.raw("{");
            match view.mime {
                Some(mime) => out.text_field("mimeType", mime),
                None if encoding == "base64" => {
                    out.text_field("mimeType", "application/octet-stream");
                }
                None => {}
            }
            out.text_field(field, &view.text());
            if let Some(name) = view.name() {
                out.text_field("displayName", name);
            }
            write_inner(out, view);
            out.raw("}");
        }
        (Kind::Opaque, _) if own => {
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
    close(out, view, id);
    true
}

fn write_inner(out: &mut Out, view: &View<'_>) {
    let own = view.own_fields(names::EXTRA, ME);
    if let Some(inner) = own.and_then(|own| own.get(INNER)).and_then(Value::as_object) {
        out.fields(inner, &[]);
    }
}

/// Ends a part: its signature, and fields of its own.
fn close(out: &mut Out, view: &View<'_>, id: &str) {
    if view.is_from(ME) {
        if let Some(signature) = view.attribute(names::SIGNATURE) {
            out.key("thoughtSignature");
            out.value(signature);
        }
    } else {
        drop_signature(out, view, id);
    }
    match view.own_fields(names::EXTRA, ME) {
        Some(own) => out.fields(own, &[INNER]),
        None => {
            if view.attribute(names::EXTRA).is_some() {
                write_own(out, view, names::EXTRA, id);
            }
        }
    }
    out.raw("}");
}
