//! Measures our own bars: every benchmark, one after the other, with one table at the end.

use std::path::Path;
use std::process::Command;

use contextree_json::{Object, Value, parse};

use super::machine;
use super::results::Results;
use crate::test::cargo;

/// The program that measures.
pub(crate) const PROGRAM: &str = "contextree-bench";

/// Its subcommands, and their subjects.
const SUBCOMMANDS: [(&str, &str); 7] = [
    ("heap", "memory"),
    ("engine", "engine, selectors, tokens, providers"),
    ("store", "embedded store"),
    ("postgres", "PostgreSQL"),
    ("startup", "command line"),
    ("record", "recording proxy"),
    ("server", "HTTP server"),
];

/// Builds all benchmark programs, in the release profile.
pub(crate) fn build(root: &Path) -> Result<(), String> {
    let arguments = ["build", "--release", "--quiet", "--bins"];
    let packages = ["--package", "contextree-bench", "--package", "contextree-cli"];
    cargo(root, "benchmarks", &[&arguments[..], &packages].concat(), &[])
}

/// Measures all bars. Continues after a missed bar.
pub(crate) fn run(
    root: &Path,
    programs: &Path,
    results: &mut Results,
    quick: bool,
) -> Result<Vec<String>, String> {
    build(root)?;
    let machine = machine::facts();
    let mut sections = Vec::new();
    let mut wrong = Vec::new();
    for (subcommand, about) in SUBCOMMANDS {
        say(&format!("{about}: {PROGRAM} {subcommand}"));
        let file = programs.join(format!("{PROGRAM}-{subcommand}.jsonl"));
        let _ = std::fs::remove_file(&file);
        let mut command = Command::new(programs.join(PROGRAM));
        command.current_dir(root).arg(subcommand).arg("--json").arg(&file);
        if quick {
            command.arg("--quick");
        }
        let status = command.status().map_err(|error| format!("{subcommand}: {error}"))?;
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.is_empty() {
            wrong.push(format!("{PROGRAM} {subcommand} failed: {status}"));
        }
        let lines: Result<Vec<Value>, _> =
            text.lines().map(|line| parse(line.as_bytes())).collect();
        let lines = lines.map_err(|error| format!("{subcommand}: {error}"))?;
        let mut section = Object::new();
        section.insert("about", Value::from(about));
        section.insert("lines", Value::Array(lines));
        sections.push(Value::Object(section));
    }
    let mut all = Object::new();
    all.insert("machine", machine);
    all.insert("programs", Value::Array(sections));
    let all = Value::Object(all);
    println_table(&all);
    wrong.extend(missed(&all));
    results.set("bars", all)?;
    Ok(wrong)
}

/// Returns the rows of all programs, each with its subject.
pub(crate) fn rows(section: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let programs = section.get("programs").and_then(Value::as_array).unwrap_or_default();
    programs.iter().flat_map(|program| {
        let about = program.get("about").and_then(Value::as_str).unwrap_or_default();
        let lines = program.get("lines").and_then(Value::as_array).unwrap_or_default();
        lines.iter().filter(|line| line.get("ratio").is_some()).map(move |line| (about, line))
    })
}

/// Returns a row as a line of a table.
pub(crate) fn line(row: &Value) -> String {
    let number = |name: &str| row.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let sign =
        if row.get("is_gain").and_then(Value::as_bool) == Some(true) { '≥' } else { '≤' };
    let (limit, verdict) = match row.get("bar").and_then(Value::as_f64) {
        None => (String::new(), ""),
        Some(bar) => {
            (format!("{sign} {}×", brief(bar)), if holds(row) { "holds" } else { "**missed**" })
        }
    };
    format!(
        "| {} | {}× | {}–{} | {limit} | {verdict} |",
        text("name"),
        brief(number("ratio")),
        brief(number("min")),
        brief(number("max"))
    )
}

/// Returns whether the row has no bar or meets it.
pub(crate) fn holds(row: &Value) -> bool {
    row.get("holds").and_then(Value::as_bool) != Some(false)
}

/// Returns a number with about three digits.
pub(crate) fn brief(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => thousands(number.round()),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => {
            let text = format!("{number:.2}");
            text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
        }
    }
}

pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 && digit.is_ascii_digit() {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn missed(section: &Value) -> Vec<String> {
    let rows = rows(section).filter(|(_, row)| !holds(row));
    rows.map(|(_, row)| format!("missed: {}", line(row))).collect()
}

#[expect(clippy::print_stdout, reason = "the table is the answer")]
fn println_table(section: &Value) {
    println!("\n| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|");
    for (_, row) in rows(section) {
        println!("{}", line(row));
    }
    if let Some(facts) = section.get("machine").and_then(Value::as_object) {
        println!();
        for (name, fact) in facts.iter() {
            println!("{name}: {}", fact.as_str().unwrap_or_default());
        }
    }
}

#[expect(clippy::print_stderr, reason = "progress of a chore")]
pub(crate) fn say(step: &str) {
    eprintln!("bench: {step}");
}
