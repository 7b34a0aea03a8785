//! Writes the comparison, as a part of the page.

use std::fmt::Write as _;

use contextree_json::{Object, Value};

use super::bars::bars as compare;
use super::cell::METRICS;
use super::systems::{Group, SYSTEMS, System};
use crate::bench::page::machine;
use crate::bench::plot::{Chart, Curve, bytes, duration, svg, times};
use crate::bench::results::Results;
use crate::bench::{bars, page};

/// Writes the part, and its pictures.
pub(crate) fn write(out: &mut String, section: &Value, results: &Results) -> Result<(), String> {
    let lengths: Vec<u64> = list(section, "lengths");
    let runs = section.get("runs").unwrap_or(&Value::Null);
    out.push_str(INTRODUCTION);
    remarks(out, section);
    let pictures = [
        ("peers-latency.svg", "Latency of a turn, synced to disk", Group::Durable, "turn"),
        ("peers-disk.svg", "Bytes on disk", Group::Durable, "bytes"),
        ("peers-memory.svg", "Latency of a turn in memory, snapshot kept", Group::Memory, "turn"),
    ];
    for (file, title, group, metric) in pictures {
        let unit = if metric == "bytes" { bytes } else { duration };
        let curves = curves(runs, group, metric, &lengths);
        let chart = Chart { title: title.to_owned(), unit, curves };
        results.write(file, &svg(&chart))?;
        let _ = writeln!(out, "\n![{title}, against the length of the conversation]({file})");
    }
    out.push_str("\n### Bars of the comparison\n\n");
    out.push_str("| what | times (median) | spread | bar | |\n|---|--:|--:|--:|---|\n");
    let compared = compare(runs, &lengths);
    for bar in &compared {
        let _ = writeln!(out, "{}", bars::line(bar));
    }
    if compared.iter().any(|bar| !bars::holds(bar) && is_opened(bar)) {
        out.push_str(OPENED);
    }
    behind(out, runs, &lengths);
    for (metric, title) in METRICS {
        if !matches!(metric, "total" | "rss") {
            chat(out, runs, metric, title, &lengths);
        }
    }
    agent(out, runs, section);
    method(out, section, runs);
    machine(out, section);
    Ok(())
}

const INTRODUCTION: &str = "\n## Side by side with the alternatives\n\n\
    The same conversations through other systems and through ours, by `cargo xtask bench --peers`: chats of turns of 2 × 500 bytes, and an\n\
    agent that calls a tool at every step and gets 20 KB back. Systems are compared with those that promise the same when a turn is\n\
    done. The method, versions and settings are below.\n";

/// Explains a missed bar by a profile. The percentages are those of that profile, not of the run on
/// the page.
const OPENED: &str = "\nA store that was *opened just before* has nothing in memory, and there the bar on the state at half of the turns is missed; it holds for one that is in\n\
    use. A profile of 300 such reads at 1,000 turns (1,000 messages, 500 KB, 3 to 4 ms each) has no single reason: opening and closing the file, its schema and the\n\
    context's row take 25 %, reading rows 20 %, the records of the checkpoint 10 %, building the tree 20 %, memory that is allocated and freed 20 %.\n";

fn is_opened(bar: &Value) -> bool {
    let name = bar.get("name").and_then(Value::as_str);
    name.is_some_and(|name| name.contains("opened just before"))
}

/// Writes the remarks about this run: where it deviates from the method.
fn remarks(out: &mut String, section: &Value) {
    let remarks = section.get("remarks").and_then(Value::as_array).unwrap_or_default();
    if !remarks.is_empty() {
        out.push_str("\n**This run was not made as the method says:**\n\n");
        for remark in remarks.iter().filter_map(Value::as_str) {
            let _ = writeln!(out, "- {remark}");
        }
    }
}

/// Returns a list of numbers of the section.
fn list(section: &Value, name: &str) -> Vec<u64> {
    let items = section.get(name).and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_u64).collect()
}

fn cell<'a>(runs: &'a Value, system: &str, kind: &str, length: u64) -> Option<&'a Value> {
    runs.get(system)?.get(kind)?.get(&length.to_string())
}

fn median(cell: Option<&Value>, metric: &str) -> Option<f64> {
    cell?.get(metric)?.get("median")?.as_f64()
}

