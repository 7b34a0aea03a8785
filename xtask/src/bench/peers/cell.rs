//! The measurements of one system on one conversation, over all repetitions.

use std::collections::BTreeMap;

use contextree_json::{Number, Object, Value};

/// The metrics and their descriptions.
pub(crate) const METRICS: [(&str, &str); 13] = [
    ("turn", "latency of a turn"),
    ("total", "the whole conversation"),
    ("bytes", "bytes on disk"),
    ("memory", "memory that the conversation took"),
    ("rss", "resident memory of the process"),
    ("open", "open again and read the present state"),
    ("middle", "read the state at half of the turns"),
    ("middle_cold", "the same, opened just before"),
    ("page", "list the newest ten turns of the history"),
    ("history", "list the whole history"),
    ("select", "select the messages of the user"),
    ("diff", "diff of the last two states"),
    ("render", "render a request for the provider"),
];

/// The medians of the repetitions, by metric.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    medians: BTreeMap<&'static str, Vec<f64>>,
    why: Object,
    facts: Object,
}

impl Cell {
    /// Records why nothing was measured.
    pub(crate) fn refuse(&mut self, reason: &str) {
        self.why.insert("all", Value::from(reason));
    }

    /// Adds a repetition, if it did the required work.
    pub(crate) fn add(&mut self, answer: &Value, kind: &str, length: u64) -> Result<(), String> {
        if let Some(why) = answer.get("why").and_then(Value::as_object) {
            for (name, reason) in why.iter() {
                self.why.insert(name, reason.clone());
            }
        }
        if answer.get("turn").is_none() {
            let reason = self.why.get("turn").cloned();
            self.why.insert("all", reason.unwrap_or_else(|| Value::from("nothing was measured")));
            return Ok(());
        }
        check(answer, kind, length)?;
        for name in ["versions", "settings"] {
            if let Some(fact) = answer.get(name) {
                self.facts.insert(name, fact.clone());
            }
        }
        for (name, _) in METRICS {
            let value = match name {
                "memory" => difference(answer),
                // Within one run, background writes are paid for in the end, so the average counts.
                "turn" if kind == "agent" => {
                    median(answer.get("total")).map(|total| total / length as f64)
                }
                name => median(answer.get(name)),
            };
            if let Some(value) = value {
                self.medians.entry(name).or_default().push(value);
            }
        }
        Ok(())
    }

    /// Returns the cost: seconds, bytes on disk, bytes in memory; `None` if it was not run.
    pub(crate) fn cost(&self) -> Option<[f64; 3]> {
        let last = |name: &str| self.medians.get(name).and_then(|values| values.last()).copied();
        let seconds = last("total")? / 1e9;
        Some([seconds, last("bytes").unwrap_or(0.0), last("memory").unwrap_or(0.0)])
    }

    /// Returns the median, the minimum and the maximum of each metric, and reasons.
    pub(crate) fn into_value(self) -> Value {
        let mut out = Object::new();
        for (name, mut values) in self.medians {
            values.sort_by(f64::total_cmp);
            let mut metric = Object::new();
            metric.insert("median", number(values[values.len() / 2]));
            metric.insert("min", number(values[0]));
            metric.insert("max", number(values[values.len() - 1]));
            metric.insert("runs", Value::Number(Number::from_u64(values.len() as u64)));
            out.insert(name, Value::Object(metric));
        }
        out.insert("why", Value::Object(self.why));
        for (name, fact) in self.facts {
            out.insert(name, fact);
        }
        Value::Object(out)
    }
}

/// Checks that the program read back the expected texts.
fn check(answer: &Value, kind: &str, length: u64) -> Result<(), String> {
    let half = length / 2;
    let expected = |length: u64| match kind {
        "chat" => (2 * length, 1_000 * length),
        _ => (1 + 2 * length, 500 + 20_100 * length),
    };
    let number = |name: &str| answer.get(name).and_then(Value::as_u64);
    for (prefix, length) in [("", length), ("middle_", half)] {
        let (messages, text) = expected(length);
        let found = (number(&format!("{prefix}messages")), number(&format!("{prefix}text")));
        if let (Some(found_messages), Some(found_text)) = found
            && (found_messages, found_text) != (messages, text)
        {
            return Err(format!(
                "a program read {found_messages} messages of {found_text} bytes instead of {messages} of {text}"
            ));
        }
    }
    Ok(())
}

/// Returns the resident memory after the conversation minus that before it; at least a page, so
/// that it can be a divisor.
fn difference(answer: &Value) -> Option<f64> {
    let number = |name: &str| answer.get(name).and_then(Value::as_f64);
    Some((number("rss")? - number("rss_before")?).max(4_096.0))
}

fn median(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Array(items) => {
            let mut items: Vec<f64> = items.iter().filter_map(Value::as_f64).collect();
            items.sort_by(f64::total_cmp);
            items.get(items.len() / 2).copied()
        }
        single => single.as_f64(),
    }
}

/// Rounds to four digits, which is more than the noise allows.
fn number(value: f64) -> Value {
    let digits = 10_f64.powf((3.0 - value.abs().max(1e-9).log10().floor()).min(6.0));
    let rounded = (value * digits).round() / digits;
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 {
        Value::Number(Number::from_i64(rounded as i64))
    } else {
        Number::from_f64(rounded).map_or(Value::Null, Value::Number)
    }
}
