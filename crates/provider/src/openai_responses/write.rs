//! Items of Responses.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::Provider;
use crate::media::data_url;
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    MISSING, arguments_text, drop_name, drop_signature, for_each_nested, has_own, knows_file,
    plain_text, tool_name, wire_call_id, write_model, write_own,
};
use crate::render::{List, LossKind, Message, Out, Preamble, Slot, Wire};
use crate::tools::Definition;

/// Writes requests of OpenAI Responses.
pub(crate) struct Responses;

const ME: Provider = Provider::OpenAiResponses;

impl Wire for Responses {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, _same_turn: bool) -> bool {
        if before.role != part.role {
            return false;
        }
        // What the model does in a row belongs together: reasoning and what it led to, calls before their results.
        if part.role == Role::Assistant {
            return true;
        }
        is_speech(before)
            && is_speech(part)
            && before.message().is_some()
            && before.message() == part.message()
    }

    fn answers_together(&self) -> bool {
        false
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
        instructions(out, &preamble.system);
        out.key("input");
        out.raw("[");
    }

    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        _missing: &[Part<'_>],
    ) {
        let mut rest = &message.parts[..];
        while let [part, further @ ..] = rest {
            if part.kind == Kind::Reasoning {
                // It may lead to more reasoning, but at last to something.
                let leads = further.iter().any(|part| part.kind != Kind::Reasoning);
                reasoning(out, part, leads);
                rest = further;
            } else if is_speech(part) {
                let goes_on = |next: &Part<'_>| {
                    let joined = next.view().form() == Some(form::JOINED);
                    is_speech(next) && (joined || next.role != Role::Assistant)
                };
                let end = further.iter().position(|it| !goes_on(it)).unwrap_or(further.len());
                speech(out, &rest[..=end]);
                rest = &further[end..];
            } else {
                match part.kind {
                    Kind::Call => call(out, part),
                    Kind::Result => result(out, part, calls),
                    _ => item(out, part),
                }
                rest = further;
            }
        }
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        for call in calls {
            out.comma();
            let start = out.place();
            let custom = call.view().form() == Some(form::CUSTOM);
            out.raw("{");
            out.text_field("type", output_type(custom));
            out.text_field("call_id", &wire_call_id(call, calls));
            out.text_field("output", MISSING);
            out.raw("}");
            done(out, start, call);
        }
    }
}

/// True for parts that are, or are in, a message; the others are items of their own.
fn is_speech(part: &Part<'_>) -> bool {
    match part.kind {
        Kind::Call | Kind::Result | Kind::Reasoning => false,
        Kind::Opaque => part.view().form() != Some(form::ITEM),
        _ => true,
    }
}

fn done(out: &mut Out, start: usize, part: &Part<'_>) {
    let slot = out.message_slot();
    out.span(start, part.node.id(), slot);
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
            out.raw("{\"type\":\"function\"");
            out.text_field("name", name);
            if let Some(description) = description {
                out.key("description");
                out.value(description);
            }
            // Both have to be there, if only with `null`.
            let own = view.is_from(ME);
            if let Some(parameters) = parameters {
                out.key("parameters");
                out.value(parameters);
            } else if !own {
                out.raw(",\"parameters\":null");
            }
            let has_strict =
                view.own_fields(names::EXTRA, ME).is_some_and(|it| it.contains_key("strict"));
            if !has_strict && !own {
                out.raw(",\"strict\":false");
            }
            if view.attribute(names::EXTRA).is_some() {
                write_own(out, &view, names::EXTRA, id);
            }
            out.raw("}");
        }
    }
    out.span(start, id, Slot { list: List::Tools, index: *index, inner: None });
    *index += 1;
}

