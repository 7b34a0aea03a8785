//! Writes requests for Anthropic Messages.

use contextree_json::Object;
use contextree_tree::Content;

use super::blocks::{block, call, close, no_results, result};
use super::{ME, continues_thread, is_native_system, preamble};
use crate::messages::{groups, position, write_message_fields, write_settings};
use crate::parts::names::{self, form};
use crate::parts::{Kind, Part, Role};
use crate::render::wire::{
    FIRST, drop_signature, has_own, is_kept_blank, plain_text, write_model, write_own,
};
use crate::render::{LossKind, Message, Out, Preamble, Slot, Wire};

/// Writes requests of Anthropic Messages.
pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, _same_turn: bool) -> bool {
        match (is_native_system(before), is_native_system(part)) {
            // The API refuses two system messages in a row, so they are merged, unless one has
            // fields of its own.
            (true, true) => {
                let alone = part.node.attribute(names::MESSAGE_EXTRA).is_some()
                    || [before, part].iter().any(|it| is_bare(it));
                return !alone
                    || (before.message().is_some() && before.message() == part.message());
            }
            // System text is refused before a user message, so it becomes part of that message.
            (true, false) => return part.role != Role::Assistant,
            (false, true) => return false,
            (false, false) => {}
        }
        let same_side = (before.role == Role::Assistant) == (part.role == Role::Assistant);
        if !same_side {
            return false;
        }
        // Collect all results of a message before writing any of them.
        if before.kind == Kind::Result && part.kind == Kind::Result {
            return true;
        }
        // Messages that were separate when imported stay separate; messages that became adjacent
        // because something between them was removed are merged.
        !part.is_apart_from(before)
    }

    fn answers_together(&self) -> bool {
        true
    }

    fn remembers(&self, settings: &Object) -> bool {
        continues_thread(settings.get("thread"))
    }

    fn reports_merged_fields(&self) -> bool {
        true
    }

    fn writes_lists(&self, preamble: &Preamble<'_>) -> bool {
        // Imported requests keep their form; in them, text without a recorded form was a plain
        // string.
        !preamble.settings.iter().any(|(_, owner, _)| *owner == Some(ME.name()))
    }

    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object) {
        out.raw("{");
        write_model(out, settings);
        preamble::tools(out, &preamble.tools);
        preamble::system(out, &preamble.system);
        out.key("messages");
        out.begin_list();
    }

    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        missing: &[Part<'_>],
    ) {
        if message.role == Role::Assistant {
            let mark = out.mark();
            if out.messages == 0 {
                first_user(out, &message.parts[0]);
            }
            let losses = out.rendered.losses.len();
            if !entry(out, Role::Assistant, |out| assistant(out, message)) {
                let lost = out.rendered.losses.split_off(losses);
                out.rewind(mark);
                out.rendered.losses.extend(lost);
            }
            return;
        }
        if message.parts.iter().all(is_native_system) {
            if !missing.is_empty() {
                self.missing(out, missing);
            }
            if out.last_role == Some(Role::User) {
                entry(out, Role::System, |out| system(out, &message.parts));
            } else {
                entry(out, Role::User, |out| user(out, &message.parts, &[], &[]));
            }
            return;
        }
        // Results that were imported in several messages are written in several messages.
        let own = |part: &Part<'_>| part.view().provider().is_none_or(|it| it == ME);
        let mut missing = missing;
        for parts in groups(&message.parts, |before, part| own(before) && own(part)) {
            let missing = std::mem::take(&mut missing);
            entry(out, Role::User, |out| user(out, parts, calls, missing));
        }
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        entry(out, Role::User, |out| {
            out.raw("{\"role\":\"user\",\"content\":[");
            let mut index = 0;
            no_results(out, calls, &mut index);
            out.raw("]}");
            true
        });
    }

    fn end(&self, out: &mut Out, settings: &Object) {
        out.raw("]");
        write_settings(out, settings, &["system"], &[]);
        out.raw("}");
    }
}

/// Writes an entry of the list. If nothing could be written, removes the entry but keeps its
/// losses.
fn entry(out: &mut Out, role: Role, write: impl FnOnce(&mut Out) -> bool) -> bool {
    let mark = out.mark();
    let losses = out.rendered.losses.len();
    out.comma();
    let written = write(out);
    if written {
        out.messages += 1;
        out.last_role = Some(role);
    } else {
        let lost = out.rendered.losses.split_off(losses);
        out.rewind(mark);
        out.rendered.losses.extend(lost);
    }
    written
}

fn first_user(out: &mut Out, part: &Part<'_>) {
    out.loss(LossKind::FirstUser, part.node.id(), "");
    entry(out, Role::User, |out| {
        let start = out.place();
        out.raw("{\"role\":\"user\"");
        out.text_field("content", FIRST);
        out.raw("}");
        out.span(start, part.node.id(), out.message_slot());
        true
    });
}

/// Writes an assistant message; returns whether any part of it could be written.
fn assistant(out: &mut Out, message: &Message<'_>) -> bool {
    let start = out.place();
    out.raw("{\"role\":\"assistant\"");
    if let [only] = message.parts.as_slice()
        && is_plain(out, only)
    {
        let text = only.view().text();
        if text.is_empty() && !is_kept_blank(&only.view(), ME) {
            out.loss(LossKind::Empty, only.node.id(), "");
            return false;
        }
        out.text_field("content", &text);
        finish_plain(out, only, false);
        out.span(start, only.node.id(), out.message_slot());
        return true;
    }
    out.raw(",\"content\":[");
    // The API refuses reasoning that nothing follows.
    let last = message.parts.iter().rposition(is_consequence);
    let mut index = 0;
    for (position, part) in message.parts.iter().enumerate() {
        if part.kind == Kind::Reasoning && last.is_none_or(|last| position > last) {
            out.loss(LossKind::Reasoning, part.node.id(), "nothing follows it");
        } else if is_refused_media(part) {
            out.loss(LossKind::Media, part.node.id(), "in an assistant message");
        } else {
            listed(out, part, &[], false, &mut index);
        }
    }
    out.raw("]");
    write_message_fields(out, &message.parts, |_| true);
    out.raw("}");
    index > 0 || is_empty_list(&message.parts)
}

