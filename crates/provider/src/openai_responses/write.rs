//! Writes requests for OpenAI Responses.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use super::content::{close, content, text_part};
use super::tools::tools;
use crate::Provider;
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    MISSING, arguments_text, call_of, drop_signature, for_each_nested, has_own, lose_fields,
    plain_text, sent_call_id, sent_name, write_model, write_own,
};
use crate::render::{List, LossKind, Message, Out, Preamble, Side, Slot, Wire};

/// Writes requests of OpenAI Responses.
pub(crate) struct Responses;

pub(super) const ME: Provider = Provider::OpenAiResponses;

impl Wire for Responses {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, _same_turn: bool) -> bool {
        // Consecutive items of the model belong together: reasoning with the item it led to, calls
        // before their results.
        if is_of_model(before) && is_of_model(part) {
            return true;
        }
        before.role == part.role
            && is_in_message(before)
            && is_in_message(part)
            && before.message().is_some()
            && before.message() == part.message()
    }

    fn answers_together(&self) -> bool {
        false
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn side(&self) -> fn(&Part<'_>) -> Side {
        side
    }

    fn may_stay_open(&self, call: &Part<'_>) -> bool {
        let own = call.view().own_fields(names::EXTRA, ME);
        own.and_then(|own| own.get("async")).and_then(Value::as_bool) == Some(true)
    }

    fn remembers(&self, settings: &Object) -> bool {
        has(settings, &["previous_response_id", "conversation"])
    }

    fn may_be_empty(&self, settings: &Object) -> bool {
        self.remembers(settings) || has(settings, &["prompt"])
    }

    fn reports_merged_fields(&self) -> bool {
        true
    }

    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object) {
        out.raw("{");
        write_model(out, settings);
        tools(out, &preamble.tools);
        instructions(out, &preamble.system);
        out.key("input");
        out.begin_list();
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
                // More reasoning may follow, as long as something else follows in the end.
                let leads = further.iter().any(|part| part.kind != Kind::Reasoning);
                reasoning(out, part, leads);
                rest = further;
            } else if is_in_message(part) {
                let goes_on = |next: &Part<'_>| {
                    let joined = next.view().shape() == Some(form::JOINED);
                    is_in_message(next) && (joined || next.role != Role::Assistant)
                };
                let end = further.iter().position(|it| !goes_on(it)).unwrap_or(further.len());
                write_message(out, &rest[..=end]);
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
            let call_id = sent_call_id(out, call, calls);
            out.raw("{");
            out.text_field("type", output_type(custom));
            out.text_field("call_id", &call_id);
            out.text_field("output", MISSING);
            out.raw("}");
            done(out, start, call);
        }
    }

    fn end(&self, out: &mut Out, settings: &Object) {
        match (out.messages, out.bare_text) {
            (0, _) => no_input(out),
            (1, Some(text)) => bare_input(out, text),
            _ => out.raw("]"),
        }
        out.fields(settings, &["model"]);
        out.raw("}");
    }
}

fn has(settings: &Object, names: &[&str]) -> bool {
    names.iter().any(|name| settings.get(name).is_some_and(|it| !it.is_null()))
}

/// Removes the opening of an input list that stayed empty.
fn no_input(out: &mut Out) {
    let opened = "\"input\":[";
    let length = out.place() - opened.len();
    out.rendered.bytes.truncate(length);
    if out.rendered.bytes.last() == Some(&b',') {
        out.rendered.bytes.pop();
    }
    out.is_final = true;
}

/// Writes the only message as a string, because it was imported as one.
fn bare_input(out: &mut Out, (from, to): (usize, usize)) {
    let text = out.rendered.bytes[from..to].to_vec();
    let Some(span) = out.rendered.spans.last_mut() else { return };
    span.start -= 1;
    out.rendered.bytes.truncate(span.start);
    out.rendered.bytes.extend(text);
    span.end = out.rendered.bytes.len();
    out.is_final = true;
}

/// Returns which side of a pair a part is. Provider-specific items can be calls and results too; a
/// reference may refer to a call.
fn side(part: &Part<'_>) -> Side {
    let view = part.view();
    match (part.kind, view.content) {
        (Kind::Call, _) => Side::Call,
        (Kind::Result, _) => Side::Result,
        (Kind::Opaque, Content::Json(item)) if !is_in_message(part) && view.is_from(ME) => {
            match part.node.kind().unwrap_or_default() {
                "item_reference" => Side::Reference,
                _ if item.get("call_id").is_none_or(|id| id.as_str().is_none()) => Side::Neither,
                kind if kind.ends_with("_output") => Side::Result,
                _ => Side::Call,
            }
        }
        _ => Side::Neither,
    }
}