fn curves(runs: &Value, group: Group, metric: &str, lengths: &[u64]) -> Vec<Curve> {
    let systems = SYSTEMS.iter().filter(|system| system.group == group);
    let curve = |system: &System| Curve {
        name: system.name.to_owned(),
        is_ours: system.is_ours,
        is_dashed: false,
        points: lengths
            .iter()
            .filter_map(|length| {
                Some((*length as f64, median(cell(runs, system.name, "chat", *length), metric)?))
            })
            .collect(),
    };
    systems.map(curve).filter(|curve| !curve.points.is_empty()).collect()
}

/// Returns the text of a cell: the median and the spread, or the reason why there is none.
fn text(cell: Option<&Value>, metric: &str) -> String {
    let Some(cell) = cell else { return "not run".to_owned() };
    if let Some(value) = cell.get(metric) {
        let number = |name: &str| value.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        let unit = if matches!(metric, "bytes" | "memory" | "rss") { bytes } else { duration };
        let (median, min, max) = (number("median"), number("min"), number("max"));
        let spread = if max > min * 1.02 {
            format!(" <sub>{}–{}</sub>", unit(min), unit(max))
        } else {
            String::new()
        };
        return format!("{}{spread}", unit(median));
    }
    let why = |name: &str| cell.get("why")?.get(name)?.as_str();
    why(metric).or_else(|| why("all")).unwrap_or("not measured").to_owned()
}

fn chat(out: &mut String, runs: &Value, metric: &str, title: &str, lengths: &[u64]) {
    let heads: Vec<String> =
        lengths.iter().map(|length| format!("{} turns", page::count(*length))).collect();
    let _ = write!(
        out,
        "\n### Chat: {title}\n\n| | {} |\n|---|{}\n",
        heads.join(" | "),
        "--:|".repeat(lengths.len())
    );
    for (group, name) in Group::ALL {
        let systems: Vec<_> = SYSTEMS.iter().filter(|system| system.group == group).collect();
        if matches!(metric, "bytes" | "open" | "middle_cold") && group == Group::Memory {
            continue;
        }
        let _ = writeln!(out, "| *{name}* |{}", " |".repeat(lengths.len()));
        for system in systems.into_iter().filter(|system| runs.get(system.name).is_some()) {
            let name = if system.is_ours {
                format!("**{}**", system.name)
            } else {
                system.name.to_owned()
            };
            let mut last = String::new();
            let cells: Vec<String> = lengths
                .iter()
                .map(|length| {
                    let text = text(cell(runs, system.name, "chat", *length), metric);
                    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
                    let shown =
                        if !is_number && text == last { "″".to_owned() } else { text.clone() };
                    last = text;
                    shown
                })
                .collect();
            let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
        }
    }
}

fn agent(out: &mut String, runs: &Value, section: &Value) {
    let steps = section.get("steps").and_then(Value::as_u64).unwrap_or(0);
    let metrics = ["turn", "bytes", "memory", "middle", "render"];
    let _ = write!(
        out,
        "\n### An agent run of {steps} steps with 20 KB results\n\n\
         A step is a sentence, a call, and its result; {} of text in all.\n\n\
         | | per step | bytes on disk | memory | state at half of the steps | render a request |\n|---|--:|--:|--:|--:|--:|\n",
        bytes((steps * 20_100 + 500) as f64)
    );
    for (group, name) in Group::ALL {
        let _ = writeln!(out, "| *{name}* | | | | | |");
        for system in SYSTEMS.iter().filter(|system| system.group == group) {
            let Some(cell) = cell(runs, system.name, "agent", steps) else { continue };
            let name = if system.is_ours {
                format!("**{}**", system.name)
            } else {
                system.name.to_owned()
            };
            let cells = metrics.map(|metric| text(Some(cell), metric));
            let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
        }
    }
}

/// Writes every number in which another system of the same group is better than ours.
fn behind(out: &mut String, runs: &Value, lengths: &[u64]) {
    out.push_str("\n### Where other systems are better\n\n");
    let mut found = Vec::new();
    for (group, _) in Group::ALL {
        let Some(ours) = SYSTEMS.iter().find(|system| system.group == group && system.is_ours)
        else {
            continue;
        };
        for (metric, title) in
            METRICS.iter().filter(|(metric, _)| !matches!(*metric, "total" | "rss"))
        {
            for peer in SYSTEMS.iter().filter(|system| system.group == group && !system.is_ours) {
                let at: Vec<String> = lengths
                    .iter()
                    .filter_map(|length| {
                        let of = |name| median(cell(runs, name, "chat", *length), metric);
                        let (mine, theirs) = (of(ours.name)?, of(peer.name)?);
                        (mine > theirs).then(|| {
                            format!("{} at {} turns", times(mine / theirs), page::count(*length))
                        })
                    })
                    .collect();
                if !at.is_empty() {
                    found.push(format!(
                        "- {title}: {} against {}: {}",
                        ours.name,
                        peer.name,
                        at.join(", ")
                    ));
                }
            }
        }
    }
    if found.is_empty() {
        out.push_str("In no number of the chats.\n");
    } else {
        out.push_str("By these factors, in the numbers below:\n\n");
        let _ = writeln!(out, "{}", found.join("\n"));
    }
}

