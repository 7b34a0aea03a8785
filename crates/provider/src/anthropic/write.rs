//! Messages of Anthropic.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::Provider;
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    FIRST, MISSING, arguments_object, drop_name, drop_signature, for_each_nested, has_own,
    knows_file, plain_text, safe_call_id, tool_name, wire_call_id, write_model, write_own,
};
use crate::render::{List, LossKind, Message, Out, Preamble, Slot, Wire};
use crate::tools::Definition;

/// Writes requests of Anthropic Messages.
pub(crate) struct Anthropic;

const ME: Provider = Provider::Anthropic;

impl Wire for Anthropic {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, _same_turn: bool) -> bool {
        if is_native_system(before) || is_native_system(part) {
            let both = is_native_system(before) && is_native_system(part);
            return both && before.message().is_some() && before.message() == part.message();
        }
        let same_side = (before.role == Role::Assistant) == (part.role == Role::Assistant);
        if !same_side {
            return false;
        }
        // All results of a message stand in one message.
        if before.kind == Kind::Result && part.kind == Kind::Result {
            return true;
        }
        match (before.message(), part.message()) {
            // Messages that came side by side stay apart; those that a removal brought together do not.
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
        let mut index = 0;
        for part in &preamble.tools {
            tool(out, part, &mut index);
        }
        if index > 0 {
            out.raw("]");
        }
        system(out, &preamble.system);
        out.key("messages");
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
            first_user(out, &message.parts[0]);
        }
        out.comma();
        let written = if message.role == Role::Assistant {
            assistant(out, message)
        } else {
            user(out, message, calls, missing)
        };
        if written {
            out.messages += 1;
        } else {
            // Nothing of it is left, but what was lost is.
            let lost = out.rendered.losses.split_off(losses);
            out.rewind(mark);
            out.rendered.losses.extend(lost);
        }
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        out.comma();
        out.raw("{\"role\":\"user\",\"content\":[");
        let mut index = 0;
        no_results(out, calls, &mut index);
        out.raw("]}");
        out.messages += 1;
    }
}

/// True for system text in the middle of a conversation that came from a request of Anthropic's.
fn is_native_system(part: &Part<'_>) -> bool {
    part.role == Role::System
        && part.view().is_from(ME)
        && part.node.attribute(names::ROLE).is_some()
}

fn first_user(out: &mut Out, part: &Part<'_>) {
    out.loss(LossKind::FirstUser, part.node.id(), "");
    out.comma();
    let start = out.place();
    out.raw("{\"role\":\"user\"");
    out.text_field("content", FIRST);
    out.raw("}");
    out.span(start, part.node.id(), out.message_slot());
    out.messages += 1;
}

fn tool(out: &mut Out, part: &Part<'_>, index: &mut u32) {
    let id = part.node.id();
    let view = part.view();
    let Some(definition) = Definition::of(out, &view, id, ME) else { return };
    if *index == 0 {
        out.key("tools");
        out.raw("[");
    }
    out.comma();
    let start = out.place();
    match definition {
        Definition::Own(value) => out.value(value),
        Definition::Function { name, description, parameters } => {
            out.raw("{");
            out.text_field("name", name);
            if let Some(description) = description {
                out.key("description");
                out.value(description);
            }
            out.key("input_schema");
            match parameters {
                Some(parameters) => out.value(parameters),
                None => out.raw("{\"type\":\"object\"}"),
            }
            write_own(out, &view, names::EXTRA, id);
            out.raw("}");
        }
    }
    out.span(start, id, Slot { list: List::Tools, index: *index, inner: None });
    *index += 1;
}

