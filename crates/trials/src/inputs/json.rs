//! JSON that is nearly a request: fields by their names, values of all kinds.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use contextree::json::{Number, Object, Value};
use contextree_app::catalog::Command;
use schemars::SchemaGenerator;

use super::Choices;

/// Texts that mean something somewhere.
const TEXTS: [&str; 32] = [
    "main",
    "fork",
    "",
    "n2",
    "n4",
    "@t0",
    "@c1",
    "@c4294967296",
    "@t-99999999999999999999",
    ".block",
    "*",
    "@* .block",
    "^ah",
    "^seq",
    "(d0, cont[offset=0], end)",
    "user",
    "\u{0}",
    "a\nb",
    "\u{202e}x",
    "langgraph.checkpoint",
    "call",
    "e30=",
    "anthropic",
    "openai-chat",
    "{}",
    "sha256",
    "2026-01-01T00:00:00Z",
    "9223372036854775808",
    "../x",
    "block",
    "seg:1",
    "-",
];

/// The names of fields and the words of a request, from its schema.
#[derive(Clone, Copy)]
pub(super) struct Names(&'static [String]);

impl Names {
    pub(super) fn of(command: &Command) -> Names {
        static KNOWN: LazyLock<Mutex<BTreeMap<&'static str, &'static [String]>>> =
            LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Names(known.entry(command.name).or_insert_with(|| {
            let mut generator = SchemaGenerator::default();
            let schema = command.request_schema(&mut generator);
            let mut names = Vec::new();
            collect(schema.as_value(), &mut names);
            for definition in generator.definitions().values() {
                collect(definition, &mut names);
            }
            names.sort();
            names.dedup();
            // One list for each command, for as long as the program runs.
            names.leak()
        }))
    }
}

/// Returns the names of all fields of a request, and the words of its enumerations.
pub(super) fn names(command: &Command) -> Vec<String> {
    Names::of(command).0.to_vec()
}

/// Adds the names of all fields of a schema, and the words of its enumerations.
fn collect(schema: &serde_json::Value, names: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        schema.as_array().into_iter().flatten().for_each(|one| collect(one, names));
        return;
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties", serde_json::Value::Object(fields)) => {
                names.extend(fields.keys().cloned());
            }
            ("enum", serde_json::Value::Array(words)) => {
                names.extend(words.iter().filter_map(|word| word.as_str().map(str::to_owned)));
            }
            ("const", serde_json::Value::String(word)) => names.push(word.clone()),
            _ => {}
        }
        collect(value, names);
    }
}

/// Makes a request.
pub(super) fn request(choices: &mut Choices<'_>, names: Names) -> Value {
    object(choices, names, 0)
}

fn object(choices: &mut Choices<'_>, names: Names, depth: usize) -> Value {
    let mut fields = Object::new();
    for _ in 0..choices.index(5) {
        let value = value(choices, names, depth + 1);
        match names.0 {
            [] => fields.insert(text(choices), value),
            names => fields.insert(names[choices.index(names.len())].as_str(), value),
        };
    }
    Value::Object(fields)
}

fn text(choices: &mut Choices<'_>) -> &'static str {
    TEXTS[choices.index(TEXTS.len())]
}

fn value(choices: &mut Choices<'_>, names: Names, depth: usize) -> Value {
    let kinds = if depth < 5 { 10 } else { 7 };
    match choices.index(kinds) {
        0 => Value::Null,
        1 => Value::from(choices.byte().is_multiple_of(2)),
        2 => Value::from(i64::from(choices.byte()) - 4),
        3 => Value::from([i64::MIN, i64::MAX, 0, -1, 1 << 53, 1 << 32][choices.index(6)]),
        4 | 5 => Value::from(text(choices)),
        6 => match names.0 {
            [] => Number::from_f64(0.5).map_or(Value::Null, Value::Number),
            names => Value::from(names[choices.index(names.len())].as_str()),
        },
        7 => {
            let count = choices.index(4);
            Value::Array((0..count).map(|_| value(choices, names, depth + 1)).collect())
        }
        _ => object(choices, names, depth + 1),
    }
}
