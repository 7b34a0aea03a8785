//! Finds the records in a line or a document, sorted by start time within each conversation.

use std::collections::HashMap;

use contextree_json::{Object, Value};
use contextree_provider::read::{Fields, Shape};

use super::Times;
use super::dialects::{is_dialect, translated};

/// A span, an event or a message.
pub(super) struct Record {
    pub(super) conversation: Box<str>,
    pub(super) span: Option<Box<str>>,
    /// Whether it covers all calls of an agent, which have spans of their own.
    pub(super) of_agent: bool,
    /// What an event has besides its message.
    pub(super) about: Object,
    pub(super) what: What,
    time: Option<Time>,
    /// When it ended, in nanoseconds.
    ended_at: Option<i64>,
}

pub(super) enum What {
    /// A model call, by its attributes.
    Call(Object),
    /// A bare message.
    Message(Value),
    /// An event of the first conventions.
    Event { name: Box<str>, body: Value },
    /// Not part of the conversation.
    Other,
}

/// The start time. Within one document, all times have the same form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Time {
    Number(u128),
    Text(Box<str>),
}

/// Returns the records of an entry.
pub(super) fn of(value: Value) -> Result<Vec<Record>, Shape> {
    let mut records = Vec::new();
    collect(value, &mut records)?;
    // A record without a start time keeps its place after the record before it.
    let mut last = Time::Number(0);
    let mut timed: Vec<(Time, Record)> = Vec::with_capacity(records.len());
    for record in records {
        last = record.time.clone().unwrap_or(last);
        timed.push((last.clone(), record));
    }
    timed.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut begun: HashMap<Box<str>, usize> = HashMap::new();
    let mut ranked: Vec<(usize, Record)> = Vec::with_capacity(timed.len());
    for (_, record) in timed {
        let next = begun.len();
        let rank = *begun.entry(record.conversation.clone()).or_insert(next);
        ranked.push((rank, record));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    Ok(ranked.into_iter().map(|(_, record)| record).collect())
}

fn collect(value: Value, records: &mut Vec<Record>) -> Result<(), Shape> {
    let mut fields = match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(is_message) => {
            records.push(Record::new(What::Call(request(list))));
            return Ok(());
        }
        Value::Array(list) => {
            return list.into_iter().try_for_each(|entry| collect(entry, records));
        }
        Value::Object(object) => Fields(object),
        _ => return Err(Shape::new("an object")),
    };
    let nested = [
        ["resourceSpans", "scopeSpans", "spans"],
        ["resource_spans", "scope_spans", "spans"],
        ["resourceLogs", "scopeLogs", "logRecords"],
        ["resource_logs", "scope_logs", "log_records"],
    ];
    if let Some(names) = nested.iter().find(|names| fields.0.contains_key(names[0])) {
        for resource in fields.take_list(names[0]).unwrap_or_default() {
            for scope in take_list(resource, names[1]) {
                for entry in take_list(scope, names[2]) {
                    collect(entry, records)?;
                }
            }
        }
        return Ok(());
    }
    if fields.0.contains_key("role") {
        records.push(Record::new(What::Message(Value::Object(fields.0))));
        return Ok(());
    }
    if let Some(messages) = fields.take_list("messages") {
        records.push(Record::new(What::Call(both(fields.0, request(messages)))));
        return Ok(());
    }
    collect_span(fields, records);
    Ok(())
}

/// Collects a span with its events, or an event.
fn collect_span(mut fields: Fields, records: &mut Vec<Record>) {
    let attributes = attributes(&mut fields);
    let events = fields.take_list("events").unwrap_or_default();
    let body = fields.take("body").map(|body| plain(&body)).unwrap_or_default();
    let name = ["eventName", "event_name"].into_iter().find_map(|name| fields.text(name));
    let name = name.or_else(|| attributes.get("event.name")?.as_str()).or(fields.text("name"));
    let name: Box<str> = name.unwrap_or_default().into();
    let about = Record::about(&fields, &attributes, &name);
    if has_messages(&attributes) {
        records.push(Record { what: What::Call(attributes), ..about });
    } else if let Some(body) = body.as_object().filter(|body| has_messages(body)) {
        let call = both(attributes, body.clone());
        records.push(Record { what: What::Call(call), ..about });
    } else if is_event(&name) {
        let what = What::Event { name, body: with_content(body, &attributes) };
        records.push(Record { what, about: attributes, ..about });
    } else {
        collect_events(events, attributes, about, records);
    }
}

/// Collects the events of a span that has no messages itself: the details of the call, or its
/// messages one by one.
fn collect_events(
    mut events: Vec<Value>,
    mut span: Object,
    about: Record,
    records: &mut Vec<Record>,
) {
    if let Some(list) = span.remove("events").map(unpacked) {
        events.extend(list);
    }
    let mut found = false;
    for event in events {
        let Ok(mut event) = Fields::of(event) else { continue };
        let attributes = attributes(&mut event);
        let name = event.text("name").or_else(|| attributes.get("event.name")?.as_str());
        let name: Box<str> = name.unwrap_or_default().into();
        let what = if has_messages(&attributes) {
            What::Call(both(span.clone(), attributes))
        } else if is_event(&name) {
            let body = event.take("body").map(|body| plain(&body)).unwrap_or_default();
            What::Event { name, body: with_content(body, &attributes) }
        } else {
            continue;
        };
        let (conversation, span_id) = (about.conversation.clone(), about.span.clone());
        let time = about.time.clone();
        let said = if found { Object::new() } else { span.clone() };
        found = true;
        let (of_agent, ended_at) = (about.of_agent, about.ended_at);
        let span = span_id;
        records.push(Record { conversation, span, of_agent, about: said, what, time, ended_at });
    }
    if !found {
        records.push(about);
    }
}

