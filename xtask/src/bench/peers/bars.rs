//! Computes the bars of the comparison.

use contextree_json::{Number, Object, Value};

use super::cell::METRICS;
use crate::bench::bars::line;

/// How many times faster or smaller than another system we must be.
struct Bar {
    ours: &'static str,
    peer: &'static str,
    metric: &'static str,
    length: u64,
    least: f64,
}

const fn bar(
    ours: &'static str,
    peer: &'static str,
    metric: &'static str,
    length: u64,
    least: f64,
) -> Bar {
    Bar { ours, peer, metric, length, least }
}

const MEMORY: &str = "Contextree, memory";
const FILE: &str = "Contextree, SQLite";
const DELTA: &str = "LangGraph SqliteSaver, DeltaChannel";
const RIG: &str = "rig-memory SQLite";

/// The bars. "Faster" and "smaller" mean a minimum of one.
const BARS: &[Bar] = &[
    bar(FILE, "LangGraph SqliteSaver", "turn", 1_000, 20.0),
    bar(FILE, "LangGraph SqliteSaver, sync", "turn", 1_000, 20.0),
    bar(FILE, "LangGraph SqliteSaver", "bytes", 1_000, 1_000.0),
    bar(FILE, DELTA, "bytes", 1_000, 1.0),
    bar(FILE, DELTA, "middle", 1_000, 20.0),
    bar(FILE, DELTA, "middle_cold", 1_000, 20.0),
    bar(FILE, "OpenAI Agents SQLiteSession", "turn", 1_000, 1.0),
    bar(FILE, "OpenAI Agents SQLiteSession, add only", "turn", 1_000, 1.0),
    bar(MEMORY, "Egregore, memory", "turn", 1_000, 10_000.0),
    bar(MEMORY, "Egregore, memory", "memory", 1_000, 500.0),
    bar(FILE, RIG, "turn", 100, 1.0),
    bar(FILE, RIG, "turn", 1_000, 1.0),
    bar(FILE, RIG, "middle", 1_000, 1.0),
    bar(FILE, RIG, "middle_cold", 1_000, 1.0),
];

/// The metrics that both pactree and Contextree have, in memory and in a file.
const BOTH: [&str; 6] = ["turn", "open", "middle", "middle_cold", "select", "render"];

/// The maximum growth: the latency of a turn in the longest conversation against that at 100 turns.
const GROWTH: f64 = 1.5;

/// Compares. If the length of a bar was not run, uses the longest that both were run at, without a
/// verdict.
pub(crate) fn bars(runs: &Value, lengths: &[u64]) -> Vec<Value> {
    let mut rows = Vec::new();
    for bar in BARS {
        rows.push(gain(runs, lengths, bar));
    }
    for (ours, peer) in [(MEMORY, "pactree, memory"), (FILE, "pactree, file")] {
        for metric in BOTH {
            let has =
                |name| (lengths.iter()).any(|length| value(runs, name, *length, metric).is_some());
            if has(ours) && has(peer) {
                rows.push(gain(runs, lengths, &bar(ours, peer, metric, 1_000, 1.0)));
            }
        }
    }
    rows.extend(growth(runs, RIG, lengths, None));
    for ours in [MEMORY, FILE] {
        rows.extend(growth(runs, ours, lengths, Some(GROWTH)));
    }
    rows
}

/// Prints the table.
#[expect(clippy::print_stdout, reason = "the table is the answer")]
pub(crate) fn print(bars: &[Value]) {
    println!("\n| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|");
    for bar in bars {
        println!("{}", line(bar));
    }
}

/// Returns the median, the minimum and the maximum of a metric of a chat.
fn value(runs: &Value, system: &str, length: u64, metric: &str) -> Option<[f64; 3]> {
    let cell = runs.get(system)?.get("chat")?.get(&length.to_string())?.get(metric)?;
    let number = |name: &str| cell.get(name).and_then(Value::as_f64);
    Some([number("median")?, number("min")?, number("max")?])
}

fn gain(runs: &Value, lengths: &[u64], bar: &Bar) -> Value {
    let both = |length: &&u64| {
        **length <= bar.length
            && value(runs, bar.ours, **length, bar.metric).is_some()
            && value(runs, bar.peer, **length, bar.metric).is_some()
    };
    let length = lengths.iter().rfind(both).copied();
    let what =
        METRICS.iter().find(|(name, _)| *name == bar.metric).map_or(bar.metric, |(_, what)| what);
    let word = if matches!(bar.metric, "bytes" | "memory") { "smaller" } else { "faster" };
    let mut name = format!("{} against {}: {what} at {} turns", bar.ours, bar.peer, bar.length);
    let found = length.and_then(|length| {
        let ours = value(runs, bar.ours, length, bar.metric)?;
        Some((ours, value(runs, bar.peer, length, bar.metric)?))
    });
    if let Some(length) = length.filter(|length| *length != bar.length) {
        name += &format!(" (measured at {length})");
    }
    name += &format!(", times {word}");
    match found {
        Some((ours, theirs)) => row(
            &name,
            theirs[0] / ours[0],
            (theirs[1] / ours[2], theirs[2] / ours[1]),
            // A bar applies to one length; at other lengths the number has no verdict.
            Some(bar.least).filter(|_| length == Some(bar.length)),
            true,
        ),
        None => row(&format!("{name}: not measured"), f64::NAN, (f64::NAN, f64::NAN), None, true),
    }
}

fn growth(runs: &Value, system: &str, lengths: &[u64], most: Option<f64>) -> Option<Value> {
    let has = |length: &&u64| value(runs, system, **length, "turn").is_some();
    let last = *lengths.iter().rfind(has)?;
    let first = if last > 100 { 100 } else { 10 };
    let (base, long) = (value(runs, system, first, "turn")?, value(runs, system, last, "turn")?);
    let name = format!("growth, {system}: latency of a turn at {last} turns against {first}");
    let most = most.filter(|_| last >= 10_000);
    Some(row(&name, long[0] / base[0], (long[1] / base[2], long[2] / base[1]), most, false))
}

fn row(name: &str, ratio: f64, spread: (f64, f64), bar: Option<f64>, is_gain: bool) -> Value {
    let number = |value: f64| {
        Number::from_f64((value * 1e4).round() / 1e4).map_or(Value::Null, Value::Number)
    };
    let holds = bar.is_none_or(|bar| if is_gain { ratio >= bar } else { ratio <= bar });
    let mut row = Object::new();
    row.insert("name", Value::from(name));
    row.insert("ratio", number(ratio));
    row.insert("min", number(spread.0));
    row.insert("max", number(spread.1));
    row.insert("bar", bar.map_or(Value::Null, number));
    row.insert("is_gain", Value::Bool(is_gain));
    row.insert("holds", Value::Bool(holds));
    Value::Object(row)
}