/// Returns whether a part counts as following the reasoning: everything that will be written.
fn is_consequence(part: &Part<'_>) -> bool {
    match part.kind {
        Kind::Reasoning | Kind::Image | Kind::Document | Kind::Audio => false,
        Kind::Text | Kind::Refusal => {
            !part.view().text().trim().is_empty() || is_kept_blank(&part.view(), ME)
        }
        Kind::Opaque => part.view().is_from(ME),
        _ => true,
    }
}

/// Returns whether a part is media, which only a user message may contain.
fn is_refused_media(part: &Part<'_>) -> bool {
    part.role == Role::Assistant && matches!(part.kind, Kind::Image | Kind::Document)
}

/// Returns whether this is a system message that was imported without content.
fn is_bare(part: &Part<'_>) -> bool {
    part.kind == Kind::Opaque && part.view().form() == Some(form::ABSENT)
}

/// Writes mid-conversation system text as imported. The API accepts it only after a user message,
/// and before an assistant message or at the end.
fn system(out: &mut Out, parts: &[Part<'_>]) -> bool {
    let start = out.place();
    out.raw("{\"role\":\"system\"");
    if let [only] = parts {
        let view = only.view();
        if is_bare(only) {
            if let Content::Json(fields) = view.content
                && let Some(fields) = fields.as_object()
            {
                out.fields(fields, &[]);
            }
            out.raw("}");
            out.span(start, only.node.id(), out.message_slot());
            return true;
        }
        if is_plain(out, only) && (!view.text().trim().is_empty() || is_kept_blank(&view, ME)) {
            out.text_field("content", &view.text());
            finish_plain(out, only, true);
            out.span(start, only.node.id(), out.message_slot());
            return true;
        }
    }
    out.raw(",\"content\":[");
    let mut index = 0;
    for part in parts {
        listed(out, part, &[], true, &mut index);
    }
    out.raw("]");
    write_message_fields(out, parts, |_| true);
    out.raw("}");
    index > 0 || is_empty_list(parts)
}

/// Writes a user message. Tool results come first: the API requires it.
fn user(out: &mut Out, parts: &[Part<'_>], calls: &[Part<'_>], missing: &[Part<'_>]) -> bool {
    let start = out.place();
    out.raw("{\"role\":\"user\"");
    if let [only] = parts
        && is_plain(out, only)
        && missing.is_empty()
    {
        let text = plain_text(out, only);
        if text.trim().is_empty() && !is_kept_blank(&only.view(), ME) {
            out.loss(LossKind::Empty, only.node.id(), "");
            return false;
        }
        out.key("content");
        write_text(out, only, &text, false);
        finish_plain(out, only, false);
        out.span(start, only.node.id(), out.message_slot());
        return true;
    }
    out.raw(",\"content\":[");
    let mut index = 0;
    let results = |part: &&Part<'_>| part.kind == Kind::Result;
    for part in parts.iter().filter(results) {
        listed(out, part, calls, false, &mut index);
    }
    no_results(out, missing, &mut index);
    let last = parts.iter().filter(results).filter_map(position).max();
    for part in parts.iter().filter(|part| !results(part)) {
        if last.is_some_and(|last| position(part).is_some_and(|own| own < last)) {
            out.loss(LossKind::Order, part.node.id(), "after the results");
        }
        listed(out, part, calls, false, &mut index);
    }
    out.raw("]");
    write_message_fields(out, parts, |part| !is_native_system(part));
    out.raw("}");
    index > 0 || is_empty_list(parts)
}

/// Writes user text, or mid-conversation system text. Only some models accept the latter as a
/// message of its own.
fn write_text(out: &mut Out, part: &Part<'_>, text: &str, native: bool) {
    if part.role == Role::System && !native {
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

fn finish_plain(out: &mut Out, part: &Part<'_>, native: bool) {
    let view = part.view();
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, &view, names::EXTRA, part.node.id());
    }
    drop_signature(out, &view, part.node.id());
    let parts = std::slice::from_ref(part);
    write_message_fields(out, parts, |part| native || !is_native_system(part));
    out.raw("}");
}

/// Returns whether the parts are those of a message that was received with an empty list.
fn is_empty_list(parts: &[Part<'_>]) -> bool {
    matches!(parts, [only] if is_kept_blank(&only.view(), ME) && *only.view().content == Content::Absent)
}

/// Writes a part as a block of a message; `native` inside a system message.
fn listed(out: &mut Out, part: &Part<'_>, calls: &[Part<'_>], native: bool, index: &mut u32) {
    if is_empty_list(std::slice::from_ref(part)) {
        return;
    }
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
            if text.trim().is_empty() && !is_kept_blank(&view, ME) {
                out.loss(LossKind::Empty, id, "");
                false
            } else {
                out.raw("{\"type\":\"text\",\"text\":");
                write_text(out, part, &text, native);
                close(out, &view, id)
            }
        }
        // Only a system message can contain this.
        Kind::Opaque if is_native_system(part) && !native => {
            out.loss(LossKind::Opaque, id, "allowed in a system message only");
            false
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