/// System text is one text here.
fn instructions(out: &mut Out, parts: &[Part<'_>]) {
    let mut texts = Vec::new();
    for part in parts {
        let id = part.node.id();
        let view = part.view();
        if part.kind != Kind::Text {
            out.loss(LossKind::Media, id, "");
            continue;
        }
        for attribute in [names::EXTRA, names::MESSAGE_EXTRA] {
            if let Some(fields) = view.attribute(attribute).and_then(Value::as_object) {
                let names: Vec<&str> = fields.keys().collect();
                out.loss(LossKind::Field, id, names.join(", "));
            }
        }
        texts.push((id, view.text()));
    }
    let Some((first, _)) = texts.first() else { return };
    let first = (*first).to_owned();
    out.key("instructions");
    let start = out.place();
    let texts: Vec<&str> = texts.iter().map(|(_, text)| &**text).collect();
    out.string(&texts.join("\n\n"));
    out.span(start, &first, Slot { list: List::System, index: 0, inner: None });
}

fn reasoning(out: &mut Out, part: &Part<'_>, leads: bool) {
    let view = part.view();
    let id = part.node.id();
    if !view.is_from(ME) || !leads {
        let reason = if leads { "of another provider" } else { "it leads to nothing" };
        out.loss(LossKind::Reasoning, id, reason);
        return;
    }
    out.comma();
    let start = out.place();
    out.raw("{\"type\":\"reasoning\"");
    match view.content {
        Content::Json(summary) => {
            out.key("summary");
            out.value(summary);
        }
        Content::Text(text) => {
            out.raw(",\"summary\":[");
            out.typed_text("summary_text", "text", text);
            out.raw("}]");
        }
        Content::Absent => {}
    }
    if let Some(encrypted) = view.attribute(names::SIGNATURE) {
        out.key("encrypted_content");
        out.value(encrypted);
    }
    close(out, &view, id);
    done(out, start, part);
}

fn call(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    let id = part.node.id();
    let custom = view.form() == Some(form::CUSTOM);
    out.comma();
    let start = out.place();
    out.raw("{");
    out.text_field("type", if custom { "custom_tool_call" } else { "function_call" });
    out.text_field("call_id", &wire_call_id(part, &[]));
    out.text_field("name", tool_name(part));
    if custom {
        out.text_field("input", &view.text());
    } else {
        out.text_field("arguments", &arguments_text(&view));
    }
    drop_signature(out, &view, id);
    message_loss(out, &view, id);
    close(out, &view, id);
    done(out, start, part);
}

fn output_type(custom: bool) -> &'static str {
    if custom { "custom_tool_call_output" } else { "function_call_output" }
}

fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let view = part.view();
    let id = part.node.id();
    let call = crate::render::wire::call_of(part, calls);
    let custom = view.form() == Some(form::CUSTOM)
        || call.is_some_and(|call| call.view().form() == Some(form::CUSTOM));
    out.comma();
    let start = out.place();
    out.raw("{");
    out.text_field("type", output_type(custom));
    out.text_field("call_id", &wire_call_id(part, calls));
    if view.attribute(names::IS_ERROR).and_then(Value::as_bool) == Some(true) {
        out.loss(LossKind::IsError, id, "");
    }
    out.key("output");
    match view.content {
        Content::Json(value) if view.is_from(ME) => out.value(value),
        _ => {
            let at = out.place();
            out.raw("[");
            let nested = for_each_nested(&view, |inner| {
                let before = out.place();
                out.comma();
                if !content(out, &inner, id, Role::User) {
                    out.rendered.bytes.truncate(before);
                }
            });
            if nested {
                out.raw("]");
            } else {
                out.rendered.bytes.truncate(at);
                out.string(&view.text());
            }
        }
    }
    message_loss(out, &view, id);
    close(out, &view, id);
    done(out, start, part);
}

/// An item that only this provider understands.
fn item(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    match view.content {
        Content::Json(value) if view.is_from(ME) => {
            out.comma();
            let start = out.place();
            out.value(value);
            done(out, start, part);
        }
        _ => out.loss(LossKind::Opaque, part.node.id(), ""),
    }
}

