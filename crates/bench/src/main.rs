//! Prints every row of the table, and the growth over a million turns.
//!
//! `contextree-bench [--quick] [--only rows|expiry|selectors|growth] [--json FILE] [--svg FILE] [--page FILE]`
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::{Command, ExitCode};

use contextree_bench::growth::Point;
use contextree_bench::measure::Row;
use contextree_bench::rows::{Scale, all, expiries, selectors};
use contextree_bench::{growth, page, plot, table};
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let rows = match value("--only") {
        Some("growth") => Vec::new(),
        Some("expiry") => measure(quick, expiries),
        Some("selectors") => measure(quick, selectors),
        _ => measure(quick, all),
    };
    let points = match value("--only") {
        Some("rows" | "expiry" | "selectors") => Vec::new(),
        _ => grow(quick),
    };
    let files = [
        (value("--json"), table::json(&rows)),
        (value("--svg"), plot::svg(&points)),
        (value("--page"), page::page(&rows, &heap(quick), &points)),
    ];
    for (file, text) in files {
        if let Some(file) = file
            && let Err(error) = std::fs::write(file, text)
        {
            println!("cannot write {file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if rows.iter().all(Row::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Measures some of the rows, and shows each when it is done.
type Rows = fn(Scale, fn(&Row)) -> Vec<Row>;

fn measure(quick: bool, rows: Rows) -> Vec<Row> {
    let scale = if quick { Scale::QUICK } else { Scale::FULL };
    println!("| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|");
    rows(scale, |row| println!("{}", table::line(row)))
}

fn grow(quick: bool) -> Vec<Point> {
    println!("\n| turns | append + commit | diff | find by id |\n|--:|--:|--:|--:|");
    growth::curve(if quick { 30_000 } else { 1_000_000 }, |point| {
        let Point { turns, append, diff, find } = point;
        println!("| {turns} | {append:.2}× | {diff:.2}× | {find:.2}× |");
    })
}

/// Runs the program beside this one that counts allocations; it must be built.
fn heap(quick: bool) -> String {
    let program = std::env::current_exe().map(|path| path.with_file_name("contextree-heap"));
    let size: &[&str] = if quick { &["--quick"] } else { &[] };
    program
        .and_then(|program| Command::new(program).args(size).output())
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_else(|error| format!("contextree-heap could not be run: {error}\n"))
}