fn system(out: &mut Out, parts: &[Part<'_>]) {
    if let [only] = parts
        && only.kind == Kind::Text
        && !has_own(&only.view(), ME)
        && !out.is_list(&only.view(), only.node.id())
    {
        let text = only.view().text();
        if text.is_empty() {
            out.loss(LossKind::Empty, only.node.id(), "");
            return;
        }
        out.key("system");
        let start = out.place();
        out.string(&text);
        write_losses(out, only);
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

/// Notes fields of others that a plain text cannot have.
fn write_losses(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    for attribute in [names::EXTRA, names::MESSAGE_EXTRA] {
        if let Some(fields) = view.attribute(attribute).and_then(Value::as_object)
            && !view.is_from(ME)
        {
            let names: Vec<&str> = fields.keys().collect();
            out.loss(LossKind::Field, part.node.id(), names.join(", "));
        }
    }
    drop_signature(out, &view, part.node.id());
}

/// A message of the model; returns whether anything of it could be written.
fn assistant(out: &mut Out, message: &Message<'_>) -> bool {
    let first = &message.parts[0];
    let start = out.place();
    out.raw("{\"role\":\"assistant\"");
    if let [only] = message.parts.as_slice()
        && is_plain(out, only)
    {
        let text = only.view().text();
        if text.is_empty() {
            out.loss(LossKind::Empty, only.node.id(), "");
            return false;
        }
        out.text_field("content", &text);
        finish_plain(out, only);
        out.span(start, only.node.id(), out.message_slot());
        return true;
    }
    out.raw(",\"content\":[");
    // Reasoning that leads to nothing is refused.
    let useful = |part: &Part<'_>| {
        part.kind != Kind::Reasoning && !(part.kind == Kind::Text && part.view().text().is_empty())
    };
    let last = message.parts.iter().rposition(useful);
    let mut index = 0;
    for (position, part) in message.parts.iter().enumerate() {
        if part.kind == Kind::Reasoning && last.is_none_or(|last| position > last) {
            out.loss(LossKind::Reasoning, part.node.id(), "it leads to nothing");
            continue;
        }
        listed(out, part, &[], &mut index);
    }
    out.raw("]");
    message_fields(out, first);
    out.raw("}");
    index > 0
}

/// A message of the user: results first.
fn user(out: &mut Out, message: &Message<'_>, calls: &[Part<'_>], missing: &[Part<'_>]) -> bool {
    let first = &message.parts[0];
    let start = out.place();
    let word = if is_native_system(first) { "system" } else { "user" };
    out.raw("{");
    out.text_field("role", word);
    if let [only] = message.parts.as_slice()
        && is_plain(out, only)
        && missing.is_empty()
    {
        let text = plain_text(out, only);
        if text.trim().is_empty() {
            out.loss(LossKind::Empty, only.node.id(), "");
            return false;
        }
        out.key("content");
        speech(out, only, &text);
        finish_plain(out, only);
        out.span(start, only.node.id(), out.message_slot());
        return true;
    }
    out.raw(",\"content\":[");
    let mut index = 0;
    let results = |part: &&Part<'_>| part.kind == Kind::Result;
    for part in message.parts.iter().filter(results) {
        listed(out, part, calls, &mut index);
    }
    no_results(out, missing, &mut index);
    for part in message.parts.iter().filter(|part| !results(part)) {
        listed(out, part, calls, &mut index);
    }
    out.raw("]");
    message_fields(out, first);
    out.raw("}");
    index > 0
}

/// Writes text of the user, or of the system among messages, which only some models read as such.
fn speech(out: &mut Out, part: &Part<'_>, text: &str) {
    if part.role == Role::System && !is_native_system(part) {
        out.loss(LossKind::SystemInline, part.node.id(), "");
        out.string(&format!("<system>\n{text}\n</system>"));
    } else {
        out.string(text);
    }
}

fn is_plain(out: &Out, part: &Part<'_>) -> bool {
    let view = part.view();
    part.kind == Kind::Text && !has_own(&view, ME) && !out.is_list(&view, part.node.id())
}

fn finish_plain(out: &mut Out, part: &Part<'_>) {
    write_losses_of_part(out, part);
    message_fields(out, part);
    out.raw("}");
}

fn write_losses_of_part(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, &view, names::EXTRA, part.node.id());
    }
    drop_signature(out, &view, part.node.id());
}

