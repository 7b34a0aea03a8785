//! Prints every row of the table, and the growth over a million turns.
//!
//! `contextree-bench [--quick] [--only rows|expiry|selectors|growth] [--json FILE]`
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::{Command, ExitCode};

use contextree_bench::growth::Point;
use contextree_bench::measure::Row;
use contextree_bench::outcome::{finish, option};
use contextree_bench::rows::{Scale, all, expiries, selectors};
use contextree_bench::{growth, table};
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

/// Makes the allocator keep what is freed. Every round builds its contexts anew: a page that went back to the system between two rounds
/// would be cleared within the next one, and the system's work would be measured instead of ours. The allocator reads it when it starts.
const KEEP: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "-1");

fn main() -> ExitCode {
    if std::env::var_os(KEEP.0).is_none() {
        return again().unwrap_or_else(|error| {
            println!("cannot start again with {}: {error}", KEEP.0);
            ExitCode::FAILURE
        });
    }
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

/// Starts this program again with [`KEEP`] set.
fn again() -> std::io::Result<ExitCode> {
    let program = std::env::current_exe()?;
    let arguments = std::env::args_os().skip(1);
    let status = Command::new(program).args(arguments).env(KEEP.0, KEEP.1).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
