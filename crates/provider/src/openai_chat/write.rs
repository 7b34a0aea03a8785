//! Writes requests for Chat Completions.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use super::content::{close, listed};
use super::tools::tools;
use crate::Provider;
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role, View};
use crate::render::wire::{
    MISSING, arguments_text, drop_signature, for_each_nested, has_own, plain_text, sent_call_id,
    sent_name, write_model, write_own,
};
use crate::render::{LossKind, Message, Out, Preamble, Slot, Wire};

/// Writes requests of Chat Completions.
pub(crate) struct Chat;

pub(super) const ME: Provider = Provider::OpenAiChat;

impl Wire for Chat {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, same_turn: bool) -> bool {
        if before.role != part.role || part.role == Role::Tool {
            return false;
        }
        match (before.message(), part.message()) {
            (None, None) => {
                part.role == Role::Assistant && same_turn && !part.is_apart_from(before)
            }
            (before, part) => before == part,
        }
    }

    fn answers_together(&self) -> bool {
        false
    }

    fn may_stay_open(&self, call: &Part<'_>) -> bool {
        is_function(&call.view())
    }

    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object) {
        out.raw("{");
        write_model(out, settings);
        tools(out, &preamble.tools);
        out.key("messages");
        out.begin_list();
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
            Role::User | Role::System => write_plain(out, message),
        }
        finish(out, message, start, spans);
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        for call in calls {
            out.comma();
            let start = out.place();
            out.raw("{\"role\":\"tool\"");
            let id = sent_call_id(out, call, calls);
            out.text_field("tool_call_id", &id);
            out.text_field("content", MISSING);
            out.raw("}");
            out.span(start, call.node.id(), out.message_slot());
            out.messages += 1;
        }
    }
}

/// Removes a message that turned out empty; counts any other.
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

