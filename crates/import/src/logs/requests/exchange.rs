//! Wrappers around a request and its response, as home-made logs and proxies write them:
//! `{"request":…,"response":…}`, with or without HTTP around the bodies, and HAR files.

use contextree_json::{Object, Value, parse};
use contextree_provider::read::{Fields, provider_of_answer};
use contextree_provider::{KeyOrder, Provider, StreamCollector, StreamError};

use crate::time::{read as read_time, time_of};

/// A request that was sent, and what was returned.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(super) request: Value,
    /// The order of its keys, if it was written as a text.
    pub(super) order: Option<KeyOrder>,
    /// Where it is in the entry, as a JSON Pointer.
    pub(super) path: String,
    /// Whether its address is that of a model call, if it is known.
    pub(super) is_call: bool,
    pub(super) outcome: Outcome,
    pub(super) started_at: Option<i64>,
    pub(super) ended_at: Option<i64>,
}

/// What was returned.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The log does not say.
    Unknown,
    /// The response.
    Answer(Value),
    /// An error.
    Failed(String),
}

/// The names of the two sides.
const SIDES: [(&str, &str); 4] = [
    ("request", "response"),
    ("req", "res"),
    ("request_body", "response_body"),
    ("requestBody", "responseBody"),
];

/// The names of the body of a request, in HTTP that was captured.
const BODIES: [&str; 4] = ["body", "json", "data", "payload"];

/// Returns whether an object is a wrapper: it has a request, which is an object, or JSON as text.
pub(crate) fn is_exchange(object: &Object) -> bool {
    SIDES.iter().any(|(request, _)| object.get(request).is_some_and(|it| body_of(it).is_some()))
        || has_response(object)
        || object.get("log").is_some_and(|log| log.get("entries").is_some())
}

/// Returns the request in a wrapper.
pub(crate) fn request_in(object: &Object) -> Option<Value> {
    let side = SIDES.iter().find_map(|(request, _)| body_of(object.get(request)?));
    side.or_else(|| has_response(object).then(|| Value::Object(without_response(object))))
}

/// Returns whether an object is a request that has its response among its fields, as LiteLLM writes
/// them.
pub(super) fn has_response(object: &Object) -> bool {
    ["messages", "contents", "input"].into_iter().any(|name| object.contains_key(name))
        && object.get("response").is_some_and(|it| provider_of_answer(it).is_some())
}

/// Fields that such a log adds to a request.
const ADDED: [&str; 8] = [
    "response",
    "startTime",
    "endTime",
    "start_time",
    "end_time",
    "completionStartTime",
    "timestamp",
    "response_time",
];

fn without_response(object: &Object) -> Object {
    let own = object.iter().filter(|(name, _)| !ADDED.contains(name));
    own.map(|(name, value)| (name, value.clone())).collect()
}

/// Returns where the request is in a wrapper, unless it is a text.
pub(super) fn path_in(object: &Object) -> Option<String> {
    let (name, side) = SIDES
        .iter()
        .find_map(|(name, _)| Some((name, object.get(name).filter(|it| body_of(it).is_some())?)))?;
    match place_of(side)? {
        BodyPlace::Path(path) => Some(format!("/{name}{path}")),
        BodyPlace::Text(_) => None,
    }
}

/// Returns the entries of a HAR file.
pub(crate) fn entries_of(object: &Object) -> Option<&[Value]> {
    object.get("log")?.get("entries")?.as_array()
}

/// Returns whether a captured request is a model call, so far as its address says: proxies capture
/// everything that a program sends.
fn is_call(side: &Value) -> bool {
    let others = ["count_tokens", "countTokens", "/embeddings", "embedContent", "/moderations"];
    let address = ["url", "path", "uri"].into_iter().find_map(|name| side.get(name)?.as_str());
    address.is_none_or(|address| !others.into_iter().any(|other| address.contains(other)))
}

