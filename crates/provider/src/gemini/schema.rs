//! Converts schemas from Gemini's dialect to JSON Schema, the form used in the tree and by every
//! other provider.

use contextree_json::{Number, Object, Value};

/// Returns a schema as JSON Schema: types in lower case, `nullable` as an additional type, and
/// numbers written as text as numbers.
pub(super) fn json_schema(schema: &Value) -> Value {
    let Some(object) = schema.as_object() else { return schema.clone() };
    let mut done = Object::new();
    let mut nullable = false;
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let name = keyword(name);
        match (name, value) {
            ("nullable", _) => nullable = value.as_bool() == Some(true),
            ("type", Value::String(kind)) if &**kind == "TYPE_UNSPECIFIED" => {}
            ("type", Value::String(kind)) => {
                done.insert(name, Value::from(kind.to_ascii_lowercase()));
            }
            ("properties" | "$defs", Value::Object(schemas)) => {
                let schemas = schemas.iter().map(|(name, it)| (name, json_schema(it)));
                done.insert(name, Value::Object(schemas.collect()));
            }
            ("items" | "additionalProperties", Value::Object(_)) => {
                done.insert(name, json_schema(value));
            }
            ("anyOf" | "prefixItems", Value::Array(schemas)) => {
                done.insert(name, Value::Array(schemas.iter().map(json_schema).collect()));
            }
            ("$ref", Value::String(place)) => {
                done.insert(name, Value::from(place.replacen("#/defs/", "#/$defs/", 1)));
            }
            _ => {
                done.insert(name, number(name, value).unwrap_or_else(|| value.clone()));
            }
        }
    }
    if nullable {
        allow_null(&mut done);
    }
    Value::Object(done)
}

fn keyword(name: &str) -> &str {
    match name {
        "any_of" => "anyOf",
        "prefix_items" => "prefixItems",
        "max_items" => "maxItems",
        "max_length" => "maxLength",
        "max_properties" => "maxProperties",
        "min_items" => "minItems",
        "min_length" => "minLength",
        "min_properties" => "minProperties",
        "property_ordering" => "propertyOrdering",
        "additional_properties" => "additionalProperties",
        "defs" => "$defs",
        "ref" => "$ref",
        other => other,
    }
}

/// Returns a count that was written as text, as protocol buffers encode 64-bit integers in JSON.
fn number(name: &str, value: &Value) -> Option<Value> {
    let counts =
        ["maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"];
    let text = value.as_str().filter(|_| counts.contains(&name))?;
    Number::from_integer_text(text).map(Value::Number)
}

fn allow_null(schema: &mut Object) {
    let null = Value::from("null");
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    if let Some(kind) = schema.get_mut("type") {
        let own = std::mem::take(kind);
        *kind = Value::Array(vec![own, null]);
    } else if let Some(Value::Array(schemas)) = schema.get_mut("anyOf") {
        schemas.push(Value::Object(Object::from_iter([("type", null)])));
    }
}