fn message_fields(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    if view.attribute(names::MESSAGE_EXTRA).is_some() {
        write_own(out, &view, names::MESSAGE_EXTRA, part.node.id());
    }
}

/// Writes a part as a block of a message.
fn listed(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>], index: &mut u32) {
    let before = out.place();
    out.comma();
    let start = out.place();
    let id = part.node.id();
    let view = part.view();
    let written = match part.kind {
        Kind::Call => {
            call(out, part);
            true
        }
        Kind::Result => {
            result(out, part, calls);
            true
        }
        Kind::Text if part.role != Role::Assistant => {
            let text = plain_text(out, part);
            if text.trim().is_empty() {
                out.loss(LossKind::Empty, id, "");
                false
            } else {
                out.raw("{\"type\":\"text\",\"text\":");
                speech(out, part, &text);
                close(out, &view, id)
            }
        }
        _ => block(out, &view, id),
    };
    if written {
        let slot = Slot { inner: Some(("content", *index)), ..out.message_slot() };
        out.span(start, id, slot);
        *index += 1;
    } else {
        out.rendered.bytes.truncate(before);
    }
}

fn call_id(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let id = wire_call_id(part, calls);
    let safe = safe_call_id(&id);
    if part.kind == Kind::Call && *safe != *id {
        out.loss(LossKind::CallId, part.node.id(), &*id);
    }
    out.string(&safe);
}

fn call(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    let node = part.node.id();
    out.raw("{\"type\":\"tool_use\",\"id\":");
    call_id(out, part, &[]);
    out.text_field("name", tool_name(part));
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

fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
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
            if nested {
                out.raw("]");
            } else {
                out.rendered.bytes.truncate(start);
                out.string(&view.text());
            }
        }
    }
    if let Some(is_error) = view.attribute(names::IS_ERROR) {
        out.key("is_error");
        out.value(is_error);
    }
    message_loss(out, &view, node);
    close(out, &view, node);
}

/// Notes fields of another provider's message that was one result.
fn message_loss(out: &mut Out, view: &View<'_>, node: &str) {
    if !view.is_from(ME)
        && let Some(fields) = view.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object)
    {
        let names: Vec<&str> = fields.keys().collect();
        out.loss(LossKind::Field, node, names.join(", "));
    }
}

fn no_results(out: &mut Out, calls: &[Part<'_>], index: &mut u32) {
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
fn block(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.kind != Kind::Reasoning {
        drop_signature(out, view, id);
    }
    match view.kind {
        Kind::Text | Kind::Refusal => {
            let text = view.text();
            if text.trim().is_empty() {
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
        let reason = if view.is_from(ME) { "no signature" } else { "of another provider" };
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

fn media(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    let is_image = view.kind == Kind::Image;
    let mime = view.mime.unwrap_or_default();
    let image_types = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let source = match view.encoding {
        Some("base64") if is_image && image_types.contains(&mime) => ("base64", "data"),
        Some("base64") if !is_image && mime == "application/pdf" => ("base64", "data"),
        Some("uri") => ("url", "url"),
        Some("file_id") if knows_file(view, ME) => ("file", "file_id"),
        None if !is_image => ("text", "data"),
        _ => {
            out.loss(LossKind::Media, id, mime);
            return false;
        }
    };
    out.raw("{");
    out.text_field("type", if is_image { "image" } else { "document" });
    out.raw(",\"source\":{");
    out.text_field("type", source.0);
    match source.0 {
        "base64" => out.text_field("media_type", mime),
        "text" => out.text_field("media_type", view.mime.unwrap_or("text/plain")),
        _ => {}
    }
    out.text_field(source.1, &view.text());
    out.raw("}");
    match view.name() {
        Some(name) if !is_image => out.text_field("title", name),
        _ => drop_name(out, view, id),
    }
    close(out, view, id)
}

fn close(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
    true
}