/// Writes a user or system message.
fn write_plain(out: &mut Out, message: &Message<'_>) {
    let first = &message.parts[0];
    let word = role_word(first, if message.role == Role::System { "system" } else { "user" });
    let view = first.view();
    let start = out.place();
    out.raw("{");
    out.text_field("role", word);
    if first.orphan && is_function(&first.view()) {
        // The role is kept, and needs the name of the function.
        let name = sent_name(out, first);
        out.text_field("name", &name);
    }
    let plain = message.parts.len() == 1
        && first.kind == Kind::Text
        && !has_own(&view, ME)
        && !out.is_list(&view, first.node.id());
    if plain {
        match view.shape() {
            Some(form::ABSENT) if view.is_blank() => {}
            Some(form::NULL) if view.is_blank() => out.raw(",\"content\":null"),
            _ => {
                out.key("content");
                let text = plain_text(out, first);
                out.string(&text);
            }
        }
        if view.attribute(names::EXTRA).is_some() {
            write_own(out, &view, names::EXTRA, first.node.id());
        }
        drop_signature(out, &view, first.node.id());
    } else {
        out.key("content");
        out.raw("[");
        let empty = view.shape() == Some(form::LIST) && view.is_blank();
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

/// Returns the name of a role: the provider's own, or one known to every provider.
fn role_word<'a>(part: &Part<'a>, usual: &'a str) -> &'a str {
    if let Some(own) = part.own_role(ME) {
        return own;
    }
    let word = part.node.attribute(names::ROLE).and_then(Value::as_str);
    let known = |word: &&str| part.role == Role::System && matches!(*word, "developer" | "system");
    word.filter(known).unwrap_or(usual)
}

fn message_fields(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::MESSAGE_EXTRA).is_some() {
        write_own(out, view, names::MESSAGE_EXTRA, id);
    }
}

/// Writes an assistant message: its content, then its tool calls.
fn assistant(out: &mut Out, message: &Message<'_>) {
    let start = out.place();
    let first = &message.parts[0];
    let head = first.view();
    let calls: Vec<&Part<'_>> =
        message.parts.iter().filter(|part| part.kind == Kind::Call).collect();
    let is_field =
        |part: &&Part<'_>| part.kind == Kind::Refusal && part.view().form() == Some(form::FIELD);
    let field = message.parts.iter().find(is_field);
    note_order(out, message);
    let mut texts = Vec::new();
    for part in &message.parts {
        match part.kind {
            Kind::Call => {}
            Kind::Reasoning => {
                let owner = part.view().text_attribute(names::PROVIDER).unwrap_or("");
                out.loss(LossKind::Reasoning, part.node.id(), owner);
            }
            _ if field.is_some_and(|field| field.node.id() == part.node.id()) => {}
            _ => texts.push(part),
        }
    }
    out.raw("{");
    out.text_field("role", role_word(first, "assistant"));
    let said = write_text_content(out, &texts, &head, message.parts.len() == 1);
    if let Some(field) = field {
        out.text_field("refusal", &field.view().text());
    }
    if calls.is_empty()
        && !said
        && field.is_none()
        && head.own_fields(names::MESSAGE_EXTRA, ME).is_none()
    {
        // Nothing in it can be expressed here: reasoning or media.
        out.rendered.bytes.truncate(start);
        return;
    }
    if let [only] = &*calls
        && is_function(&only.view())
    {
        function_call(out, only);
    } else if !calls.is_empty() {
        out.key("tool_calls");
        out.raw("[");
        for (index, part) in calls.iter().enumerate() {
            call(out, part, index as u32);
        }
        out.raw("]");
    }
    message_fields(out, &head, first.node.id());
    out.raw("}");
}

/// Reports text that follows a tool call: it is sent before the call.
fn note_order(out: &mut Out, message: &Message<'_>) {
    let mut after_call = false;
    for part in &message.parts {
        after_call |= part.kind == Kind::Call;
        if after_call && part.kind == Kind::Text {
            out.loss(LossKind::Order, part.node.id(), "");
        }
    }
}

/// Writes the content of an assistant message in its original form; returns whether there is any.
fn write_text_content(out: &mut Out, texts: &[&Part<'_>], head: &View<'_>, alone: bool) -> bool {
    match texts {
        [] => {
            match head.shape() {
                Some(form::ABSENT) => {}
                Some(form::EMPTY) => out.text_field("content", ""),
                Some(form::EMPTY_LIST) => out.raw(",\"content\":[]"),
                _ => out.raw(",\"content\":null"),
            }
            false
        }
        [only]
            if only.kind == Kind::Text
                && !has_own(&only.view(), ME)
                && !out.is_list(&only.view(), only.node.id()) =>
        {
            let view = only.view();
            match view.shape() {
                Some(form::NULL) if view.is_blank() => out.raw(",\"content\":null"),
                Some(form::ABSENT) if view.is_blank() => {}
                _ => {
                    out.key("content");
                    let at = out.place();
                    out.string(&view.text());
                    let slot = Slot { inner: Some(("content", 0)), ..out.message_slot() };
                    if !alone {
                        out.span(at, only.node.id(), slot);
                    }
                }
            }
            if view.attribute(names::EXTRA).is_some() {
                write_own(out, &view, names::EXTRA, only.node.id());
            }
            drop_signature(out, &view, only.node.id());
            true
        }
        [first, ..] => {
            out.key("content");
            let at = out.place();
            out.raw("[");
            let mut index = 0;
            let view = first.view();
            let empty = view.shape() == Some(form::LIST) && view.is_blank();
            for part in texts.iter().filter(|_| !empty) {
                listed(out, part, &mut index);
            }
            if index == 0 && !empty {
                out.rendered.bytes.truncate(at);
                out.raw("null");
                return false;
            }
            out.raw("]");
            true
        }
    }
}

/// Returns whether a call or a result is written like the one function call of a message.
fn is_function(view: &View<'_>) -> bool {
    view.form() == Some(form::FUNCTION) && view.is_from(ME)
}

/// Writes the call of a message as its `function_call`.
fn function_call(out: &mut Out, part: &Part<'_>) {
    let view = part.view();
    out.key("function_call");
    let start = out.place();
    let name = sent_name(out, part);
    out.raw("{");
    out.text_field("name", &name);
    if !view.is_blank() {
        out.text_field("arguments", &arguments_text(&view));
    }
    drop_signature(out, &view, part.node.id());
    close(out, &view, part.node.id());
    let slot = Slot { inner: Some(("function_call", 0)), ..out.message_slot() };
    out.span(start, part.node.id(), slot);
}

fn call(out: &mut Out, part: &Part<'_>, index: u32) {
    let view = part.view();
    let id = part.node.id();
    out.comma();
    let start = out.place();
    let call_id = sent_call_id(out, part, &[]);
    let name = sent_name(out, part);
    out.raw("{");
    out.text_field("id", &call_id);
    let custom = view.form() == Some(form::CUSTOM);
    let object = if custom { "custom" } else { "function" };
    out.text_field("type", object);
    out.key(object);
    out.raw("{");
    out.text_field("name", &name);
    if view.is_blank() && view.is_from(ME) {
        // It was imported without an id; only the linter objects.
    } else if custom {
        out.text_field("input", &view.text());
    } else {
        out.text_field("arguments", &arguments_text(&view));
    }
    let own = view.own_fields(names::EXTRA, ME);
    let inner = own.and_then(|own| own.get(object)).and_then(Value::as_object);
    inner.into_iter().for_each(|inner| out.fields(inner, &[]));
    out.raw("}");
    drop_signature(out, &view, id);
    match own {
        Some(own) => {
            out.fields(own, &[object]);
            out.raw("}");
        }
        None => {
            close(out, &view, id);
        }
    }
    let slot = Slot { inner: Some(("tool_calls", index)), ..out.message_slot() };
    out.span(start, id, slot);
}

fn result(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>]) {
    let view = part.view();
    let id = part.node.id();
    out.raw("{");
    out.text_field("role", role_word(part, "tool"));
    if is_function(&view) {
        let name = sent_name(out, part);
        out.text_field("name", &name);
    } else {
        let call_id = sent_call_id(out, part, calls);
        out.text_field("tool_call_id", &call_id);
    }
    if view.attribute(names::IS_ERROR).and_then(Value::as_bool) == Some(true) {
        out.loss(LossKind::IsError, id, "");
    }
    match (view.content, view.shape()) {
        (Content::Absent, Some(form::ABSENT)) => {}
        (Content::Absent, Some(form::NULL)) => out.raw(",\"content\":null"),
        (Content::Json(value), Some(form::LIST)) if view.is_from(ME) => {
            out.key("content");
            out.value(value);
        }
        _ => {
            out.key("content");
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
