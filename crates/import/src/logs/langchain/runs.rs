//! Reads runs, as tracers write them: a tree of runs, those of models with the messages that were
//! sent and the message that was returned.

use contextree_json::Value;
use contextree_provider::read::{Fields, Shape};

use crate::time;

/// The run of a model.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) messages: Vec<Value>,
    pub(crate) answer: Option<Value>,
    pub(crate) error: Option<String>,
    pub(crate) model: Option<Box<str>>,
    pub(crate) started_at: Option<i64>,
    pub(crate) ended_at: Option<i64>,
}

/// Returns whether a value is a run, or a list of runs.
pub(crate) fn is_run(value: &Value) -> bool {
    match value {
        Value::Array(list) => !list.is_empty() && list.iter().all(is_run),
        value => value.get("run_type").is_some() && value.get("inputs").is_some(),
    }
}

/// Reads all runs of models, in the order of their start.
pub(crate) fn read_runs(value: Value) -> Result<Vec<Run>, Shape> {
    let mut runs = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let mut fields = match value {
            Value::Array(list) => {
                open.extend(list.into_iter().rev());
                continue;
            }
            value => Fields::of(value)?,
        };
        let below = fields.take_list("child_runs").unwrap_or_default();
        open.extend(below.into_iter().rev());
        if matches!(fields.text("run_type"), Some("llm" | "chat_model")) {
            runs.push(read(fields));
        }
    }
    runs.sort_by_key(|run: &Run| run.started_at);
    Ok(runs)
}

fn read(mut fields: Fields) -> Run {
    let time = |name: &str| time::read(fields.0.get(name)?);
    let (started_at, ended_at) = (time("start_time"), time("end_time"));
    let error = fields.text("error").filter(|error| !error.is_empty()).map(str::to_owned);
    let extra = fields.0.get("extra").and_then(|extra| extra.get("invocation_params"));
    let model = ["model", "model_name"].into_iter();
    let model = model.filter_map(|name| extra?.get(name)?.as_str()).next().map(Box::from);
    let inputs = fields.take("inputs").unwrap_or_default();
    let messages = match inputs.get("messages").and_then(Value::as_array) {
        // One list for each of several prompts.
        Some([Value::Array(list), ..]) => list.clone(),
        Some(list) => list.to_vec(),
        None => Vec::new(),
    };
    let outputs = fields.take("outputs").unwrap_or_default();
    let first = |value: &Value| value.as_array().and_then(|list| list.first().cloned());
    let generation = outputs.get("generations").and_then(|it| first(&first(it)?));
    let answer = generation.and_then(|it| it.get("message").cloned());
    let answer = answer.or_else(|| outputs.get("message").cloned());
    let answer = answer.or_else(|| outputs.get("messages").and_then(first));
    Run { messages, answer, error, model, started_at, ended_at }
}
