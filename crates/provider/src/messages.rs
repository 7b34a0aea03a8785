//! Shared by the Anthropic and Gemini formats: results among other parts, message fields, lists
//! that were empty.

use contextree_json::{Object, Value};
use contextree_tree::NewNode;

use crate::parts::{Kind, Part, View, names};
use crate::read::set;
use crate::render::{List, LossKind, Out};

/// The position of a part in its message. Recorded if a result follows another part, because
/// rendering moves results to the front.
pub(crate) const POSITION: &str = "data_position";

/// Records the positions of the parts of a message if a result follows another part.
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

/// Splits the parts of a message into the groups in which their results were imported, where
/// `apart` allows it.
///
/// All results are collected before any is written, because only then are the missing ones known.
pub(crate) fn groups<'m, 'a>(
    parts: &'m [Part<'a>],
    apart: impl Fn(&Part<'a>, &Part<'a>) -> bool,
) -> impl Iterator<Item = &'m [Part<'a>]> {
    parts.chunk_by(move |before, part| {
        let answers = |part: &Part<'a>| part.kind == Kind::Result || part.orphan;
        let results = answers(before) && answers(part);
        !(results && part.is_apart_from(before) && apart(before, part))
    })
}

/// Writes the fields of a message, whichever part carries them. Reports fields of other providers
/// and of merged messages as lost. `may` decides which fields are allowed here.
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

/// Reports the message fields of another provider as lost.
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

/// Writes the settings after the messages. Lists that were empty on import give way to the content
/// of the tree.
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
