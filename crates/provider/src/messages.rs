//! What the messages of Anthropic and Gemini have in common: results among other parts, fields of the message, lists that were empty.

use contextree_json::{Object, Value};
use contextree_tree::NewNode;

use crate::parts::{Kind, Part, View, names};
use crate::read::set;
use crate::render::{List, LossKind, Out};

/// The position of a part in its message; noted where a result stands behind something else, and results are moved to the front.
pub(crate) const POSITION: &str = "data_position";

/// Notes the positions of the parts of a message, if a result stands behind something else.
pub(crate) fn note_positions(parts: &mut [NewNode]) {
    let is_result = |part: &NewNode| part.kind.as_deref() == Some("result");
    let Some(other) = parts.iter().position(|part| !is_result(part)) else { return };
    if parts[other..].iter().any(is_result) {
        for (position, part) in parts.iter_mut().enumerate() {
            set(part, POSITION, position as u64);
        }
    }
}

/// Returns the position that a part had in its message.
pub(crate) fn position(part: &Part<'_>) -> Option<u64> {
    part.node.attribute(POSITION)?.as_u64()
}

/// Returns true if two parts came in messages that stood side by side.
pub(crate) fn side_by_side(before: &Part<'_>, part: &Part<'_>) -> bool {
    match (before.message(), part.message()) {
        (Some(before), Some(part)) => part == before + 1,
        _ => false,
    }
}

/// Returns the parts of a message in the groups in which their results came, where `apart` says so.
///
/// All results are collected before any is written, because only then it is known which are missing.
pub(crate) fn groups<'m, 'a>(
    parts: &'m [Part<'a>],
    apart: impl Fn(&Part<'a>, &Part<'a>) -> bool,
) -> impl Iterator<Item = &'m [Part<'a>]> {
    parts.chunk_by(move |before, part| {
        let answers = |part: &Part<'a>| part.kind == Kind::Result || part.orphan;
        let results = answers(before) && answers(part);
        !(results && side_by_side(before, part) && apart(before, part))
    })
}

/// Appends the fields of a message, whichever of its parts has them; notes those of others, and of further messages that it was made of.
/// `may` says whose fields can stand here.
pub(crate) fn write_message_fields<'a>(
    out: &mut Out,
    parts: &[Part<'a>],
    may: impl Fn(&Part<'a>) -> bool,
) {
    let mut written: Option<&Object> = None;
    for part in parts {
        let view = part.view();
        let fields = view.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object);
        let Some(fields) = fields else { continue };
        let own = view.is_from(out.rendered.provider) && may(part);
        match written {
            None if own => {
                out.fields(fields, &[]);
                written = Some(fields);
            }
            Some(same) if own && same == fields => {}
            _ => note_fields(out, fields, part.node.id()),
        }
    }
}

/// Notes fields of another provider's message.
pub(crate) fn drop_message_fields(out: &mut Out, view: &View<'_>, id: &str) {
    if let Some(fields) = view.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object)
        && !view.is_from(out.rendered.provider)
    {
        note_fields(out, fields, id);
    }
}

fn note_fields(out: &mut Out, fields: &Object, id: &str) {
    let names: Vec<&str> = fields.keys().collect();
    out.loss(LossKind::Field, id, names.join(", "));
}

/// Appends the settings behind the messages. Lists that were empty, and stayed among the settings, give way to what the tree says.
pub(crate) fn write_settings(out: &mut Out, settings: &Object, system: &[&str], but: &[&str]) {
    let spans = out.rendered.spans.iter().take_while(|span| span.slot.list != List::Messages);
    let lists: Vec<List> = spans.map(|span| span.slot.list).collect();
    for (name, value) in settings {
        let decided = (name == "tools" && lists.contains(&List::Tools))
            || (system.contains(&name) && lists.contains(&List::System));
        if !decided && name != "model" && !but.contains(&name) {
            out.key(name);
            out.value(value);
        }
    }
}
