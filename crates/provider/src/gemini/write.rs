//! Writes requests for Gemini.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use super::ME;
use super::spelling::{CONTENT, ROLE_NULL, content, noted, noted_in, spelled};
use super::tools::write_tools;
use super::write_part::{data, no_result, write_part};
use crate::messages::{groups, position, write_message_fields, write_settings};
use crate::parts::names;
use crate::parts::{Kind, Part, Role};
use crate::render::wire::{FIRST, write_model};
use crate::render::{List, LossKind, Message, Out, Preamble, Slot, Wire};

/// Writes requests of Gemini.
pub(crate) struct Gemini;

impl Wire for Gemini {
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, _same_turn: bool) -> bool {
        if (before.role == Role::Assistant) != (part.role == Role::Assistant) {
            return false;
        }
        // Collect all results of a message before writing any of them.
        if is_response(before) && is_response(part) {
            return true;
        }
        // Gemini refuses two model contents in a row if one of them contains a call, so they stay
        // separate only if they were imported that way.
        !(part.is_apart_from(before) && is_own(before) && is_own(part))
    }

    fn answers_together(&self) -> bool {
        true
    }

    fn reports_merged_fields(&self) -> bool {
        true
    }

    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object) {
        out.raw("{");
        write_model(out, settings);
        write_tools(out, &preamble.tools);
        system(out, &preamble.system);
        out.key("contents");
        out.begin_list();
    }

    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        missing: &[Part<'_>],
    ) {
        if out.messages == 0 {
            // An earlier rendering with a single content may have overwritten the bracket.
            out.rendered.bytes[out.list_start] = b'[';
        }
        let mark = out.mark();
        if message.role == Role::Assistant && wants_user(out, message) {
            first_user(out, &message.parts[0]);
        }
        let losses = out.rendered.losses.len();
        let mut missing = missing;
        let mut written = false;
        for parts in groups(&message.parts, |before, part| is_own(before) && is_own(part)) {
            let missing = std::mem::take(&mut missing);
            let all = &message.parts;
            let role = message.role;
            written |= entry(out, role, |out| entry_of(out, parts, all, calls, missing));
        }
        if !written {
            let lost = out.rendered.losses.split_off(losses);
            out.rewind(mark);
            out.rendered.losses.extend(lost);
        }
    }

    fn missing(&self, out: &mut Out, calls: &[Part<'_>]) {
        entry(out, Role::User, |out| {
            out.raw("{\"role\":\"user\",\"parts\":[");
            let mut index = 0;
            no_results(out, calls, &mut index);
            out.raw("]}");
            true
        });
    }

    fn end(&self, out: &mut Out, settings: &Object) {
        // A single content that was imported without a list is rendered without one. A space
        // replaces the bracket, so that the offsets kept for the next snapshot stay valid.
        let alone = settings.contains_key("contents") && out.messages == 1;
        out.rendered.bytes[out.list_start] = if alone { b' ' } else { b'[' };
        if !alone {
            out.raw("]");
        }
        let system = ["systemInstruction", "system_instruction"];
        write_settings(out, settings, &system, &["contents"]);
        out.raw("}");
    }
}

fn is_own(part: &Part<'_>) -> bool {
    part.view().is_from(ME)
}

