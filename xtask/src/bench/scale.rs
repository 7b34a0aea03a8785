//! `cargo xtask bench --scale`: measures large workloads for a longer time.

use std::path::Path;
use std::process::Command;

use contextree_json::{Object, Value, parse};

use super::bars::PROGRAM;
use super::results::Results;
use super::{bars, machine};

/// The parts, each in a process of its own, so that memory left by one does not hide the use of the
/// next.
const PARTS: [&str; 5] = ["contexts", "turns", "content", "sqlite", "postgres"];

/// The options that take a size.
const SIZES: [&str; 5] = ["--contexts", "--turns", "--bytes", "--rate", "--seconds"];

/// Runs the program part by part, and keeps its rows. The arguments are those of the program:
/// parts, or none for all, and options.
pub(crate) fn run(
    root: &Path,
    programs: &Path,
    results: &mut Results,
    arguments: &[&str],
    quick: bool,
) -> Result<Vec<String>, String> {
    let is_known = |argument: &&str| {
        PARTS.contains(argument) || SIZES.contains(argument) || argument.parse::<f64>().is_ok()
    };
    if let Some(unknown) = arguments.iter().find(|argument| !is_known(argument)) {
        return Err(format!(
            "unknown part or size `{unknown}`; parts: {}; sizes: {}",
            PARTS.join(", "),
            SIZES.join(", ")
        ));
    }
    bars::build(root)?;
    let machine = machine::facts();
    let (chosen, options): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|argument| PARTS.contains(argument));
    let mut lines = Vec::new();
    for part in PARTS.into_iter().filter(|part| chosen.is_empty() || chosen.contains(part)) {
        bars::say(&format!("scale: {part}"));
        lines.extend(measure(programs, part, &options, quick)?);
    }
    let missed = lines.iter().filter(|row| !bars::holds(row));
    let missed = missed.map(|row| format!("missed: {}", bars::line(row))).collect();
    let mut section = Object::new();
    section.insert("machine", machine);
    section.insert("lines", Value::Array(lines));
    results.set("scale", Value::Object(section))?;
    Ok(missed)
}

fn measure(
    programs: &Path,
    part: &str,
    options: &[&str],
    quick: bool,
) -> Result<Vec<Value>, String> {
    let file = programs.join(format!("{PROGRAM}-scale.jsonl"));
    let _ = std::fs::remove_file(&file);
    let mut command = Command::new(programs.join(PROGRAM));
    command.arg("scale").arg(part).args(options).arg("--json").arg(&file);
    // On the disk of the build, which has enough space.
    command.current_dir(programs);
    if quick {
        command.arg("--quick");
    }
    let status = command.status().map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    if text.is_empty() {
        return Err(format!("{PROGRAM} scale {part} failed: {status}"));
    }
    let lines: Result<Vec<Value>, _> = text.lines().map(|line| parse(line.as_bytes())).collect();
    lines.map_err(|error| error.to_string())
}