/// Returns the exchanges of an entry; the entry itself if it is not a wrapper.
pub(super) fn exchanges(provider: Provider, value: Value) -> Result<Vec<Exchange>, Value> {
    match value {
        Value::Object(mut object) if is_exchange(&object) => {
            let log = object.remove("log").and_then(|log| Fields::of(log).ok());
            match log.and_then(|mut log| log.take_list("entries")) {
                Some(entries) => Ok(all_of(provider, entries, "/log/entries")),
                None => Ok(exchange(provider, object, "").into_iter().collect()),
            }
        }
        Value::Array(list) if !list.is_empty() && list.iter().all(is_wrapped) => {
            Ok(all_of(provider, list, ""))
        }
        value => Err(value),
    }
}

/// Returns the exchanges of a list that is at a path.
fn all_of(provider: Provider, list: Vec<Value>, at: &str) -> Vec<Exchange> {
    let entries = list.into_iter().enumerate();
    let entries = entries.filter_map(|(index, entry)| Some((index, Fields::of(entry).ok()?.0)));
    entries
        .filter_map(|(index, entry)| exchange(provider, entry, &format!("{at}/{index}")))
        .collect()
}

fn is_wrapped(value: &Value) -> bool {
    value.as_object().is_some_and(is_exchange)
}

fn exchange(provider: Provider, mut object: Object, at: &str) -> Option<Exchange> {
    let side =
        SIDES.iter().find(|(name, _)| object.get(name).is_some_and(|it| body_of(it).is_some()));
    let Some((name, other)) = side else {
        return has_response(&object).then(|| beside(provider, &object, at));
    };
    let outer = object.remove(name)?;
    let request = body_of(&outer)?;
    let (order, path) = match place_of(&outer)? {
        BodyPlace::Path(path) => (None, format!("{at}/{name}{path}")),
        BodyPlace::Text(text) => (KeyOrder::of(text.as_bytes()), String::new()),
    };
    let answer = object.remove(other).filter(|it| !it.is_null());
    let time = |value: &Value| value.as_object().and_then(time_of);
    let named = |names: &[&str]| names.iter().find_map(|name| read_time(object.get(name)?));
    let started_at = named(&["started_at", "start_time", "startTime", "startedDateTime"])
        .or_else(|| time(&outer))
        .or_else(|| time_of(&object));
    let ended_at = named(&["ended_at", "end_time", "endTime", "completed_at"])
        .or_else(|| answer.as_ref().and_then(time))
        .or_else(|| Some(started_at? + duration(&object)?));
    // Where only the answer has a time, the call is not known to have taken any.
    let started_at = started_at.or(ended_at);
    let error = object.get("error").filter(|error| !error.is_null());
    let outcome = match (answer, error) {
        (Some(answer), _) => outcome_of(provider, &answer),
        (None, Some(error)) => Outcome::Failed(text_of(error)),
        (None, None) => Outcome::Unknown,
    };
    let is_call = is_call(&outer);
    Some(Exchange { request, order, path, is_call, outcome, started_at, ended_at })
}

/// Returns a request that has its response among its fields.
fn beside(provider: Provider, object: &Object, at: &str) -> Exchange {
    let named = |names: &[&str]| names.iter().find_map(|name| read_time(object.get(name)?));
    let ended_at = named(&["endTime", "end_time"]);
    let answer = object.get("response").cloned().unwrap_or_default();
    Exchange {
        request: Value::Object(without_response(object)),
        order: None,
        path: at.to_owned(),
        is_call: true,
        outcome: outcome_of(provider, &answer),
        started_at: named(&["startTime", "start_time"]).or_else(|| time_of(object)).or(ended_at),
        ended_at,
    }
}