/// Returns whether a part is a result. An orphan counts: it may continue a response before it.
fn is_response(part: &Part<'_>) -> bool {
    part.kind == Kind::Result || part.orphan
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

/// Returns whether a model message needs a user message before it: at the beginning, or before
/// calls if the message before them was dropped. Contents that were adjacent when imported stay
/// that way.
fn wants_user(out: &Out, message: &Message<'_>) -> bool {
    let first = &message.parts[0];
    let is_apart = first.message().is_some() || first.node.attribute(names::APART).is_some();
    let as_it_came = is_own(first) && is_apart;
    let calls = message.parts.iter().any(|part| part.kind == Kind::Call);
    out.messages == 0 || (out.last_role == Some(Role::Assistant) && calls && !as_it_came)
}

fn first_user(out: &mut Out, part: &Part<'_>) {
    out.loss(LossKind::FirstUser, part.node.id(), "");
    entry(out, Role::User, |out| {
        let start = out.place();
        out.raw("{\"role\":\"user\",\"parts\":[{");
        out.text_field("text", FIRST);
        out.raw("}]}");
        out.span(start, part.node.id(), out.message_slot());
        true
    });
}

fn system(out: &mut Out, parts: &[Part<'_>]) {
    let form = noted_in(parts, CONTENT).and_then(Value::as_str).filter(|_| parts.len() == 1);
    let bare = matches!(form, Some(content::TEXT | content::PART));
    let mut index = 0;
    for part in parts {
        let id = part.node.id();
        let view = part.view();
        let mark = out.mark();
        if index == 0 {
            // Of the two spellings, the one with `_` sorts last.
            let spelled = parts.iter().map(|part| spelled(&part.view(), "systemInstruction"));
            let key = spelled.max().unwrap_or_default();
            out.key(&key);
            match form {
                Some(content::TEXT | content::PART) => {}
                Some(content::ONE) => out.raw("{\"parts\":"),
                _ => out.raw("{\"parts\":["),
            }
        }
        out.comma();
        let start = out.place();
        let written = match form {
            Some(content::TEXT) if view.kind == Kind::Text && !view.text().is_empty() => {
                out.string(&view.text());
                true
            }
            _ => data(out, &view, id),
        };
        if written {
            out.span(start, id, Slot { list: List::System, index, inner: None });
            index += 1;
        } else {
            let lost = out.rendered.losses.pop();
            out.rewind(mark);
            out.rendered.losses.extend(lost);
        }
    }
    if index > 0 && !bare {
        out.raw(if form == Some(content::ONE) { "" } else { "]" });
        if noted_in(parts, ROLE_NULL).is_some() {
            out.raw(",\"role\":null");
        }
        write_message_fields(out, parts, |_| true);
        out.raw("}");
    }
}

/// Writes a content; returns whether any part of it could be written. `all` are the parts of all
/// contents imported together with it.
fn entry_of(
    out: &mut Out,
    parts: &[Part<'_>],
    all: &[Part<'_>],
    calls: &[Part<'_>],
    missing: &[Part<'_>],
) -> bool {
    let start = out.place();
    let alone = parts.len() == 1 && missing.is_empty();
    let form = noted(&parts[0].view(), CONTENT).and_then(Value::as_str).filter(|_| alone);
    let view = parts[0].view();
    let id = parts[0].node.id();
    let empty = *view.content == Content::Absent && view.kind == Kind::Text;
    match form {
        Some(content::TEXT) if view.kind == Kind::Text && !view.text().is_empty() => {
            out.string(&view.text());
            out.span(start, id, out.message_slot());
            return true;
        }
        Some(content::PART) => {
            let written = write_part(out, &parts[0], calls, false);
            out.span(start, id, out.message_slot());
            return written;
        }
        Some(form @ (content::EMPTY | content::NULL | content::ABSENT)) if empty => {
            // Gemini refuses an empty content, but this is how it was imported.
            out.raw("{");
            role(out, parts);
            match form {
                content::EMPTY => out.raw(",\"parts\":[]"),
                content::NULL => out.raw(",\"parts\":null"),
                _ => {}
            }
            write_message_fields(out, parts, |_| true);
            out.raw("}");
            out.span(start, id, out.message_slot());
            return true;
        }
        _ => {}
    }
    out.raw("{");
    role(out, parts);
    out.key("parts");
    let one = form == Some(content::ONE);
    out.raw(if one { "" } else { "[" });
    let mut index = 0;
    let mut ordered: Vec<&Part<'_>> = parts.iter().collect();
    if parts.iter().all(|part| is_own(part) && position(part).is_some()) {
        ordered.sort_by_key(|part| position(part));
    } else {
        ordered.sort_by_key(|part| part.kind != Kind::Result);
    }
    let results = ordered.iter().take_while(|part| part.kind == Kind::Result).count();
    for (ordinal, part) in ordered.iter().enumerate() {
        if ordinal == results {
            no_results(out, missing, &mut index);
        }
        let continued = part.orphan && goes_on(part, all, calls);
        listed(out, part, &mut index, |out| write_part(out, part, calls, continued));
    }
    if results == ordered.len() {
        no_results(out, missing, &mut index);
    }
    out.raw(if one { "" } else { "]" });
    write_message_fields(out, parts, |_| true);
    out.raw("}");
    index > 0
}

fn role(out: &mut Out, parts: &[Part<'_>]) {
    let usual = if parts[0].role == Role::Assistant { "model" } else { "user" };
    let own = parts.iter().filter(|part| is_own(part));
    match own.clone().find_map(|part| part.node.attribute(names::ROLE)) {
        Some(Value::Null) if noted_in(parts, ROLE_NULL).is_some() => {
            out.key("role");
            out.raw("null");
        }
        // A content without a role is the user's.
        Some(Value::Null) if usual == "user" => {}
        // Roles that the SDKs use for tool results.
        Some(Value::String(word)) if matches!(&**word, "function" | "tool") && usual == "user" => {
            out.text_field("role", word);
        }
        _ => out.text_field("role", usual),
    }
}

/// Returns whether a response continues an earlier one that announced a continuation.
fn goes_on(part: &Part<'_>, all: &[Part<'_>], calls: &[Part<'_>]) -> bool {
    let before = all.iter().take_while(|it| it.node.id() != part.node.id());
    let mut same = before.filter(|it| is_response(it) && it.call_id() == part.call_id());
    let waits = calls.iter().any(|call| call.call_id() == part.call_id());
    waits && is_own(part) && same.any(|it| says_more(it))
}

fn says_more(part: &Part<'_>) -> bool {
    let inner =
        part.view().own_fields(names::EXTRA, ME).and_then(|own| own.get("functionResponse"));
    let says = |name: &str| inner.and_then(|it| it.get(name)).and_then(Value::as_bool);
    says("willContinue").or_else(|| says("will_continue")) == Some(true)
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

fn no_results(out: &mut Out, calls: &[Part<'_>], index: &mut u32) {
    for call in calls {
        listed(out, call, index, |out| {
            no_result(out, call, calls);
            true
        });
    }
}
