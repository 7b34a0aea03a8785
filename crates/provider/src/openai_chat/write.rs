//! Messages of Chat Completions.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::Provider;
use crate::media::{data_url, extension};
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    MISSING, arguments_text, drop_name, drop_signature, for_each_nested, has_own, knows_file,
    plain_text, wire_call_id, write_model, write_own,
};
use crate::render::{List, LossKind, Message, Out, Preamble, Slot, Wire};
use crate::tools::Definition;

/// Writes requests of Chat Completions.
pub(crate) struct Chat;

const ME: Provider = Provider::OpenAiChat;

impl Wire for Chat {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, same_turn: bool) -> bool {
        if before.role != part.role || part.role == Role::Tool {
            return false;
        }
        match (before.message(), part.message()) {
            (None, None) => part.role == Role::Assistant && same_turn,
            (before, part) => before == part,
        }
    }

    fn answers_together(&self) -> bool {
        false
    }

    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object) {
        out.raw("{");
        write_model(out, settings);
        for part in &preamble.tools {
            tool(out, part);
        }
        if out.rendered.spans.last().is_some() {
            out.raw("]");
        }
        out.key("messages");
        out.raw("[");
        let mut rest = &preamble.system[..];
        while let Some(first) = rest.first() {
            let end = rest.windows(2).position(|pair| !self.joins(&pair[0], &pair[1], false));
            let (parts, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            let message = Message { role: first.role, parts: parts.to_vec() };
            self.message(out, &message, &[], &[]);
            rest = others;
        }
    }

    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        _missing: &[Part<'_>],
    ) {
        out.comma();
        let start = out.place();
        let spans = out.rendered.spans.len();
        match message.role {
            Role::Tool => result(out, &message.parts[0], calls),
            Role::Assistant => assistant(out, message),
            Role::User | Role::System => speech(out, message),
        }
        finish(out, message, start, spans);
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        for call in calls {
            out.comma();
            let start = out.place();
            out.raw("{\"role\":\"tool\"");
            out.text_field("tool_call_id", &wire_call_id(call, calls));
            out.text_field("content", MISSING);
            out.raw("}");
            out.span(start, call.node.id(), out.message_slot());
            out.messages += 1;
        }
    }
}

/// Takes back a message of which nothing is left; counts any other.
fn finish(out: &mut Out, message: &Message<'_>, start: usize, spans: usize) {
    if out.place() == start {
        if out.rendered.bytes.last() == Some(&b',') {
            out.rendered.bytes.pop();
        }
        return;
    }
    if out.rendered.spans.len() == spans {
        let slot = out.message_slot();
        out.span(start, message.parts[0].node.id(), slot);
    }
    out.messages += 1;
}

fn tool(out: &mut Out, part: &Part<'_>) {
    let id = part.node.id();
    let view = part.view();
    let Some(definition) = Definition::of(out, &view, id, ME) else { return };
    let index = out.rendered.spans.len() as u32;
    if index == 0 {
        out.key("tools");
        out.raw("[");
    }
    out.comma();
    let start = out.place();
    match definition {
        Definition::Own(value) => out.value(value),
        Definition::Function { name, description, parameters } => {
            out.raw("{\"type\":\"function\",\"function\":{");
            out.text_field("name", name);
            if let Some(description) = description {
                out.key("description");
                out.value(description);
            }
            if let Some(parameters) = parameters {
                out.key("parameters");
                out.value(parameters);
            }
            let own = view.own_fields(names::EXTRA, ME);
            let outer = own.and_then(|own| own.get("outer")).and_then(Value::as_object);
            let inner = own.and_then(|own| own.get("function")).and_then(Value::as_object);
            match own {
                Some(_) => inner.into_iter().for_each(|fields| out.fields(fields, &[])),
                None => write_own(out, &view, names::EXTRA, id),
            }
            out.raw("}");
            outer.into_iter().for_each(|fields| out.fields(fields, &[]));
            out.raw("}");
        }
    }
    out.span(start, id, Slot { list: List::Tools, index, inner: None });
}

