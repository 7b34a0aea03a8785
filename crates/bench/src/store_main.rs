//! Prints the rows of the embedded store: `contextree-bench-store [--quick] [--json FILE]`. It writes to the disk that the present directory is on.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use contextree_bench::measure::Row;
use contextree_bench::outcome::{finish, note};
use contextree_bench::store::{Tail, commit, group, pages};
use contextree_bench::{sessions, table};
use contextree_store::Result;
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            println!("{}: {error}", error.code());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [how, held, contexts, path] = &arguments[..]
        && how == "--idle"
    {
        let contexts = contexts.parse().unwrap_or(0);
        println!("{}", sessions::measure_idle(path.as_ref(), contexts, held == "held")?);
        return Ok(ExitCode::SUCCESS);
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (rounds, steps) = if quick { (3, 300) } else { (9, 2_000) };
    let (turns, contexts, opened) = if quick { (10_000, 4_000, 3) } else { (100_000, 10_000, 5) };
    println!("| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|");
    let mut rows = Vec::new();
    let mut take = |row: Row| {
        println!("{}", table::line(&row));
        rows.push(row);
    };
    let Tail { row, p99 } = commit(rounds, steps)?;
    let (ours, theirs) = row.nanoseconds;
    take(row);
    let grouped = group(rounds, steps)?;
    let (many, one) = grouped.nanoseconds;
    take(grouped);
    let (session, session_p99) = sessions::commit(rounds, steps)?;
    take(session);
    for turns in [1_000, 10_000] {
        take(sessions::size(turns)?);
    }
    let long = sessions::Long::new(turns)?;
    take(long.opening(opened));
    take(long.middle(opened));
    drop(long);
    sessions::idle(contexts)?.into_iter().for_each(&mut take);
    let (our_pages, their_pages) = pages()?;
    let notes = [
        format!("commit: p50 {:.0} µs against {:.0} µs", ours / 1e3, theirs / 1e3),
        format!("commit: p99 {:.0} µs against {:.0} µs", p99.0 / 1e3, p99.1 / 1e3),
        format!("session: p99 {:.0} µs against {:.0} µs", session_p99.0 / 1e3, session_p99.1 / 1e3),
        format!(
            "64 writers: {:.0} commits/s, one: {:.0} ({:.1}×)",
            1e9 / many,
            1e9 / one,
            one / many
        ),
        format!("pages written per commit: {our_pages:.2} against {their_pages:.2}"),
    ];
    println!("\n{}", notes.join("\n"));
    Ok(finish(&rows, &notes.map(|text| note(&text))))
}
