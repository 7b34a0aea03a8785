//! Names of other conventions: OpenLLMetry writes each field of a message as an attribute of its own
//! (`gen_ai.prompt.0.content`), and so does OpenInference (`llm.input_messages.0.message.content`).

use std::collections::BTreeMap;

use contextree_json::{Object, Value, parse};

/// Where lists are, and what they are called in the conventions of OpenTelemetry.
const LISTS: [(&str, &str); 6] = [
    ("gen_ai.prompt", "gen_ai.input.messages"),
    ("gen_ai.completion", "gen_ai.output.messages"),
    ("llm.input_messages", "gen_ai.input.messages"),
    ("llm.output_messages", "gen_ai.output.messages"),
    ("llm.request.functions", "gen_ai.tool.definitions"),
    ("llm.tools", "gen_ai.tool.definitions"),
];

/// Other attributes that have another name.
const NAMES: [(&str, &str); 10] = [
    ("llm.model_name", "gen_ai.request.model"),
    ("llm.provider", "gen_ai.provider.name"),
    ("llm.system", "gen_ai.provider.name"),
    ("llm.token_count.prompt", "gen_ai.usage.input_tokens"),
    ("llm.token_count.completion", "gen_ai.usage.output_tokens"),
    ("llm.token_count.prompt_details.cache_read", "gen_ai.usage.cache_read.input_tokens"),
    ("llm.token_count.prompt_details.cache_write", "gen_ai.usage.cache_creation.input_tokens"),
    ("llm.token_count.completion_details.reasoning", "gen_ai.usage.reasoning.output_tokens"),
    ("gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cache_read.input_tokens"),
    ("gen_ai.usage.cache_creation_input_tokens", "gen_ai.usage.cache_creation.input_tokens"),
];

/// Returns whether an attribute has a message of one of these conventions, or names one of them.
pub(crate) fn is_dialect(name: &str) -> bool {
    name == "openinference.span.kind"
        || name.starts_with("llm.input_messages.")
        || name.starts_with("llm.output_messages.")
}

/// Returns attributes with the names that OpenTelemetry has for them.
pub(super) fn translated(attributes: Object) -> Object {
    let list_of = |name: &str| {
        LISTS.iter().position(|(prefix, _)| {
            let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        })
    };
    let is_other = |name: &str| NAMES.iter().any(|(other, _)| *other == name);
    if !attributes.keys().any(|name| list_of(name).is_some() || is_other(name)) {
        return attributes;
    }
    let mut trees: BTreeMap<usize, Tree> = BTreeMap::new();
    let mut all = Object::new();
    for (name, value) in attributes {
        if let Some(list) = list_of(&name) {
            let path = name[LISTS[list].0.len() + 1..].split('.');
            trees.entry(list).or_default().insert(path, value);
            continue;
        }
        let usual = NAMES.iter().find(|(other, _)| *other == &*name).map(|(_, usual)| *usual);
        if usual.is_none_or(|usual| !all.contains_key(usual)) {
            all.insert(usual.unwrap_or(&name), value);
        }
    }
    for (list, tree) in trees {
        let usual = LISTS[list].1;
        if let Value::Array(entries) = tree.into_value() {
            let entries = match usual {
                "gen_ai.tool.definitions" => entries.into_iter().map(tool).collect(),
                _ => entries.into_iter().map(message).collect(),
            };
            all.insert(usual, Value::Array(entries));
        }
    }
    all
}

/// Values by the steps of their names. A name that is also the beginning of another keeps the longer.
#[derive(Default)]
struct Tree {
    value: Option<Value>,
    below: BTreeMap<Step, Tree>,
}

/// A step of a name; positions come in the order of their numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Position(u64),
    Name(Box<str>),
}

/// The number of steps that a name may have.
const DEEPEST: usize = 16;

impl Tree {
    fn insert<'n>(&mut self, path: impl Iterator<Item = &'n str>, value: Value) {
        let mut at = self;
        for step in path.take(DEEPEST) {
            let step = match step.parse() {
                Ok(position) => Step::Position(position),
                Err(_) => Step::Name(step.into()),
            };
            at = at.below.entry(step).or_default();
        }
        at.value = Some(value);
    }

    fn into_value(self) -> Value {
        if self.below.is_empty() {
            return self.value.unwrap_or_default();
        }
        if self.below.keys().all(|step| matches!(step, Step::Position(_))) {
            return Value::Array(self.below.into_values().map(Tree::into_value).collect());
        }
        let named = self.below.into_iter().map(|(step, tree)| {
            let name = match step {
                Step::Name(name) => name.into_string(),
                Step::Position(position) => position.to_string(),
            };
            (name, tree.into_value())
        });
        Value::Object(named.collect())
    }
}

/// Returns a message with `role`, `content` and `tool_calls`.
fn message(entry: Value) -> Value {
    let Value::Object(mut object) = inner(entry, "message") else { return Value::default() };
    if let Some(Value::Array(contents)) = object.remove("contents") {
        let contents = contents.into_iter().map(|it| inner(it, "message_content")).collect();
        object.insert("content", Value::Array(contents));
    }
    // A list of parts may be written as text.
    let parts = object.get("content").and_then(Value::as_str).filter(|it| it.starts_with("[{"));
    let parts = parts.and_then(|text| parse(text.as_bytes()).ok()).filter(|parts| {
        let parts = parts.as_array().unwrap_or_default();
        !parts.is_empty() && parts.iter().all(|part| part.get("type").is_some())
    });
    if let Some(parts) = parts {
        object.insert("content", parts);
    }
    if let Some(Value::Array(calls)) = object.remove("tool_calls") {
        let calls = calls.into_iter().map(|call| inner(call, "tool_call")).collect();
        object.insert("tool_calls", Value::Array(calls));
    }
    if !object.contains_key("role") {
        object.insert("role", Value::from("user"));
    }
    Value::Object(object)
}

/// Returns the definition of a tool; OpenInference has it as the text of a schema.
fn tool(entry: Value) -> Value {
    let mut entry = inner(entry, "tool");
    if let Some(schema) = entry.get("json_schema").and_then(Value::as_str)
        && let Ok(schema) = parse(schema.as_bytes())
    {
        return schema;
    }
    if let Value::Object(object) = &mut entry
        && let Some(parameters) = object.get("parameters").and_then(Value::as_str)
        && let Ok(parameters) = parse(parameters.as_bytes())
    {
        object.insert("parameters", parameters);
    }
    entry
}

/// Returns what an object has under its only name.
fn inner(value: Value, name: &str) -> Value {
    match value {
        Value::Object(mut object) => match object.remove(name) {
            Some(inner) => inner,
            None => Value::Object(object),
        },
        value => value,
    }
}
