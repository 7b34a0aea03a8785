//! Measures the rows of the embedded store.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use contextree_store::Result;

use super::Common;
use crate::measure::Row;
use crate::outcome::{finish, note};
use crate::store::{Tail, commit, group, pages};
use crate::{calls, reads, sessions, table};

/// Options of [`measure_idle`].
#[derive(Debug, clap::Args)]
pub(crate) struct Idle {
    /// `held` if sessions stay open
    how: String,
    contexts: u64,
    path: PathBuf,
}

/// Prints the memory of idle contexts in bytes.
pub(crate) fn measure_idle(idle: &Idle) -> ExitCode {
    report(sessions::measure_idle(&idle.path, idle.contexts, idle.how == "held").map(|bytes| {
        println!("{bytes}");
        ExitCode::SUCCESS
    }))
}

pub(crate) fn run(common: &Common) -> ExitCode {
    report(measure(common))
}

fn report(outcome: Result<ExitCode>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        println!("{}: {error}", error.code());
        ExitCode::FAILURE
    })
}

fn measure(common: &Common) -> Result<ExitCode> {
    let quick = common.quick;
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
    let time = Duration::from_millis(if quick { 100 } else { 400 });
    let (readers, blocked) = reads::readers(rounds, 2, time)?;
    take(readers);
    calls::rows(rounds, steps / 10)?.into_iter().for_each(&mut take);
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
        format!(
            "readers while one thread writes: blocked for {:.2} % of their time",
            blocked * 1e2
        ),
    ];
    println!("\n{}", notes.join("\n"));
    Ok(finish(common, &rows, &notes.map(|text| note(&text))))
}
