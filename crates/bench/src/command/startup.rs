//! Measures the start-up of `ctx`, from process start to answer, against `sqlite3` selecting one
//! row of the same file.
//!
//! `ctx` must be in the folder of this program; `sqlite3` is searched for on the `PATH`.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use contextree::{NewNode, Place};
use contextree_store::{ContextSettings, Store, StoreOptions};
use tempfile::TempDir;

use super::Common;
use crate::measure::{Row, compare, time};
use crate::outcome::{finish, note};
use crate::{table, work};

/// The number of turns in the small store.
const TURNS: usize = 20;

/// The bars: a multiple of `sqlite3`, and nanoseconds.
const BAR: f64 = 3.0;
const LONGEST: f64 = 20e6;

pub(crate) fn run(common: &Common) -> ExitCode {
    match measure(if common.quick { 15 } else { 101 }) {
        Ok(rows) => {
            println!("{}", table::markdown(&rows));
            let (ours, theirs) = rows[0].nanoseconds;
            let text =
                format!("ctx: p50 {:.1} ms, sqlite3: p50 {:.1} ms", ours / 1e6, theirs / 1e6);
            println!("{text}");
            finish(common, &rows, &[note(&text)])
        }
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: usize) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let folder = TempDir::new_in(".")?;
    let file = folder.path().join("store.db");
    let store = format!("sqlite:{}", file.display());
    let node = fill(&store)?;
    let ctx = std::env::current_exe()?.with_file_name("ctx");
    let select = format!("@t0 [id='{node}']");
    let select = ["--store", &store, "select", &select, "--jsonl"];
    // Both must succeed once; otherwise a failure would be measured.
    let answer = Command::new(&ctx).args(select).output()?;
    if !String::from_utf8_lossy(&answer.stdout).contains(&node) {
        let said = String::from_utf8_lossy(&answer.stderr).into_owned();
        return Err(format!("ctx did not answer: {said}").into());
    }
    let query = "SELECT bodies FROM commits WHERE cycle = 10";
    let answer = Command::new("sqlite3").arg(&file).arg(query).output()?;
    if answer.stdout.len() < 100 {
        return Err("sqlite3 did not answer".into());
    }
    let row = compare(
        &format!(
            "start-up: `ctx select` of one node in a store of {TURNS} turns, against `sqlite3` selecting one row of it"
        ),
        BAR,
        rounds,
        || spawn(&ctx, &select.map(str::to_owned)),
        || spawn(Path::new("sqlite3"), &[file.display().to_string(), query.to_owned()]),
    );
    let ratio = row.nanoseconds.0 / LONGEST;
    let limit = Row {
        name: "start-up: the same `ctx select`, against 20 ms".to_owned(),
        ratio,
        spread: (ratio, ratio),
        bar: 1.0,
        is_gain: false,
        nanoseconds: (row.nanoseconds.0, LONGEST),
    };
    Ok(vec![row, limit])
}

/// Creates a small store, and returns the id of a node in it.
fn fill(url: &str) -> Result<String, Box<dyn std::error::Error>> {
    let store = Store::open_with(url, StoreOptions::deterministic())?;
    let mut session = store.create("main", &ContextSettings::default())?;
    session.write(|context| -> Result<String, Box<dyn std::error::Error>> {
        let mut last = String::new();
        for number in 0..TURNS {
            let node = NewNode::text(work::text(number, 500)).role("user");
            last = context.add(Place::head(), node)?;
            context.commit()?;
        }
        Ok(last)
    })
}

fn spawn(program: &Path, arguments: &[String]) -> f64 {
    time(1, || {
        let status = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("it ran a moment ago");
        assert!(status.success(), "it answered a moment ago");
    })
}
