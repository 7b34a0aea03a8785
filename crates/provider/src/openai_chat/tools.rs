//! Definitions of tools of Chat Completions.

use contextree_json::Value;

use super::write::ME;
use crate::parts::names;
use crate::parts::{Part, View};
use crate::render::wire::{lose_fields, sent_tool};
use crate::render::{List, Out, Slot};
use crate::tools::{Definition, custom_tool, strictness};

/// Writes the list of tools, if there is one.
pub(super) fn tools(out: &mut Out, parts: &[Part<'_>]) {
    let mut index = 0;
    for part in parts {
        tool(out, part, &mut index);
    }
    if index > 0 {
        out.raw("]");
    }
}

fn tool(out: &mut Out, part: &Part<'_>, index: &mut u32) {
    let id = part.node.id();
    let view = part.view();
    let custom = custom_tool(&view, ME);
    let definition = match &custom {
        Some((custom, lost)) => {
            lose_fields(out, id, lost);
            Definition::Own(custom)
        }
        None => match Definition::of(out, &view, id, ME) {
            Some(definition) => definition,
            None => return,
        },
    };
    if *index == 0 {
        out.key("tools");
        out.raw("[");
    }
    out.comma();
    let start = out.place();
    match definition {
        Definition::Own(value) => out.value(value),
        Definition::Function { name, description, parameters } => {
            let name = if view.is_from(ME) { name.into() } else { sent_tool(out, name, id) };
            out.raw("{\"type\":\"function\",\"function\":{");
            out.text_field("name", &name);
            if let Some(description) = description {
                out.key("description");
                out.value(description);
            }
            if let Some(parameters) = parameters {
                out.key("parameters");
                out.value(parameters);
            }
            close(out, &view, id);
        }
    }
    out.span(start, id, Slot { list: List::Tools, index: *index, inner: None });
    *index += 1;
}

/// Writes the further fields of a function, each where it was.
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
