//! Writes Responses tool definitions.

use contextree_json::Value;

use super::write::ME;
use crate::parts::Part;
use crate::parts::names;
use crate::render::Out;
use crate::render::wire::{lose_fields, sent_tool};
use crate::tools::{Function, strictness, write_tools};

/// Writes the list of tools, unless it is empty.
pub(super) fn tools(out: &mut Out, parts: &[Part<'_>]) {
    write_tools(out, parts, function);
}

fn function(out: &mut Out, function: &Function<'_>) {
    let Function { id, view, name, description, parameters } = function;
    let own = view.is_from(ME);
    let name = if own { (*name).into() } else { sent_tool(out, name, id) };
    out.raw("{\"type\":\"function\"");
    out.text_field("name", &name);
    for (field, value) in [("description", description), ("parameters", parameters)] {
        if let Some(value) = value {
            out.key(field);
            out.value(value);
        }
    }
    if own {
        let extra = view.own_fields(names::EXTRA, ME);
        extra.into_iter().for_each(|extra| out.fields(extra, &[]));
    } else {
        // Both fields are required; they may be `null`.
        if parameters.is_none() {
            out.raw(",\"parameters\":null");
        }
        let (strict, others) = strictness(view);
        out.key("strict");
        out.value(strict.unwrap_or(&Value::Bool(false)));
        lose_fields(out, id, &others);
    }
    out.raw("}");
}