impl Record {
    fn new(what: What) -> Self {
        Record {
            conversation: Box::default(),
            span: None,
            of_agent: false,
            about: Object::new(),
            what,
            time: None,
            ended_at: None,
        }
    }

    fn about(fields: &Fields, attributes: &Object, name: &str) -> Self {
        let context = fields.0.get("context");
        let text = |names: [&str; 2]| {
            let own = names.iter().find_map(|name| fields.text(name));
            own.or_else(|| context?.get(names[1])?.as_str()).map(Box::<str>::from)
        };
        let conversation = attributes.get("gen_ai.conversation.id").and_then(Value::as_str);
        let conversation = conversation.map(Box::from).or_else(|| text(["traceId", "trace_id"]));
        let operation = attributes.get("gen_ai.operation.name").and_then(Value::as_str);
        let operation = operation.unwrap_or_else(|| name.split(' ').next().unwrap_or_default());
        Record {
            conversation: conversation.unwrap_or_default(),
            span: text(["spanId", "span_id"]),
            of_agent: matches!(operation, "invoke_agent" | "create_agent" | "invoke_workflow"),
            time: time(fields),
            ended_at: ["endTimeUnixNano", "end_time_unix_nano", "end_time"]
                .into_iter()
                .find_map(|name| crate::time::read(fields.0.get(name)?)),
            ..Record::new(What::Other)
        }
    }

    /// Returns when it began and ended.
    pub(super) fn times(&self) -> Times {
        let started_at = match &self.time {
            Some(Time::Number(number)) => u64::try_from(*number)
                .ok()
                .and_then(|number| crate::time::read(&Value::from(number))),
            Some(Time::Text(text)) => crate::time::read(&Value::from(&**text)),
            None => None,
        };
        Times { started_at, ended_at: self.ended_at }
    }
}

fn time(fields: &Fields) -> Option<Time> {
    let names = [
        "startTimeUnixNano",
        "start_time_unix_nano",
        "start_time",
        "timeUnixNano",
        "time_unix_nano",
        "observedTimeUnixNano",
        "timestamp",
    ];
    let value = names.into_iter().find_map(|name| fields.0.get(name))?;
    match value.as_str() {
        Some(text) => Some(text.parse().map_or_else(|_| Time::Text(text.into()), Time::Number)),
        None => value.as_u64().map(|number| Time::Number(number.into())),
    }
}

fn is_message(value: &Value) -> bool {
    value.get("role").is_some_and(|it| it.as_str().is_some())
}

fn has_messages(attributes: &Object) -> bool {
    ["gen_ai.input.messages", "gen_ai.output.messages"]
        .into_iter()
        .any(|name| attributes.contains_key(name))
}

fn is_event(name: &str) -> bool {
    name == "gen_ai.choice" || (name.starts_with("gen_ai.") && name.ends_with(".message"))
}

/// Merges two objects; fields of the second win.
fn both(first: Object, second: Object) -> Object {
    let mut fields = Fields(first);
    fields.merge(Fields(second));
    fields.0
}

/// Returns the attributes of a request that consists of messages only.
fn request(messages: Vec<Value>) -> Object {
    Object::from_iter([("gen_ai.input.messages", Value::Array(messages))])
}

/// Returns the body of an event. Some have it in their attributes: as fields, or as JSON text.
fn with_content(body: Value, attributes: &Object) -> Value {
    let body = match body {
        Value::String(text) => {
            contextree_json::parse(text.as_bytes()).unwrap_or(Value::String(text))
        }
        body => body,
    };
    if body.as_object().is_some() {
        return body;
    }
    let packed = attributes.get("gen_ai.event.content").and_then(Value::as_str);
    let packed = packed.and_then(|text| contextree_json::parse(text.as_bytes()).ok());
    match packed {
        Some(packed @ Value::Object(_)) => packed,
        _ => Value::Object(attributes.clone()),
    }
}

/// Returns a list that may be encoded as text.
fn unpacked(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        Value::String(text) => match contextree_json::parse(text.as_bytes()) {
            Ok(Value::Array(list)) => list,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn take_list(value: Value, name: &str) -> Vec<Value> {
    Fields::of(value).ok().and_then(|mut fields| fields.take_list(name)).unwrap_or_default()
}

/// Returns the attributes of a span in any encoding. Without any, its fields are used.
fn attributes(fields: &mut Fields) -> Object {
    let attributes = match fields.take("attributes") {
        Some(Value::Object(attributes)) => attributes,
        Some(Value::Array(list)) => list.iter().filter_map(pair).collect(),
        _ if fields.0.keys().any(|name| name.starts_with("gen_ai.") || is_dialect(name))
            || fields.0.contains_key("event.name") =>
        {
            fields.0.clone()
        }
        _ => Object::new(),
    };
    translated(attributes)
}

fn pair(entry: &Value) -> Option<(String, Value)> {
    Some((entry.get("key")?.as_str()?.to_owned(), plain(entry.get("value")?)))
}

/// Returns the value of an OTLP attribute.
fn plain(value: &Value) -> Value {
    let only = value.as_object().filter(|object| object.len() == 1);
    let Some((kind, inner)) = only.and_then(|object| object.iter().next()) else {
        return value.clone();
    };
    let values = || inner.get("values").and_then(Value::as_array).unwrap_or_default();
    match kind {
        "arrayValue" | "array_value" => Value::Array(values().iter().map(plain).collect()),
        "kvlistValue" | "kvlist_value" => Value::Object(values().iter().filter_map(pair).collect()),
        "stringValue" | "string_value" | "intValue" | "int_value" | "doubleValue"
        | "double_value" | "boolValue" | "bool_value" | "bytesValue" | "bytes_value" => {
            inner.clone()
        }
        _ => value.clone(),
    }
}
