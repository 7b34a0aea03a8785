//! Prints the rows of the embedded store: `contextree-bench-store [--quick]`. It writes to the disk that the present directory is on.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use contextree_bench::store::{Tail, commit, group, pages};
use contextree_bench::{sessions, table};
use contextree_store::Result;
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{}: {error}", error.code());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [how, held, contexts, path] = &arguments[..]
        && how == "--idle"
    {
        let contexts = contexts.parse().unwrap_or(0);
        println!("{}", sessions::measure_idle(path.as_ref(), contexts, held == "held")?);
        return Ok(true);
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (rounds, steps) = if quick { (3, 300) } else { (9, 2_000) };
    println!("| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|");
    let Tail { row, p99 } = commit(rounds, steps)?;
    println!("{}", table::line(&row));
    let grouped = group(rounds, steps)?;
    println!("{}", table::line(&grouped));
    let (turns, contexts, opened) = if quick { (10_000, 4_000, 3) } else { (100_000, 10_000, 5) };
    let (session, session_p99) = sessions::commit(rounds, steps)?;
    let mut rows = vec![session];
    println!("{}", table::line(&rows[0]));
    for turns in [1_000, 10_000] {
        rows.push(sessions::size(turns)?);
        println!("{}", table::line(&rows[rows.len() - 1]));
    }
    let long = sessions::Long::new(turns)?;
    let [kept, held] = sessions::idle(contexts)?;
    for row in [long.opening(opened), long.middle(opened), kept, held] {
        println!("{}", table::line(&row));
        rows.push(row);
    }
    println!("\nsession: p99 {:.0} µs against {:.0} µs", session_p99.0 / 1e3, session_p99.1 / 1e3);
    let (ours, theirs) = row.nanoseconds;
    println!("commit: p50 {:.0} µs against {:.0} µs", ours / 1e3, theirs / 1e3);
    println!("commit: p99 {:.0} µs against {:.0} µs", p99.0 / 1e3, p99.1 / 1e3);
    let (many, one) = grouped.nanoseconds;
    println!("64 writers: {:.0} commits/s, one: {:.0} ({:.1}×)", 1e9 / many, 1e9 / one, one / many);
    let (ours, theirs) = pages()?;
    println!("pages written per commit: {ours:.2} against {theirs:.2}");
    Ok(row.holds() && grouped.holds() && rows.iter().all(contextree_bench::measure::Row::holds))
}