/// A message of the user or of the system.
fn speech(out: &mut Out, message: &Message<'_>) {
    let first = &message.parts[0];
    let word = match message.role {
        Role::System => role_word(first, "system"),
        _ => "user",
    };
    let view = first.view();
    let plain = message.parts.len() == 1
        && first.kind == Kind::Text
        && !has_own(&view, ME)
        && !out.is_list(&view, first.node.id());
    if plain {
        out.raw("{");
        out.text_field("role", word);
        out.key("content");
        let text = plain_text(out, first);
        out.string(&text);
        if view.attribute(names::EXTRA).is_some() {
            write_own(out, &view, names::EXTRA, first.node.id());
        }
        drop_signature(out, &view, first.node.id());
    } else {
        let start = out.place();
        out.raw("{");
        out.text_field("role", word);
        out.key("content");
        out.raw("[");
        let empty = view.form() == Some(form::LIST) && *view.content == Content::Absent;
        let mut index = 0;
        for part in message.parts.iter().filter(|_| !empty) {
            listed(out, part, &mut index);
        }
        if index == 0 && !empty {
            out.rendered.bytes.truncate(start);
            return;
        }
        out.raw("]");
    }
    message_fields(out, &view, first.node.id());
    out.raw("}");
}

fn role_word<'a>(part: &Part<'a>, default: &'a str) -> &'a str {
    let own = part.node.attribute(names::ROLE).and_then(Value::as_str);
    own.filter(|word| matches!(*word, "developer" | "system")).unwrap_or(default)
}

fn message_fields(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::MESSAGE_EXTRA).is_some() {
        write_own(out, view, names::MESSAGE_EXTRA, id);
    }
}

/// Writes a part as an element of a list of contents.
fn listed(out: &mut Out, part: &Part<'_>, index: &mut u32) {
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
        _ => content(out, &part.view(), id),
    };
    if written {
        let slot = Slot { inner: Some(("content", *index)), ..out.message_slot() };
        out.span(start, id, slot);
        *index += 1;
    } else {
        out.rendered.bytes.truncate(before);
    }
}

