//! Schemas of arguments, in the part of JSON Schema that every client reads.

use contextree_app::catalog::Right;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::page::{LEAST, MOST, USUAL};

/// Returns the schema of arguments, with those that every tool has, and those of a tool that reads.
pub(crate) fn of<A: JsonSchema>(right: Right) -> Map<String, Value> {
    let mut schema = Value::from(SchemaGenerator::default().into_root_schema_for::<A>());
    simplify(&mut schema);
    let mut properties = match schema.get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let common = json!({
        "context": {
            "type": "string",
            "description": "The name of the context; the usual one if it is absent.",
        },
        "cursor": { "type": "string", "description": "The cursor of the answer before, to go on." },
        "limit": {
            "type": "integer",
            "minimum": LEAST,
            "maximum": MOST,
            "description": format!("The most bytes of the answer; {USUAL} if it is absent."),
        },
    });
    if let Value::Object(mut common) = common {
        // A tool that writes would do its work again for the rest of its answer.
        if right != Right::Read {
            common.remove("cursor");
        }
        properties.extend(common);
    }
    let mut whole = Map::new();
    whole.insert("type".to_owned(), "object".into());
    whole.insert("properties".to_owned(), properties.into());
    if let Some(required) = schema.get_mut("required") {
        whole.insert("required".to_owned(), required.take());
    }
    whole.insert("additionalProperties".to_owned(), false.into());
    whole
}

/// Removes what some clients refuse: formats of numbers, `null` as a second type, defaults.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(entries) => entries.iter_mut().for_each(simplify),
        Value::Object(object) => {
            object.remove("format");
            object.remove("default");
            if let Some(Value::Array(types)) = object.get("type") {
                let kind = types.iter().find(|kind| *kind != "null").cloned();
                object.insert("type".to_owned(), kind.unwrap_or_default());
            }
            object.values_mut().for_each(simplify);
        }
        _ => {}
    }
}
