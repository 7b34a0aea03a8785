//! Definitions of tools. The content is `{"name":…,"description":…,"parameters":…}`, or a provider's own object.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::Provider;
use crate::parts::View;
use crate::render::{LossKind, Out};

/// A definition, as one provider sees it.
pub(crate) enum Definition<'a> {
    /// A function.
    Function {
        /// Its name.
        name: &'a str,
        /// What it does.
        description: Option<&'a Value>,
        /// The schema of its arguments.
        parameters: Option<&'a Value>,
    },
    /// A tool of the provider's own.
    Own(&'a Value),
}

impl<'a> Definition<'a> {
    /// Returns a definition; nothing, and a note, if the provider does not know such a tool.
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
            return Some(Definition::Function {
                name,
                description: value.get("description"),
                parameters: value.get("parameters"),
            });
        }
        if view.provider().is_none_or(|own| own == provider) {
            return Some(Definition::Own(value));
        }
        out.loss(LossKind::Opaque, node, "a tool of another provider");
        None
    }
}

/// The form of a tool that only its provider knows.
pub(crate) const OWN: &str = "own";

/// Returns the content of a function's definition.
pub(crate) fn function(
    name: Value,
    description: Option<Value>,
    parameters: Option<Value>,
) -> Content {
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
