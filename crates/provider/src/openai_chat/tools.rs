//! Writes Chat Completions tool definitions.

use contextree_json::Value;

use super::write::ME;
use crate::parts::names;
use crate::parts::{Part, View};
use crate::render::Out;
use crate::render::wire::{lose_fields, sent_tool};
use crate::tools::{Function, strictness, write_tools};

/// Writes the list of tools, unless it is empty.
pub(super) fn tools(out: &mut Out, parts: &[Part<'_>]) {
    write_tools(out, parts, function);
}

fn function(out: &mut Out, function: &Function<'_>) {
    let Function { id, view, name, description, parameters } = function;
    let name = if view.is_from(ME) { (*name).into() } else { sent_tool(out, name, id) };
    out.raw("{\"type\":\"function\",\"function\":{");
    out.text_field("name", &name);
    for (field, value) in [("description", description), ("parameters", parameters)] {
        if let Some(value) = value {
            out.key(field);
            out.value(value);
        }
    }
    close(out, view, id);
}

/// Writes the remaining fields of a function, each in its original object.
fn close(out: &mut Out, view: &View<'_>, id: &str) {
    let own = view.own_fields(names::EXTRA, ME);
    let part = |name: &str| own.and_then(|own| own.get(name)).and_then(Value::as_object);
    part("function").into_iter().for_each(|fields| out.fields(fields, &[]));
    if !view.is_from(ME) {
        let (strict, others) = strictness(view);
        if let Some(strict) = strict {
            out.key("strict");
            out.value(strict);
        }
        lose_fields(out, id, &others);
    }
    out.raw("}");
    part("outer").into_iter().for_each(|fields| out.fields(fields, &[]));
    out.raw("}");
}
