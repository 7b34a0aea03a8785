//! `schema.json` is what the types say.

use std::fs;
use std::path::Path;

use contextree_app::wire::schema;
use contextree_json::{Value, parse};

#[expect(clippy::disallowed_methods, reason = "a test is an edge, too")]
fn updates() -> bool {
    std::env::var("CONTEXTREE_UPDATE").is_ok()
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.json");
    let now = schema();
    if updates() {
        fs::write(file, now).expect("the schema can be written");
        return;
    }
    let committed = fs::read_to_string(file).unwrap_or_default();
    assert!(committed == now, "schema.json is out of date: run `cargo xtask schema`");
}

#[test]
fn the_schema_defines_every_reference() {
    fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    match (key, value.as_str()) {
                        ("$ref", Some(name)) => found.push(name),
                        _ => references(value, found),
                    }
                }
            }
            Value::Array(elements) => {
                elements.iter().for_each(|element| references(element, found));
            }
            _ => {}
        }
    }
    let schema = parse(schema().as_bytes()).expect("the schema is JSON");
    let definitions = schema.get("$defs").and_then(Value::as_object).expect("definitions");
    for name in ["SelectRequest", "SelectResponse", "Op", "Node", "Report", "Failure"] {
        assert!(definitions.get(name).is_some(), "`{name}` is defined");
    }
    let mut found = Vec::new();
    references(&schema, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        let name = reference.strip_prefix("#/$defs/").expect("a reference within the schema");
        assert!(definitions.get(name).is_some(), "`{reference}` is defined");
    }
}

/// Returns whether a schema allows a value, as far as the schemas of operations go.
fn allows(schema: &Value, definitions: &Value, value: &Value) -> bool {
    let all = |name: &str| schema.get(name).and_then(Value::as_array);
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = name.strip_prefix("#/$defs/").and_then(|name| definitions.get(name));
        return allows(target.expect("a definition"), definitions, value);
    }
    if let Some(choices) = all("anyOf").or(all("oneOf")) {
        return choices.iter().any(|choice| allows(choice, definitions, value));
    }
    let word = schema.get("const").map(std::slice::from_ref).or(all("enum"));
    if word.is_some_and(|words| !words.contains(value)) {
        return false;
    }
    let is = |kind: &Value| match kind.as_str().expect("a type") {
        "null" => value.is_null(),
        "string" => value.as_str().is_some(),
        "boolean" => value.as_bool().is_some(),
        "integer" => value.as_i64().is_some(),
        "object" => value.as_object().is_some(),
        "array" => value.as_array().is_some_and(|items| {
            let one = schema.get("items").expect("lists have items");
            items.iter().all(|item| allows(one, definitions, item))
        }),
        other => panic!("`{other}` is not in these schemas"),
    };
    match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
    }
}

/// Puts values of every type into each field of a schema, and compares what it says with what the reader does.
fn check_fields<T: serde::de::DeserializeOwned>(form: &Value, definitions: &Value, base: &str) {
    let values =
        parse(br#"[null,"start","core",true,1,[],["x"],[null],{},{"x":1}]"#).expect("JSON");
    let properties = form.get("properties").and_then(Value::as_object).expect("fields");
    for (name, schema) in properties.iter().filter(|(name, _)| !["op", "node"].contains(name)) {
        // Cues are words, too, but the list is open: the schema takes any text.
        let is_wrong_cue = |value: &&Value| name == "cue" && value.as_str() == Some("core");
        let values = values.as_array().expect("a list").iter();
        for value in values.filter(|value| !is_wrong_cue(value)) {
            let mut object =
                parse(base.as_bytes()).expect("JSON").as_object().expect("an object").clone();
            object.insert(name, value.clone());
            let read = contextree_json::from_value::<T>(Value::Object(object));
            let is_allowed = allows(schema, definitions, value);
            assert_eq!(read.is_ok(), is_allowed, "{name}: {value:?} in {base}: {:?}", read.err());
        }
    }
}

#[test]
fn operations_places_and_nodes_take_what_their_schemas_allow() {
    use contextree_app::wire::{NewNode, Op, Place};
    let schema = parse(schema().as_bytes()).expect("the schema is JSON");
    let definitions = schema.get("$defs").expect("definitions");
    let form = |name: &str| definitions.get(name).expect("a definition");
    check_fields::<NewNode>(form("NewNode"), definitions, "{}");
    check_fields::<Place>(form("Place"), definitions, r#"{"zone":"pre"}"#);
    check_fields::<Place>(form("Place"), definitions, r#"{"at":"(d0)"}"#);
    for op in form("Op").get("oneOf").and_then(Value::as_array).expect("operations") {
        let name = op.get("properties").and_then(|it| it.get("op")?.get("const")?.as_str());
        let name = name.expect("operations have names");
        let node = if name == "add" { "{}" } else { r#""block:1.1""# };
        let more = if name == "set_priority" { r#","priority":1,"policy":"p""# } else { "" };
        let base = format!(r#"{{"op":"{name}","node":{node},"zone":"pre"{more}}}"#);
        check_fields::<Op>(op, definitions, &base);
    }
    assert!(contextree_json::from_slice::<Place>(br#"{"parnt":"^ah"}"#).is_err());
    assert!(contextree_json::from_slice::<Place>(br#"{"cue":"core"}"#).is_err());
    assert_eq!(form("Place").get("additionalProperties"), Some(&false.into()));
}
