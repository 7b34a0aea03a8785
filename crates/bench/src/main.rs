//! Prints every row of the table, and the growth over a million turns.
//!
//! `contextree-bench [--quick] [--only rows|growth] [--json FILE] [--svg FILE]`
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use contextree_bench::rows::{Scale, all};
use contextree_bench::{growth, plot, table};
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1))
    };
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let only = value("--only").map(String::as_str);
    let mut holds = true;
    if only != Some("growth") {
        let scale = if quick { Scale::QUICK } else { Scale::FULL };
        println!("| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|");
        let rows = all(scale, |row| println!("{}", table::line(row)));
        holds = rows.iter().all(contextree_bench::measure::Row::holds);
        if let Some(file) = value("--json")
            && let Err(error) = std::fs::write(file, table::json(&rows))
        {
            println!("cannot write {file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if only != Some("rows") {
        println!("\n| turns | append + commit | diff | find by id |\n|--:|--:|--:|--:|");
        let points = growth::curve(if quick { 30_000 } else { 1_000_000 }, |point| {
            let growth::Point { turns, append, diff, find } = point;
            println!("| {turns} | {append:.2}× | {diff:.2}× | {find:.2}× |");
        });
        if let Some(file) = value("--svg")
            && let Err(error) = std::fs::write(file, plot::svg(&points))
        {
            println!("cannot write {file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