/// Writes a part that is no call, result or reasoning; returns whether it could be expressed.
fn content(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    drop_signature(out, view, id);
    match view.kind {
        Kind::Text => {
            out.typed_text("text", "text", &view.text());
            close(out, view, id)
        }
        Kind::Refusal => {
            out.typed_text("refusal", "refusal", &view.text());
            close(out, view, id)
        }
        Kind::Image if view.encoding != Some("file_id") => {
            drop_name(out, view, id);
            out.raw("{\"type\":\"image_url\",\"image_url\":{");
            out.text_field("url", &data_url(view));
            let own = view.own_fields(names::EXTRA, ME);
            if let Some(detail) = own.and_then(|own| own.get("detail")) {
                out.key("detail");
                out.value(detail);
            }
            out.raw("}");
            match own {
                Some(own) => out.fields(own, &["detail"]),
                None => write_own(out, view, names::EXTRA, id),
            }
            out.raw("}");
            true
        }
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

fn close(out: &mut Out, view: &View<'_>, id: &str) -> bool {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
    true
}

/// A message of the model: what it says, then what it calls.
fn assistant(out: &mut Out, message: &Message<'_>) {
    let start = out.place();
    let first = &message.parts[0];
    let head = first.view();
    let calls: Vec<&Part<'_>> =
        message.parts.iter().filter(|part| part.kind == Kind::Call).collect();
    let is_field = |part: &&Part<'_>| {
        let form = part.view().form();
        part.kind == Kind::Refusal && matches!(form, Some(form::FIELD | form::ALONE))
    };
    let field = message.parts.iter().find(is_field);
    let said: Vec<&Part<'_>> =
        message.parts.iter().filter(|part| part.kind != Kind::Call && !is_field(part)).collect();
    let mut behind = false;
    for part in &message.parts {
        behind |= part.kind == Kind::Call;
        if behind && part.kind == Kind::Text {
            out.loss(LossKind::Order, part.node.id(), "");
        }
    }
    out.raw("{\"role\":\"assistant\"");
    let texts: Vec<&&Part<'_>> = said.iter().filter(|part| part.kind != Kind::Reasoning).collect();
    for part in said.iter().filter(|part| part.kind == Kind::Reasoning) {
        let view = part.view();
        out.loss(
            LossKind::Reasoning,
            part.node.id(),
            view.text_attribute(names::PROVIDER).unwrap_or(""),
        );
    }
    let mut content_written = false;
    match texts.as_slice() {
        [] => match head.form() {
            Some(form::ABSENT | form::ALONE) => {}
            Some(form::EMPTY) => {
                out.text_field("content", "");
            }
            _ if calls.is_empty()
                && field.is_none()
                && head.attribute(names::MESSAGE_EXTRA).is_none() =>
            {
                // Only reasoning, which cannot be said here.
                out.rendered.bytes.truncate(start);
                return;
            }
            _ => {
                out.key("content");
                out.raw("null");
            }
        },
        [only]
            if only.kind == Kind::Text
                && !has_own(&only.view(), ME)
                && !out.is_list(&only.view(), only.node.id()) =>
        {
            let view = only.view();
            match view.form() {
                Some(form::NULL) if *view.content == Content::Absent => {
                    out.key("content");
                    out.raw("null");
                }
                Some(form::ABSENT) if *view.content == Content::Absent => {}
                _ => {
                    out.key("content");
                    let at = out.place();
                    let text = view.text();
                    out.string(&text);
                    let slot = Slot { inner: Some(("content", 0)), ..out.message_slot() };
                    if message.parts.len() > 1 {
                        out.span(at, only.node.id(), slot);
                    }
                }
            }
            if view.attribute(names::EXTRA).is_some() {
                write_own(out, &view, names::EXTRA, only.node.id());
            }
            drop_signature(out, &view, only.node.id());
            content_written = true;
        }
        parts => {
            out.key("content");
            let at = out.place();
            out.raw("[");
            let mut index = 0;
            let view = parts[0].view();
            let empty = view.form() == Some(form::LIST) && *view.content == Content::Absent;
            for part in parts.iter().filter(|_| !empty) {
                listed(out, part, &mut index);
            }
            if index == 0 && !empty {
                out.rendered.bytes.truncate(at);
                out.raw("null");
            } else {
                out.raw("]");
                content_written = true;
            }
        }
    }
    if let Some(field) = field {
        out.text_field("refusal", &field.view().text());
    }
    if !calls.is_empty() {
        out.key("tool_calls");
        out.raw("[");
        for (index, part) in calls.iter().enumerate() {
            call(out, part, index as u32);
        }
        out.raw("]");
    } else if !content_written && field.is_none() && head.attribute(names::MESSAGE_EXTRA).is_none()
    {
        out.rendered.bytes.truncate(start);
        return;
    }
    message_fields(out, &head, first.node.id());
    out.raw("}");
}

fn call(out: &mut Out, part: &Part<'_>, index: u32) {
    let view = part.view();
    let id = part.node.id();
    out.comma();
    let start = out.place();
    out.raw("{");
    out.text_field("id", &wire_call_id(part, &[]));
    let name = view.name().unwrap_or("unknown");
    if view.form() == Some(form::CUSTOM) {
        out.raw(",\"type\":\"custom\",\"custom\":{");
        out.text_field("name", name);
        out.text_field("input", &view.text());
    } else {
        out.raw(",\"type\":\"function\",\"function\":{");
        out.text_field("name", name);
        out.text_field("arguments", &arguments_text(&view));
    }
    out.raw("}");
    drop_signature(out, &view, id);
    close(out, &view, id);
    let slot = Slot { inner: Some(("tool_calls", index)), ..out.message_slot() };
    out.span(start, id, slot);
}

fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let view = part.view();
    let id = part.node.id();
    out.raw("{\"role\":\"tool\"");
    out.text_field("tool_call_id", &wire_call_id(part, calls));
    if view.attribute(names::IS_ERROR).and_then(Value::as_bool) == Some(true) {
        out.loss(LossKind::IsError, id, "");
    }
    out.key("content");
    match view.content {
        Content::Json(value) if view.is_from(ME) && view.form() == Some(form::LIST) => {
            out.value(value);
        }
        _ => {
            let mut texts: Vec<String> = Vec::new();
            let nested = for_each_nested(&view, |inner| match inner.kind {
                Kind::Text => texts.push(inner.text().into_owned()),
                _ => out.loss(LossKind::Media, id, inner.mime.unwrap_or("not text")),
            });
            match (nested, texts.as_slice()) {
                (false, _) => out.string(&view.text()),
                (true, []) => out.string(""),
                (true, [only]) => out.string(only),
                (true, texts) => {
                    out.raw("[");
                    for text in texts {
                        out.comma();
                        out.typed_text("text", "text", text);
                        out.raw("}");
                    }
                    out.raw("]");
                }
            }
        }
    }
    close_result(out, &view, id);
}

fn close_result(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    message_fields(out, view, id);
    out.raw("}");
}
