//! Measures the embedded store against bare SQLite, and many writers against one. On a real disk,
//! in the current directory.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use contextree::Cycle;
use contextree_store::{
    Backend, Commit, ContextRow, Head, NewContext, Result, Sqlite, SqliteOptions, Step,
};
use contextree_testkit::Rng;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::measure::{Row, compare, median};

/// The number of bytes of a turn: its content, and its effects.
const BODIES: usize = 1_000;
const EFFECTS: usize = 24;

/// A comparison, with the 99th percentile of both.
#[derive(Clone, Debug)]
pub struct Tail {
    /// The comparison of medians.
    pub row: Row,
    /// The 99th percentile in nanoseconds: ours, and the reference.
    pub p99: (f64, f64),
}

/// Measures a durable commit of a kilobyte against one bare insert of the same bytes, with the same
/// settings.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the reference cannot be set up.
pub fn commit(rounds: usize, steps: usize) -> Result<Tail> {
    let folder = folder();
    let store = Sqlite::open(folder.path().join("store.db"), &SqliteOptions::default())?;
    let mut row = store.create(&context("main"))?;
    let bare = bare(&folder.path().join("bare.db"));
    let mut tails = (Vec::new(), Vec::new());
    let mut number = 0_u64;
    let compared = compare(
        "durable commit of a 1 KB turn, against one bare durable insert of the same bytes (p50)",
        1.5,
        rounds,
        || {
            let times = each(steps, || {
                let step = turn(&row);
                let start = Instant::now();
                row = store.append(row.id, row.revision, &step).expect("the store works");
                start
            });
            tails.0.push(at(&times, 0.99));
            at(&times, 0.5)
        },
        || {
            let times = each(steps, || {
                number += 1;
                let data = noise(number, EFFECTS + BODIES);
                let start = Instant::now();
                let mut insert =
                    bare.prepare_cached("INSERT INTO t(data) VALUES (?1)").expect("prepared");
                insert.execute([data]).expect("SQLite works");
                start
            });
            tails.1.push(at(&times, 0.99));
            at(&times, 0.5)
        },
    );
    Ok(Tail { row: compared, p99: (median(tails.0), median(tails.1)) })
}

/// Measures the time per commit with 64 threads, each with its own context, against one thread with
/// one context.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the store fails within a thread.
pub fn group(rounds: usize, steps: usize) -> Result<Row> {
    const WRITERS: usize = 64;
    let folder = folder();
    let store = Sqlite::open(folder.path().join("store.db"), &SqliteOptions::default())?;
    let mut rows: Vec<ContextRow> = (0..WRITERS)
        .map(|number| store.create(&context(&format!("context {number}"))))
        .collect::<Result<_>>()?;
    let mut alone = store.create(&context("alone"))?;
    let store = &store;
    Ok(compare(
        "64 contexts written at once: time per commit, against one writer",
        1.0 / 3.0,
        rounds,
        || {
            let ready = Barrier::new(WRITERS + 1);
            let each = steps.div_ceil(WRITERS);
            thread::scope(|scope| {
                for row in &mut rows {
                    let ready = &ready;
                    scope.spawn(move || {
                        ready.wait();
                        append(store, row, each);
                        ready.wait();
                    });
                }
                ready.wait();
                let start = Instant::now();
                ready.wait();
                nanoseconds(start) / (each * WRITERS) as f64
            })
        },
        || {
            let start = Instant::now();
            append(store, &mut alone, steps);
            nanoseconds(start) / steps as f64
        },
    ))
}

/// Returns the average number of pages that a commit of a kilobyte writes to the log, and the
/// number for a bare insert of the same bytes.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the reference cannot be set up.
pub fn pages() -> Result<(f64, f64)> {
    // Fewer than the log holds before it is copied into the file.
    const STEPS: usize = 150;
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Sqlite::open(&path, &SqliteOptions::default())?;
    let mut row = store.create(&context("main"))?;
    append(&store, &mut row, 300);
    store.reclaim()?;
    append(&store, &mut row, STEPS);
    let ours = log_pages(&path) / STEPS as f64;
    let path = folder.path().join("bare.db");
    let bare = bare(&path);
    let insert = |number| {
        let data = noise(number, EFFECTS + BODIES);
        bare.execute("INSERT INTO t(data) VALUES (?1)", [data]).expect("SQLite works");
    };
    (0..300).for_each(insert);
    bare.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("SQLite works");
    (0..STEPS as u64).for_each(insert);
    Ok((ours, log_pages(&path) / STEPS as f64))
}

/// Returns the number of pages in the log: a frame is a page and 24 bytes, after a header of 32
/// bytes.
fn log_pages(path: &Path) -> f64 {
    let log = path.with_extension("db-wal");
    let length = std::fs::metadata(log).map_or(0, |log| log.len());
    (length.saturating_sub(32) / (4_096 + 24)) as f64
}

pub(crate) fn folder() -> TempDir {
    TempDir::new_in(".").expect("the present directory can be written")
}

fn context(name: &str) -> NewContext {
    NewContext {
        name: name.to_owned(),
        created_ns: 0,
        settings: "{}".to_owned(),
        from: None,
        base: None,
        first: Step::default(),
    }
}

/// Opens SQLite with the settings of the store's writer.
pub(crate) fn bare(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a file can be made");
    connection
        .execute_batch(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -16384;
             CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;",
        )
        .expect("SQLite works");
    connection
}

fn append(store: &Sqlite, row: &mut ContextRow, steps: usize) {
    for _ in 0..steps {
        *row = store.append(row.id, row.revision, &turn(row)).expect("the store works");
    }
}

fn turn(row: &ContextRow) -> Step {
    let cycle = row.head.map_or(Cycle::FIRST, |head| head.cycle.next());
    let seed = row.revision.get() << 20 | row.id.get().unsigned_abs();
    let bytes = noise(seed, EFFECTS + BODIES);
    let mut key = [1; 16];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut digest = [0; 32];
    digest.copy_from_slice(&bytes[..32]);
    let (effects, bodies) = bytes.split_at(EFFECTS);
    Step {
        now_ns: 1_700_000_000_000_000_000 + i64::from(cycle),
        key,
        commits: vec![Commit { cycle, effects: Some(effects.to_vec()), bodies: bodies.to_vec() }],
        head: Some(Head { cycle, digest }),
        ..Step::default()
    }
}

/// Returns incompressible bytes.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Rng::new(seed).fill(&mut bytes);
    bytes
}

/// Returns nearly incompressible text: six random bits per byte.
pub(crate) fn text(seed: u64, length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";
    noise(seed + 1, length)
        .into_iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 64)]))
        .collect()
}

/// Returns the times of steps, sorted. A step returns its start.
fn each(steps: usize, mut step: impl FnMut() -> Instant) -> Vec<f64> {
    let mut times: Vec<f64> = (0..steps).map(|_| nanoseconds(step())).collect();
    times.sort_by(f64::total_cmp);
    times
}

pub(crate) fn at(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() as f64 * share) as usize;
    sorted.get(place).or(sorted.last()).copied().unwrap_or(f64::NAN)
}

fn nanoseconds(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}