/// A message.
fn speech(out: &mut Out, parts: &[Part<'_>]) {
    let Some(first) = parts.first() else { return };
    let view = first.view();
    let id = first.node.id();
    let mark = out.mark();
    out.comma();
    let start = out.place();
    if let ([only], Some(form::ITEM)) = (parts, view.form())
        && only.kind == Kind::Text
    {
        // An input that was a text is a message like any other.
        let text = plain_text(out, only);
        out.raw("{\"role\":\"user\"");
        out.text_field("content", &text);
        out.raw("}");
        return done(out, start, only);
    }
    let word = match first.role {
        Role::System => {
            let own = first.node.attribute(names::ROLE).and_then(Value::as_str);
            own.filter(|word| *word == "developer").unwrap_or("system")
        }
        Role::Assistant => "assistant",
        _ => "user",
    };
    out.raw("{");
    out.text_field("role", word);
    out.key("content");
    // What the model said is a list only with the fields of the answer that it came in.
    let foreign = first.role == Role::Assistant && !view.is_from(ME);
    let plain = parts.len() == 1
        && matches!(first.kind, Kind::Text | Kind::Refusal)
        && (foreign
            || (first.kind == Kind::Text && !has_own(&view, ME) && !out.is_list(&view, id)));
    let losses = out.rendered.losses.len();
    let mut index = 0;
    if plain {
        if first.kind == Kind::Refusal {
            out.loss(LossKind::Refusal, id, "");
        }
        let text = plain_text(out, first);
        out.string(&text);
        if view.attribute(names::EXTRA).is_some() {
            write_own(out, &view, names::EXTRA, id);
        }
        drop_signature(out, &view, id);
        message_fields(out, &view, id);
        out.raw("}");
        return done(out, start, first);
    }
    out.raw("[");
    let empty = view.form() == Some(form::LIST) && *view.content == Content::Absent;
    for part in parts.iter().filter(|_| !empty) {
        let before = out.place();
        out.comma();
        let at = out.place();
        let written = match part.kind {
            Kind::Text => {
                let text = plain_text(out, part);
                text_part(out, &part.view(), part.node.id(), part.role, &text)
            }
            _ => content(out, &part.view(), part.node.id(), part.role),
        };
        if written {
            let slot = Slot { inner: Some(("content", index)), ..out.message_slot() };
            out.span(at, part.node.id(), slot);
            index += 1;
        } else {
            out.rendered.bytes.truncate(before);
        }
    }
    if index == 0 && !empty {
        let lost = out.rendered.losses.split_off(losses);
        out.rewind(mark);
        out.rendered.losses.extend(lost);
        return;
    }
    out.raw("]");
    message_fields(out, &view, id);
    out.raw("}");
    out.messages += 1;
}

fn text_part(out: &mut Out, view: &View<'_>, id: &str, role: Role, text: &str) -> bool {
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
            // What the model said cannot be sent back without it.
            if kind == "output_text" && !view.is_from(ME) {
                out.raw(",\"annotations\":[]");
            }
        }
    }
    drop_signature(out, view, id);
    out.raw("}");
    true
}

fn message_fields(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::MESSAGE_EXTRA).is_some() {
        write_own(out, view, names::MESSAGE_EXTRA, id);
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

/// Writes a part of a message; returns whether it could be expressed.
fn content(out: &mut Out, view: &View<'_>, id: &str, role: Role) -> bool {
    drop_signature(out, view, id);
    let text = view.text();
    match (view.kind, view.encoding) {
        (Kind::Text, _) => return text_part(out, view, id, role, &text),
        (Kind::Refusal, _) => out.typed_text("refusal", "refusal", &text),
        (Kind::Image | Kind::Document, Some("file_id")) if knows_file(view, ME) => {
            let kind = if view.kind == Kind::Image { "input_image" } else { "input_file" };
            out.typed_text(kind, "file_id", &text);
        }
        (Kind::Image, Some("base64" | "uri")) => {
            out.typed_text("input_image", "image_url", &data_url(view));
            let own = view.own_fields(names::EXTRA, ME);
            if own.is_none_or(|own| !own.contains_key("detail")) && !view.is_from(ME) {
                out.raw(",\"detail\":\"auto\"");
            }
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
        (Kind::Opaque, _) if view.is_from(ME) && view.form() != Some(form::ITEM) => {
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

fn close(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
    true
}
