//! Attempts as JSON text.

use contextree_canon::Hash;
use contextree_engine::{Attempt, AttemptStatus};
use contextree_json::{Number, Object, Value, parse};

use crate::error::{Result, StoreError};
use crate::rows::AttemptRow;

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
    object.insert("input", Value::from(attempt.input.to_string().as_str()));
    for (name, tokens) in [("token_in", attempt.token_in), ("token_out", attempt.token_out)] {
        if let Some(tokens) = tokens {
            object.insert(name, unsigned(tokens));
        }
    }
    let record = Value::Object(object).to_canonical();
    AttemptRow {
        id: attempt.attempt_id.clone(),
        record: String::from_utf8_lossy(&record).into_owned(),
    }
}

pub(crate) fn from_json(text: &str) -> Result<Attempt> {
    parse(text.as_bytes()).ok().as_ref().and_then(read).ok_or_else(|| StoreError::Corrupt {
        record: "the record of an attempt".to_owned(),
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
        cycle_id: u32::try_from(number("cycle_id")?).ok()?,
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
        input: hash("input")?,
    })
}
