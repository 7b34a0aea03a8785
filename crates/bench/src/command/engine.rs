//! Prints every row of the table, and the growth over a million turns.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use super::Common;
use crate::growth::Point;
use crate::measure::Row;
use crate::outcome::finish;
use crate::rows::{Scale, all, expiries, selectors};
use crate::{growth, table};

/// Makes the allocator keep freed memory. Every round builds its contexts from scratch: a page
/// returned to the system between two rounds would be cleared within the next one, and the
/// benchmark would measure the system instead of our code. The allocator reads the variable when it
/// starts.
pub(crate) const KEEP: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "-1");

/// Options of `engine`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Measure only this part
    #[arg(long)]
    only: Option<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Rows,
    Expiry,
    Selectors,
    Growth,
}

pub(crate) fn run(common: &Common, options: &Options) -> ExitCode {
    if std::env::var_os(KEEP.0).is_none() {
        return super::forward("contextree-bench-mimalloc", &[KEEP]);
    }
    let quick = common.quick;
    let rows = match options.only {
        Some(Part::Growth) => Vec::new(),
        Some(Part::Expiry) => measure(quick, expiries),
        Some(Part::Selectors) => measure(quick, selectors),
        Some(Part::Rows) | None => measure(quick, all),
    };
    let points = match options.only {
        Some(Part::Rows | Part::Expiry | Part::Selectors) => Vec::new(),
        Some(Part::Growth) | None => grow(quick),
    };
    let points: Vec<String> = points.iter().map(Point::json).collect();
    finish(common, &rows, &points)
}

/// Measures some of the rows, and reports each when it is done.
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
