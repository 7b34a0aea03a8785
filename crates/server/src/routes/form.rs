//! Requests in the query of a URL.
//!
//! Every field of a request can be a parameter: texts as they are, lists of texts by repeating the parameter, and everything else as
//! JSON. What a field is follows from the schema of the request, so there is no second description of it.

use std::collections::BTreeMap;

use contextree::Code;
use contextree::selector::closest;
use contextree_app::Error;
use contextree_json::{Object, Value, parse};

/// How a field is written in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As it is.
    Text,
    /// Each text by itself.
    Texts,
    /// As JSON.
    Json,
}

/// The fields of a request.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    fields: BTreeMap<String, Shape>,
}

impl Form {
    /// Returns the form of a request with this schema. `definitions` has the schemas that it refers to.
    pub(crate) fn of(schema: &Value, definitions: &Value) -> Form {
        let properties = resolve(schema, definitions).get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        Form {
            fields: fields
                .map(|(name, schema)| (name.to_owned(), shape(schema, definitions)))
                .collect(),
        }
    }

    /// Returns the fields with their shapes, by name.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, Shape)> {
        self.fields.iter().map(|(name, shape)| (name.as_str(), *shape))
    }

    /// Reads a request from the parameters of a query.
    ///
    /// # Errors
    ///
    /// If a parameter is unknown, repeated, or not JSON.
    pub(crate) fn read(&self, parameters: Vec<(String, String)>) -> Result<Value, Error> {
        let mut request = Object::new();
        let mut lists: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (name, text) in parameters {
            let Some(shape) = self.fields.get(&name) else { return Err(self.unknown(&name)) };
            let value = match shape {
                Shape::Text => text.into(),
                Shape::Texts => {
                    lists.entry(name).or_default().push(text.into());
                    continue;
                }
                Shape::Json => parse(text.as_bytes()).map_err(|error| {
                    Error::new(error.code(), format!("the parameter `{name}`: {error}"))
                        .with_detail("parameter", name.as_str())
                })?,
            };
            if value.is_null() {
                let message = format!("the parameter `{name}` is null");
                return Err(Error::new(Code::JsonShape.as_str(), message)
                    .with_detail("parameter", name)
                    .with_hint("leave it out"));
            }
            if request.insert(&*name, value).is_some() {
                return Err(Error::usage(format!("the parameter `{name}` is repeated"))
                    .with_detail("parameter", name));
            }
        }
        for (name, values) in lists {
            request.insert(&*name, Value::Array(values));
        }
        Ok(Value::Object(request))
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
        let error =
            Error::usage(format!("unknown parameter `{name}`")).with_detail("parameter", name);
        match closest(name, &known) {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error.with_hint(format!("the parameters are: {}", known.join(", "))),
        }
    }
}

/// Follows a reference to another schema.
pub(crate) fn resolve<'v>(schema: &'v Value, definitions: &'v Value) -> &'v Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
    name.and_then(|name| definitions.get(name)).unwrap_or(schema)
}

fn shape(schema: &Value, definitions: &Value) -> Shape {
    if is_text(schema, definitions) {
        return Shape::Text;
    }
    let items = resolve(schema, definitions).get("items");
    match items.is_some_and(|items| is_text(items, definitions)) {
        true => Shape::Texts,
        false => Shape::Json,
    }
}

/// Returns whether all values of a schema, besides null, are texts.
fn is_text(schema: &Value, definitions: &Value) -> bool {
    let schema = resolve(schema, definitions);
    let is_null = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("null");
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let mut others = choices.iter().filter(|choice| !is_null(choice));
            return others.all(|choice| is_text(choice, definitions));
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) => &**name == "string",
        Some(Value::Array(names)) => {
            let is_text = |name: &Value| matches!(name.as_str(), Some("string" | "null"));
            names.iter().all(is_text)
        }
        _ => schema.get("const").is_some_and(|value| value.as_str().is_some()),
    }
}

/// Returns the parameters of a query, in their order.
///
/// # Errors
///
/// If it is not UTF-8 text.
pub(crate) fn parameters(query: Option<&str>) -> Result<Vec<(String, String)>, Error> {
    let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        })
        .collect()
}

fn decode(text: &str) -> Result<String, Error> {
    let spaced = text.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8();
    decoded.map(Into::into).map_err(|_| Error::usage("the query of the URL is not UTF-8"))
}