/// Returns how long a request took, in nanoseconds.
fn duration(object: &Object) -> Option<i64> {
    let number = |names: &[&str]| names.iter().find_map(|name| object.get(name)?.as_f64());
    let milliseconds = number(&["duration_ms", "latency_ms", "durationMs", "elapsed_ms"])
        .or_else(|| number(&["duration", "latency", "elapsed"]).map(|seconds| seconds * 1e3))?;
    if !(0.0..1e9).contains(&milliseconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is below 1e12")]
    let micros = (milliseconds * 1e3) as i64;
    Some(micros * 1_000)
}

/// Returns the body of a request or a response: the value itself, or what is inside of its HTTP.
fn body_of(side: &Value) -> Option<Value> {
    if let Value::String(text) = side {
        return parse(text.as_bytes()).ok().filter(|it| it.as_object().is_some());
    }
    let object = side.as_object()?;
    for name in BODIES {
        match object.get(name) {
            Some(Value::Object(body)) => return Some(Value::Object(body.clone())),
            Some(text @ Value::String(_)) if object.get("model").is_none() => {
                return body_of(text);
            }
            _ => {}
        }
    }
    let posted = object.get("postData").and_then(|posted| posted.get("text"));
    match posted {
        Some(text) => body_of(text),
        None => Some(side.clone()),
    }
}

/// Where the body of a request is.
enum BodyPlace<'a> {
    /// At this path in what has it.
    Path(String),
    /// In a text.
    Text(&'a str),
}

/// Returns where [`body_of`] finds a body.
fn place_of(side: &Value) -> Option<BodyPlace<'_>> {
    if let Value::String(text) = side {
        return Some(BodyPlace::Text(text));
    }
    let object = side.as_object()?;
    for name in BODIES {
        match object.get(name) {
            Some(Value::Object(_)) => return Some(BodyPlace::Path(format!("/{name}"))),
            Some(Value::String(text)) if object.get("model").is_none() => {
                return Some(BodyPlace::Text(text));
            }
            _ => {}
        }
    }
    let posted = object.get("postData").and_then(|posted| posted.get("text"));
    match posted.and_then(Value::as_str) {
        Some(text) => Some(BodyPlace::Text(text)),
        None => Some(BodyPlace::Path(String::new())),
    }
}

/// Returns what was returned. A stream of events is put together.
fn outcome_of(provider: Provider, side: &Value) -> Outcome {
    let status = ["status", "status_code", "statusCode"];
    let status = status.into_iter().find_map(|name| side.get(name)?.as_u64());
    let bodies = ["body", "body_raw", "json", "data", "payload", "events", "chunks", "content"];
    let inner =
        match status.is_some() || side.get("body").is_some() || side.get("headers").is_some() {
            true => bodies.into_iter().find_map(|name| side.get(name).filter(|it| !it.is_null())),
            false => None,
        };
    let inner =
        inner.map(|inner| inner.get("text").filter(|it| it.as_str().is_some()).unwrap_or(inner));
    let body = match inner.unwrap_or(side) {
        Value::String(text) => match parse(text.as_bytes()) {
            Ok(value) => Ok(value),
            Err(_) => collect(provider, |stream| stream.feed(text.as_bytes())),
        },
        Value::Array(events) => collect(provider, |stream| {
            events.iter().try_for_each(|event| stream.feed_event(event.clone()))
        }),
        body => Ok(body.clone()),
    };
    let failed = status.is_some_and(|status| status >= 400);
    let body = match body {
        Ok(body) => body,
        Err(why) => return Outcome::Failed(why),
    };
    match body.get("error").filter(|error| !error.is_null()) {
        Some(error) => Outcome::Failed(text_of(error)),
        None if failed => Outcome::Failed(format!("status {}", status.unwrap_or_default())),
        None => Outcome::Answer(body),
    }
}

/// Puts a streamed answer together. Half a stream is a call that failed.
fn collect(
    provider: Provider,
    feed: impl FnOnce(&mut StreamCollector) -> Result<(), StreamError>,
) -> Result<Value, String> {
    let mut stream = StreamCollector::new(provider);
    let fed = feed(&mut stream).and_then(|()| stream.finish());
    fed.map_err(|error| error.to_string())
}

fn text_of(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str);
    match message.or(error.as_str()) {
        Some(message) => message.to_owned(),
        None => String::from_utf8_lossy(&error.to_canonical()).into_owned(),
    }
}
