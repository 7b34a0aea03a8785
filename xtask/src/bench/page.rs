//! Writes the page `docs/performance.md` from the results.

use std::fmt::Write as _;

use contextree_json::Value;

use super::plot::{self, Chart, Curve, svg};
use super::results::Results;
use super::{bars, peers};

/// Writes the page and its pictures.
pub(crate) fn write(results: &Results) -> Result<(), String> {
    let mut out = String::from(
        "# Performance\n\n\
         Cost follows the change, not the history. Everything on this page is written by commands, from what they measured:\n\
         `cargo xtask bench` (our own bars), `cargo xtask bench --peers` (other systems on the same work), `cargo xtask bench --scale` (large stores).\n\
         The numbers are in [performance.json](performance.json).\n",
    );
    if let Some(section) = results.section("peers") {
        peers::page::write(&mut out, section, results)?;
    }
    if let Some(section) = results.section("scale") {
        scale(&mut out, section);
    }
    if let Some(section) = results.section("bars") {
        own(&mut out, section, results)?;
    }
    results.write("performance.md", &out)
}

/// Writes the section on scale.
fn scale(out: &mut String, section: &Value) {
    out.push_str("\n## Scale\n\n");
    let lines = section.get("lines").and_then(Value::as_array).unwrap_or_default();
    for note in lines.iter().filter_map(|line| line.get("note").and_then(Value::as_str)) {
        let _ = writeln!(out, "- {note}");
    }
    let rows: Vec<&Value> = lines.iter().filter(|line| line.get("ratio").is_some()).collect();
    if !rows.is_empty() {
        out.push_str("\n| what | ratio | spread | bar | |\n|---|--:|--:|--:|---|\n");
        rows.into_iter().for_each(|row| {
            let _ = writeln!(out, "{}", bars::line(row));
        });
    }
    machine(out, section);
}

/// Writes the section on our own bars, the growth, and the absolute numbers.
fn own(out: &mut String, section: &Value, results: &Results) -> Result<(), String> {
    out.push_str(
        "\n## Our own bars\n\n\
         Every number is a ratio between two pieces of work that took turns in one process, so that it means the same on any machine. The\n\
         median of the rounds is given, and the smallest and the largest ratio beside it. \u{201c}Large\u{201d} is a context of 100,000\n\
         turns (or nodes, where nodes are named), \u{201c}small\u{201d} one of 1,000. A turn is one core with three blocks of 120 bytes,\n\
         unless the row says otherwise.\n",
    );
    let mut about = "";
    for (program, row) in bars::rows(section) {
        if program != about {
            let _ = write!(
                out,
                "\n### {}\n\n| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|\n",
                capital(program)
            );
            about = program;
        }
        let _ = writeln!(out, "{}", bars::line(row));
    }
    notes(out, section);
    machine(out, section);
    let points = growth(section);
    if !points.is_empty() {
        out.push_str(
            "\n## Growth to a million turns\n\n\
             One context in memory, measured on the way; each column against its own value at 1,000 turns.\n\n\
             ![Cost of one more turn against the length of the history](growth.svg)\n\n\
             | turns | append and commit a turn | diff of adjacent snapshots | find a node by id |\n|--:|--:|--:|--:|\n",
        );
        for [turns, append, diff, find] in &points {
            let _ = writeln!(out, "| {turns} | {append:.2}× | {diff:.2}× | {find:.2}× |");
        }
        out.push_str(
            "\nFinding a node by its id is a probe of a hash table and a look at the row: what grows is the share of both that is not in the\n\
             processor's cache.\n",
        );
        results.write("growth.svg", &svg(&growth_chart(&points)))?;
    }
    out.push_str(BEHIND);
    Ok(())
}

const BEHIND: &str = "\n## How the numbers come about\n\n\
    - **Append, commit.** The new rows are appended to a log; of the child lists only the last run is copied. See\n  `ARCHITECTURE.md`.\n\
    - **Expiry.** Rows hold the commit at which they expire, so no ttl is ever counted down; lists hold the earliest expiry\n  of each run, so nothing else is visited. Ten adjacent nodes share the runs that are copied; ten nodes\n  spread evenly over the whole history share nothing, and in a large context none of it is in the cache; and one list of\n  100,000 nodes is deeper than one of 1,000.\n\
    - **Diff.** The rows between two trees of one branch are what changed between them.\n\
    - **Thread.** The renderer keeps what it rendered; an unchanged beginning is not touched.\n\
    - **Traversal.** Rows of a turn lie side by side, in document order.\n";

/// Writes the remarks of the programs.
fn notes(out: &mut String, section: &Value) {
    let programs = section.get("programs").and_then(Value::as_array).unwrap_or_default();
    let notes: Vec<&str> = programs
        .iter()
        .flat_map(|program| program.get("lines").and_then(Value::as_array).unwrap_or_default())
        .filter_map(|line| line.get("note").and_then(Value::as_str))
        .collect();
    if !notes.is_empty() {
        out.push_str("\nIn absolute terms, on the machine below:\n\n");
        notes.iter().for_each(|note| {
            let _ = writeln!(out, "- {note}");
        });
    }
}

/// Writes the facts of the machine, on one line.
pub(crate) fn machine(out: &mut String, section: &Value) {
    let Some(facts) = section.get("machine").and_then(Value::as_object) else { return };
    let facts: Vec<String> = facts
        .iter()
        .map(|(name, fact)| format!("{name} {}", fact.as_str().unwrap_or_default()))
        .collect();
    let _ = writeln!(out, "\nMachine: {}.", facts.join(" · "));
}

fn growth(section: &Value) -> Vec<[f64; 4]> {
    let programs = section.get("programs").and_then(Value::as_array).unwrap_or_default();
    programs
        .iter()
        .flat_map(|program| program.get("lines").and_then(Value::as_array).unwrap_or_default())
        .filter_map(|line| line.get("growth"))
        .map(|point| {
            ["turns", "append", "diff", "find"]
                .map(|name| point.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN))
        })
        .collect()
}

fn growth_chart(points: &[[f64; 4]]) -> Chart {
    let column = |name: &str, place: usize| Curve {
        name: name.to_owned(),
        is_ours: place == 1,
        is_dashed: false,
        points: points.iter().map(|point| (point[0], point[place])).collect(),
    };
    let linear = Curve {
        name: "growing with the history".to_owned(),
        is_ours: false,
        is_dashed: true,
        points: points.iter().map(|point| (point[0], point[0] / 1_000.0)).collect(),
    };
    Chart {
        title: "Cost of one more turn, against the cost at 1,000 turns".to_owned(),
        unit: plot::times,
        curves: vec![
            column("append and commit a turn", 1),
            column("diff of adjacent snapshots", 2),
            column("find a node by id", 3),
            linear,
        ],
    }
}

/// Returns a number with thousands separators.
pub(crate) fn count(number: u64) -> String {
    bars::thousands(number as f64)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
