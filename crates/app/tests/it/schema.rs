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
