//! Reads and writes tool definitions. The content is `{"name":…,"description":…,"parameters":…}`,
//! or an object that only its provider understands.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::Provider;
use crate::parts::names;
use crate::parts::{Part, View};
use crate::render::wire::lose_fields;
use crate::render::{List, LossKind, Out, Slot};

/// A tool definition, as one provider sees it.
pub(crate) enum Definition<'a> {
    /// A function.
    Function {
        /// Its name.
        name: &'a str,
        /// Its description.
        description: Option<&'a Value>,
        /// The schema of its arguments.
        parameters: Option<&'a Value>,
    },
    /// A tool that the provider defines.
    Own(&'a Value),
}

impl<'a> Definition<'a> {
    /// Returns a definition; `None`, and a loss, if the provider does not know such a tool.
    pub(crate) fn of(
        out: &mut Out,
        view: &View<'a>,
        node: &str,
        provider: Provider,
    ) -> Option<Self> {
        let Content::Json(value) = view.content else {
            out.loss(LossKind::Opaque, node, "a tool without a definition");
            return None;
        };
        if let Some(name) = value.get("name").and_then(Value::as_str)
            && view.form() != Some(OWN)
        {
            // Some providers require a field even if it is empty. Their `null` is not sent to
            // others.
            let own = view.is_from(provider);
            let field = |name| value.get(name).filter(|it| own || !it.is_null());
            return Some(Definition::Function {
                name,
                description: field("description"),
                parameters: field("parameters"),
            });
        }
        if view.provider().is_none_or(|own| own == provider) {
            return Some(Definition::Own(value));
        }
        out.loss(LossKind::Opaque, node, "a tool of another provider");
        None
    }
}

/// Converts a custom tool (free text as input) between the two OpenAI APIs; also returns the names
/// of fields that cannot be converted.
pub(crate) fn custom_tool(view: &View<'_>, provider: Provider) -> Option<(Value, Vec<String>)> {
    let Content::Json(value) = view.content else { return None };
    let (custom, outer) = match (view.provider()?, provider) {
        (Provider::OpenAiChat, Provider::OpenAiResponses) => {
            (value.get("custom")?.as_object()?, value.as_object())
        }
        (Provider::OpenAiResponses, Provider::OpenAiChat) => (value.as_object()?, None),
        _ => return None,
    };
    let is_custom = value.get("type").and_then(Value::as_str) == Some("custom");
    if !is_custom || custom.get("name").is_none_or(|name| name.as_str().is_none()) {
        return None;
    }
    let mut said = Object::new();
    let mut lost = Vec::new();
    for (name, value) in custom {
        match name {
            "name" | "description" => said.insert(name, value.clone()),
            "format" => said.insert(name, grammar(value, provider)),
            "type" => continue,
            other => {
                lost.push(other.to_owned());
                continue;
            }
        };
    }
    let outer = outer.into_iter().flatten().map(|(name, _)| name);
    lost.extend(outer.filter(|name| !matches!(*name, "type" | "custom")).map(str::to_owned));
    if provider == Provider::OpenAiResponses {
        said.insert("type", Value::from("custom"));
        return Some((Value::Object(said), lost));
    }
    let tool = [("type", Value::from("custom")), ("custom", Value::Object(said))];
    Some((Value::Object(Object::from_iter(tool)), lost))
}

/// Converts the format of a custom tool: Chat Completions nests the grammar one level deeper.
fn grammar(format: &Value, provider: Provider) -> Value {
    let Some(fields) = format.as_object() else { return format.clone() };
    let is_grammar = format.get("type").and_then(Value::as_str) == Some("grammar");
    if !is_grammar {
        return format.clone();
    }
    let mut said = Object::from_iter([("type", Value::from("grammar"))]);
    if provider == Provider::OpenAiChat {
        let inner = fields.iter().filter(|(name, _)| *name != "type");
        let inner: Object = inner.map(|(name, value)| (name, value.clone())).collect();
        said.insert("grammar", Value::Object(inner));
    } else {
        let inner = format.get("grammar").and_then(Value::as_object);
        for (name, value) in inner.into_iter().flatten() {
            said.insert(name, value.clone());
        }
    }
    Value::Object(said)
}

/// Returns the `strict` flag of an OpenAI function and the names of its other fields, for
/// conversion between the two APIs.
pub(crate) fn strictness<'a>(view: &View<'a>) -> (Option<&'a Value>, Vec<&'a str>) {
    let Some(extra) = view.attribute(names::EXTRA).and_then(Value::as_object) else {
        return (None, Vec::new());
    };
    let inner = match view.provider() {
        Some(Provider::OpenAiResponses) => return split_strict(extra),
        Some(Provider::OpenAiChat) => extra.get("function").and_then(Value::as_object),
        _ => return (None, extra.keys().collect()),
    };
    let (strict, mut others) = inner.map(split_strict).unwrap_or_default();
    let outer = extra.get("outer").and_then(Value::as_object);
    others.extend(outer.into_iter().flat_map(Object::keys));
    (strict, others)
}

fn split_strict(fields: &Object) -> (Option<&Value>, Vec<&str>) {
    let strict = fields.get("strict").filter(|it| !it.is_null());
    (strict, fields.keys().filter(|name| *name != "strict").collect())
}

/// A function definition to be written.
pub(crate) struct Function<'a> {
    /// The node with the definition.
    pub(crate) id: &'a str,
    pub(crate) view: View<'a>,
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a Value>,
    pub(crate) parameters: Option<&'a Value>,
}

/// Writes the list of tools, unless it is empty. Provider-defined tools are written unchanged,
/// functions by `write`.
pub(crate) fn write_tools(
    out: &mut Out,
    parts: &[Part<'_>],
    write: impl Fn(&mut Out, &Function<'_>),
) {
    let provider = out.rendered.provider;
    let mut index = 0;
    for part in parts {
        let (id, view) = (part.node.id(), part.view());
        let custom = custom_tool(&view, provider);
        let definition = match &custom {
            Some((custom, lost)) => {
                lose_fields(out, id, lost);
                Some(Definition::Own(custom))
            }
            None => Definition::of(out, &view, id, provider),
        };
        let Some(definition) = definition else { continue };
        if index == 0 {
            out.key("tools");
            out.raw("[");
        }
        out.comma();
        let start = out.place();
        match definition {
            Definition::Own(value) => out.value(value),
            Definition::Function { name, description, parameters } => {
                write(out, &Function { id, view, name, description, parameters });
            }
        }
        out.span(start, id, Slot { list: List::Tools, index, inner: None });
        index += 1;
    }
    if index > 0 {
        out.raw("]");
    }
}

/// The form of a tool that only its provider understands.
pub(crate) const OWN: &str = "own";

/// Returns the content of a function definition.
#[must_use]
pub fn function(name: Value, description: Option<Value>, parameters: Option<Value>) -> Content {
    let mut object = Object::new();
    object.insert("name", name);
    if let Some(description) = description {
        object.insert("description", description);
    }
    if let Some(parameters) = parameters {
        object.insert("parameters", parameters);
    }
    Content::Json(Box::new(Value::Object(object)))
}
