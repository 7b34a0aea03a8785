//! Attempts as JSON text.

use contextree_canon::Hash;
use contextree_engine::{Attempt, AttemptStatus, CallRequest, CallResponse};
use contextree_json::{Number, Object, Value};
use contextree_tree::Cycle;

use crate::error::{Result, StoreError};
use crate::rows::AttemptRow;
use crate::sealed::{open, seal};

pub(crate) fn to_row(attempt: &Attempt) -> AttemptRow {
    let mut object = Object::new();
    let integer = |number: i64| Value::Number(Number::from_i64(number));
    let unsigned = |number: u64| Value::Number(Number::from_u64(number));
    object.insert("attempt_id", Value::from(attempt.attempt_id.as_str()));
    object.insert("cycle_id", unsigned(u64::from(attempt.cycle_id)));
    object.insert("status", Value::from(attempt.status.word()));
    if let AttemptStatus::Error(why) = &attempt.status {
        object.insert("error", Value::from(why.as_str()));
    }
    object.insert("started_at", integer(attempt.started_at));
    if let Some(ended) = attempt.ended_at {
        object.insert("ended_at", integer(ended));
    }
    object.insert("provider", Value::from(attempt.provider.as_str()));
    object.insert("model", Value::from(attempt.model.as_str()));
    object.insert("params", Value::from(attempt.params.to_string().as_str()));
    if let Some(input) = &attempt.input {
        object.insert("input", Value::from(input.to_string().as_str()));
    }
    for (name, tokens) in [("token_in", attempt.token_in), ("token_out", attempt.token_out)] {
        if let Some(tokens) = tokens {
            object.insert(name, unsigned(tokens));
        }
    }
    for (name, text) in [("serves", &attempt.serves), ("source", &attempt.source)] {
        if let Some(text) = text {
            object.insert(name, Value::from(text.as_str()));
        }
    }
    if let Some(CallRequest { snapshot, options }) = &attempt.request {
        let mut request = Object::new();
        request.insert("snapshot", Value::from(snapshot.to_string().as_str()));
        request.insert("options", Value::from(options.as_str()));
        object.insert("request", Value::Object(request));
    }
    if let Some(response) = &attempt.response {
        object.insert("response", Value::Object(write_response(response)));
    }
    if let Some(partial) = &attempt.partial {
        object.insert("partial", Value::from(partial.as_str()));
    }
    if let Some(answer) = &attempt.answer {
        object.insert("answer", answer.clone());
    }
    AttemptRow { id: attempt.attempt_id.clone(), record: seal(object) }
}

fn write_response(response: &CallResponse) -> Object {
    let mut fields = Object::new();
    let tokens = [
        ("cache_read", response.cache_read),
        ("cache_write", response.cache_write),
        ("cache_write_5m", response.cache_write_5m),
        ("cache_write_1h", response.cache_write_1h),
        ("reasoning", response.reasoning),
    ];
    for (name, tokens) in tokens {
        if let Some(tokens) = tokens {
            fields.insert(name, Value::Number(Number::from_u64(tokens)));
        }
    }
    let texts = [
        ("model", &response.model),
        ("stop_reason", &response.stop_reason),
        ("response_id", &response.response_id),
        ("request_id", &response.request_id),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            fields.insert(name, Value::from(text.as_str()));
        }
    }
    if let Some(diagnostics) = &response.diagnostics {
        fields.insert("diagnostics", diagnostics.clone());
    }
    fields
}

pub(crate) fn from_row(row: &AttemptRow) -> Result<Attempt> {
    open(&row.record)
        .map(Value::Object)
        .as_ref()
        .and_then(read)
        .filter(|attempt| attempt.attempt_id == row.id)
        .ok_or_else(|| StoreError::Corrupt {
            record: format!("the record of the attempt {}", row.id),
            message: "it is not what was written".to_owned(),
        })
}

fn read(value: &Value) -> Option<Attempt> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    let integer = |name: &str| value.get(name).and_then(Value::as_i64);
    let hash = |name: &str| text(name)?.parse::<Hash>().ok();
    Some(Attempt {
        attempt_id: text("attempt_id")?.to_owned(),
        cycle_id: Cycle(u32::try_from(number("cycle_id")?).ok()?),
        status: match text("status")? {
            "running" => AttemptStatus::Running,
            "completed" => AttemptStatus::Completed,
            "canceled" => AttemptStatus::Canceled,
            "error" => AttemptStatus::Error(text("error").unwrap_or_default().to_owned()),
            _ => return None,
        },
        started_at: integer("started_at")?,
        ended_at: integer("ended_at"),
        provider: text("provider")?.to_owned(),
        model: text("model")?.to_owned(),
        params: hash("params")?,
        token_in: number("token_in"),
        token_out: number("token_out"),
        input: match value.get("input") {
            Some(_) => Some(hash("input")?),
            None => None,
        },
        serves: text("serves").map(str::to_owned),
        source: text("source").map(str::to_owned),
        request: match value.get("request") {
            Some(request) => Some(read_request(request)?),
            None => None,
        },
        response: value.get("response").map(read_response),
        partial: text("partial").map(str::to_owned),
        answer: value.get("answer").cloned(),
    })
}

fn read_request(value: &Value) -> Option<CallRequest> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let snapshot = text("snapshot")?.parse::<Hash>().ok()?;
    Some(CallRequest { snapshot, options: text("options")?.to_owned() })
}

fn read_response(value: &Value) -> CallResponse {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    CallResponse {
        cache_read: number("cache_read"),
        cache_write: number("cache_write"),
        cache_write_5m: number("cache_write_5m"),
        cache_write_1h: number("cache_write_1h"),
        reasoning: number("reasoning"),
        model: text("model"),
        stop_reason: text("stop_reason"),
        response_id: text("response_id"),
        request_id: text("request_id"),
        diagnostics: value.get("diagnostics").cloned(),
    }
}
