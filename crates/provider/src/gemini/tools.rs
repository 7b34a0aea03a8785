//! Reads and writes Gemini tools: entries with any number of functions, with a provider-defined
//! tool, or with both.

use contextree_json::{Object, Value};
use contextree_tree::NewNode;

use super::ME;
use super::schema::json_schema;
use super::spelling::{
    ENTRY, NULL, Reader, SNAKE, get, names as nulls, note, note_list, noted, snake, spelled,
};
use crate::parts::names::{self, form};
use crate::parts::{Part, View};
use crate::read::{mark_provider, opaque, set};
use crate::render::wire::{sent_tool, write_own};
use crate::render::{List, Out, Slot};
use crate::tools::{Definition, OWN, function};

/// The original schema in Gemini's dialect; the content of the block has it as JSON Schema.
const PARAMETERS: &str = "data_parameters";

const FUNCTIONS: &str = "functionDeclarations";

/// Reads an entry of the list of tools: its functions and its other fields.
pub(super) fn read_tool(tool: Value, index: u64, tools: &mut Vec<NewNode>) {
    let named = |it: &Value| it.as_object().and_then(|it| get(it, "name")?.as_str()).is_some();
    let functions = tool.as_object().and_then(|tool| get(tool, FUNCTIONS)?.as_array());
    let readable = functions.is_some_and(|it| !it.is_empty() && it.iter().all(named));
    let mut entry = match tool {
        Value::Object(object) if readable => Reader::of(object),
        other => {
            tools.push(own(other));
            return;
        }
    };
    let first = tools.len();
    for declaration in entry.take_list(FUNCTIONS).unwrap_or_default() {
        let Value::Object(declaration) = declaration else { continue };
        tools.push(read_function(declaration, index));
    }
    if let Some(node) = tools.get_mut(first)
        && !(entry.snake.is_empty() && entry.nulls.is_empty())
    {
        let notes = [(SNAKE, Value::Array(entry.snake)), (NULL, Value::Array(entry.nulls))];
        note(node, ENTRY, Value::Object(Object::from_iter(notes)));
    }
    if !entry.fields.0.is_empty() {
        let mut node = own(Value::Object(entry.fields.0));
        set(&mut node, names::MESSAGE, index);
        tools.push(node);
    }
}

fn own(tool: Value) -> NewNode {
    let mut node = opaque("tool", tool, ME);
    set(&mut node, names::FORM, OWN);
    node
}

fn read_function(declaration: Object, index: u64) -> NewNode {
    let mut fields = Reader::of(declaration);
    let name = fields.take("name").unwrap_or_default();
    let mut node = NewNode { kind: Some("tool".into()), ..NewNode::default() };
    set(&mut node, names::NAME, name.clone());
    set(&mut node, names::MESSAGE, index);
    let description = fields.take("description");
    let schema = fields.take("parametersJsonSchema").or_else(|| {
        let own = fields.take("parameters")?;
        set(&mut node, names::FORM, form::FIELD);
        let schema = json_schema(&own);
        if schema != own {
            set(&mut node, PARAMETERS, own);
        }
        Some(schema)
    });
    node.content = function(name, description, schema);
    note_list(&mut node, SNAKE, fields.snake);
    note_list(&mut node, NULL, fields.nulls);
    fields.fields.keep(&mut node, names::EXTRA, ME);
    mark_provider(&mut node, ME);
    node
}

/// An entry of functions to which more functions may be added.
struct Open<'a> {
    /// The number of the entry in which the functions were imported.
    group: Option<u64>,
    count: u32,
    /// The notes about how the entry was spelled.
    notes: Option<&'a Value>,
}

/// Writes the list of tools.
pub(super) fn write_tools(out: &mut Out, parts: &[Part<'_>]) {
    let mut entry: u32 = 0;
    let mut open: Option<Open<'_>> = None;
    for part in parts {
        let id = part.node.id();
        let view = part.view();
        let Some(definition) = Definition::of(out, &view, id, ME) else { continue };
        let group = part.message();
        let continues = open.as_ref().is_some_and(|open| open.group == group)
            && (matches!(definition, Definition::Function { .. }) || group.is_some());
        if !continues && let Some(open) = open.take() {
            close(out, &open);
            entry += 1;
        }
        if entry == 0 && open.is_none() {
            out.key("tools");
            out.raw("[");
        }
        let slot = Slot { list: List::Tools, index: entry, inner: None };
        match (definition, open.take()) {
            // The other fields of the entry that holds these functions.
            (Definition::Own(Value::Object(fields)), Some(open)) => {
                out.raw("]");
                for (name, value) in fields {
                    out.key(name);
                    let start = out.place();
                    out.value(value);
                    out.span(start, id, slot);
                }
                end(out, &open);
                entry += 1;
            }
            (Definition::Own(value), _) => {
                out.comma();
                let start = out.place();
                out.value(value);
                out.span(start, id, slot);
                entry += 1;
            }
            (Definition::Function { name, description, parameters }, last) => {
                let mut functions = last.unwrap_or_else(|| begin(out, &view, group));
                out.comma();
                let start = out.place();
                write_function(out, &view, id, name, [description, parameters]);
                let inner = Some((FUNCTIONS, functions.count));
                out.span(start, id, Slot { inner, ..slot });
                functions.count += 1;
                open = Some(functions);
            }
        }
    }
    if let Some(open) = open {
        close(out, &open);
        entry += 1;
    }
    if entry > 0 {
        out.raw("]");
    }
}

fn begin<'a>(out: &mut Out, view: &View<'a>, group: Option<u64>) -> Open<'a> {
    let notes = noted(view, ENTRY);
    let is_snake =
        notes.and_then(|notes| notes.get(SNAKE)?.as_array()).is_some_and(|names| !names.is_empty());
    out.comma();
    out.raw("{");
    out.key(&if is_snake { snake(FUNCTIONS) } else { FUNCTIONS.to_owned() });
    out.raw("[");
    Open { group, count: 0, notes }
}

fn close(out: &mut Out, open: &Open<'_>) {
    out.raw("]");
    end(out, open);
}

fn end(out: &mut Out, open: &Open<'_>) {
    let nulls = open.notes.and_then(|notes| notes.get(NULL)?.as_array()).unwrap_or_default();
    for name in nulls.iter().filter_map(Value::as_str) {
        out.key(name);
        out.raw("null");
    }
    out.raw("}");
}

fn write_function(
    out: &mut Out,
    view: &View<'_>,
    id: &str,
    name: &str,
    [description, parameters]: [Option<&Value>; 2],
) {
    out.raw("{");
    let name = sent_tool(out, name, id);
    out.text_field("name", &name);
    if let Some(description) = description.filter(|it| !it.is_null()) {
        out.key("description");
        out.value(description);
    }
    if let Some(parameters) = parameters.filter(|it| !it.is_null()) {
        // Write the original dialect only if the schema was not edited since.
        let own = view.attribute(PARAMETERS);
        let own = own.filter(|own| json_schema(own) == *parameters);
        let dialect = view.form() == Some(form::FIELD)
            && (own.is_some() || view.attribute(PARAMETERS).is_none());
        if view.is_from(ME) && dialect {
            out.key("parameters");
            out.value(own.unwrap_or(parameters));
        } else {
            out.key(&spelled(view, "parametersJsonSchema"));
            out.value(parameters);
        }
    }
    for name in nulls(view, NULL) {
        out.key(name);
        out.raw("null");
    }
    if view.attribute(names::EXTRA).is_some() {
        write_own(out, view, names::EXTRA, id);
    }
    out.raw("}");
}