fn method(out: &mut String, section: &Value, runs: &Value) {
    let repetitions = section.get("repetitions").and_then(Value::as_u64).unwrap_or(0);
    let _ = write!(
        out,
        "\n### Method\n\n\
         - A conversation is written to a file once; every program reads it line by line. The text is made of 4,000 words of random letters.\n\
         - Each run is a process of its own with a fresh store. It begins with a few uncounted turns in a store that is discarded.\n\
         - Systems take turns: in each round every system runs once, and who comes first moves on. There are {repetitions} rounds; a run of more\n  \
           than 10 s is done three times, one of more than two minutes once. A run that would take more than 20 minutes (12 beyond 1,000\n  \
           turns) or 8 GB, by what the shorter ones took and how that grew, is left out, one that does take so long is ended, and the cell\n  \
           says so.\n\
         - *Latency of a turn* is the median of the last fifth of the turns, from 5 to 100 of them; numbers in the tables are medians of the\n  \
           runs, with the smallest and the largest beside them. In agent runs it is the whole run, divided by its steps: one system writes\n  \
           in the background and waits at the end.\n\
         - A turn is done when the program has the control back and the system has kept its promise: everything of the turn can be read\n  \
           again, after a loss of power too where it is synced.\n\
         - Every program reads back the last state and the state at half of the turns, message by message; the command fails if count and bytes\n  \
           are not the same for all.\n\
         - *Memory* is the growth of resident memory over the conversation, so that what an interpreter takes by itself is not counted.\n\
         - *Open again* is measured in a process that has done it before: what is cached by the operating system is, what a program\n  \
           keeps is not. The same holds for *opened just before*.\n\
         - *Render* begins with the state in memory and ends with the bytes of a request to OpenAI's chat interface, or what the system has in its\n  \
           place.\n\
         - All Rust programs use the allocator of the system, and the same profile.\n\
         {}\
         \n### Systems and settings\n\n| system | versions | settings | remarks |\n|---|---|---|---|\n",
        noise(runs)
    );
    for system in SYSTEMS {
        let Some(kinds) =
            runs.get(system.name).and_then(|kinds| kinds.get("chat")).and_then(Value::as_object)
        else {
            continue;
        };
        let fact = |name: &str| kinds.iter().find_map(|(_, cell)| cell.get(name).cloned());
        let versions = match fact("versions") {
            Some(Value::Object(versions)) => versions
                .iter()
                .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()))
                .collect::<Vec<_>>()
                .join(", "),
            _ => "this version".to_owned(),
        };
        let settings =
            fact("settings").and_then(|fact| fact.as_str().map(str::to_owned)).unwrap_or_default();
        let _ = writeln!(out, "| {} | {versions} | {settings} | {} |", system.name, system.remark);
    }
}

/// Returns the spread between repetitions of the same run, as a line of the method.
fn noise(runs: &Value) -> String {
    let cells = SYSTEMS.iter().filter_map(|system| runs.get(system.name)?.get("chat")?.as_object());
    let mut spreads: Vec<f64> = cells
        .flat_map(Object::iter)
        .filter_map(|(_, cell)| {
            let turn = cell.get("turn")?;
            let number = |name: &str| turn.get(name).and_then(Value::as_f64);
            let ratio = number("max")? / number("min")?;
            (number("runs")? >= 3.0).then_some(ratio)
        })
        .collect();
    spreads.sort_by(f64::total_cmp);
    let at = |share: usize| spreads.get(spreads.len() * share / 100);
    let (Some(half), Some(most)) = (at(50), at(90)) else { return String::new() };
    format!(
        "- *Noise*: the slowest of three to five repetitions of a run had {half:.1}× the latency of the fastest in half of the cells, and less than\n  \
           {most:.1}× in nine of ten. Ratios between two systems should come out again within that. Of 27 ratios in two whole runs on one\n  \
           machine (2026-11-16), 21 differed by less than 1.4×, and 25 by less than 1.7×; selecting and rendering in memory against\n  \
           pactree, which take us microseconds, by 2.2× and 3.1×.\n"
    )
}