/// Returns whether a part belongs to the model's output, including changes of configuration within
/// it.
fn is_of_model(part: &Part<'_>) -> bool {
    let is_item = part.kind == Kind::Opaque && !is_in_message(part) && part.view().is_from(ME);
    part.role == Role::Assistant || (part.role == Role::System && is_item)
}

/// Returns whether a part belongs to a message; other parts are separate items.
fn is_in_message(part: &Part<'_>) -> bool {
    match part.kind {
        Kind::Call | Kind::Result | Kind::Reasoning => false,
        Kind::Opaque => part.view().shape() != Some(form::ITEM),
        _ => true,
    }
}

fn done(out: &mut Out, start: usize, part: &Part<'_>) {
    let slot = out.message_slot();
    out.span(start, part.node.id(), slot);
    out.messages += 1;
}

/// Writes the system text, which is a single string here.
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
    message_loss(out, &view, id);
    if !view.is_from(ME) || !leads {
        let reason = if leads { "from another provider" } else { "nothing follows it" };
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
    let call_id = sent_call_id(out, part, &[]);
    let name = sent_name(out, part);
    out.comma();
    let start = out.place();
    out.raw("{");
    out.text_field("type", if custom { "custom_tool_call" } else { "function_call" });
    out.text_field("call_id", &call_id);
    out.text_field("name", &name);
    if view.is_blank() && view.is_from(ME) {
        // It was imported without an id; only the linter objects.
    } else if custom {
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
    let call = call_of(part, calls).filter(|_| !view.is_from(ME));
    let custom = view.form() == Some(form::CUSTOM)
        || call.is_some_and(|call| call.view().form() == Some(form::CUSTOM));
    let call_id = sent_call_id(out, part, calls);
    out.comma();
    let start = out.place();
    out.raw("{");
    out.text_field("type", output_type(custom));
    out.text_field("call_id", &call_id);
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
            if nested && out.place() > at + 1 {
                out.raw("]");
            } else {
                // No element of the list could be expressed: write an empty result.
                out.rendered.bytes.truncate(at);
                let text = if nested { "".into() } else { view.text() };
                out.string(&text);
            }
        }
    }
    message_loss(out, &view, id);
    close(out, &view, id);
    done(out, start, part);
}

/// Writes an item that only this provider understands.
fn item(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    match view.content {
        Content::Json(value) if view.is_from(ME) => {
            out.comma();
            let start = out.place();
            out.value(value);
            done(out, start, part);
        }
        _ => {
            out.loss(LossKind::Opaque, part.node.id(), "");
            message_loss(out, &view, part.node.id());
        }
    }
}

/// Writes a message.
fn write_message(out: &mut Out, parts: &[Part<'_>]) {
    let Some(first) = parts.first() else { return };
    let view = first.view();
    let id = first.node.id();
    let mark = out.mark();
    out.comma();
    let start = out.place();
    for part in &parts[1..] {
        if let Some(fields) = part.node.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object) {
            lose_fields(out, part.node.id(), &fields.keys().collect::<Vec<&str>>());
        }
    }
    out.raw("{");
    out.text_field("role", role_word(first));
    out.key("content");
    // An assistant message is written as a list only with the fields of the response that it came
    // from.
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
        let at = out.place();
        out.string(&text);
        if view.shape() == Some(form::ITEM) {
            // An input that was a string is a message like any other, unless it is the only one.
            out.bare_text = Some((at, out.place()));
        }
        if view.attribute(names::EXTRA).is_some() {
            write_own(out, &view, names::EXTRA, id);
        }
        drop_signature(out, &view, id);
        message_fields(out, &view, id);
        out.raw("}");
        return done(out, start, first);
    }
    out.raw("[");
    let empty = view.shape() == Some(form::LIST) && view.is_blank();
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

/// Returns the name of a role: the provider's own, or one known to every provider.
fn role_word<'a>(part: &Part<'a>) -> &'a str {
    if let Some(own) = part.own_role(ME) {
        return own;
    }
    match part.role {
        Role::System => {
            let word = part.node.attribute(names::ROLE).and_then(Value::as_str);
            word.filter(|word| *word == "developer").unwrap_or("system")
        }
        Role::Assistant => "assistant",
        _ => "user",
    }
}

fn message_fields(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::MESSAGE_EXTRA).is_some() {
        write_own(out, view, names::MESSAGE_EXTRA, id);
    }
}

/// Reports the message fields of another provider as lost.
fn message_loss(out: &mut Out, view: &View<'_>, id: &str) {
    if let Some(fields) = view.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object)
        && !view.is_from(ME)
    {
        let names: Vec<&str> = fields.keys().collect();
        out.loss(LossKind::Field, id, names.join(", "));
    }
}
