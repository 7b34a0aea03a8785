//! Prints every row of the table, and the growth over a million turns.
//!
//! `contextree-bench [--quick] [--only rows|expiry|selectors|growth] [--json FILE]`
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use contextree_bench::growth::Point;
use contextree_bench::measure::Row;
use contextree_bench::outcome::{finish, option};
use contextree_bench::rows::{Scale, all, expiries, selectors};
use contextree_bench::{growth, table};
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let only = option("--only");
    let rows = match only.as_deref() {
        Some("growth") => Vec::new(),
        Some("expiry") => measure(quick, expiries),
        Some("selectors") => measure(quick, selectors),
        _ => measure(quick, all),
    };
    let points = match only.as_deref() {
        Some("rows" | "expiry" | "selectors") => Vec::new(),
        _ => grow(quick),
    };
    let points: Vec<String> = points.iter().map(Point::json).collect();
    finish(&rows, &points)
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
