//! Measures many commits per second, for a long time.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::fs::File;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use contextree_store::{ContextSettings, Store, StoreError, StoreOptions};

use super::{Found, IDLE, Memory, WRITERS, open, percentiles, turn};
use crate::measure::Row;
use crate::store::folder;

/// Bytes of a message; a turn has two.
const MESSAGE: usize = 500;

/// The number of turns of a context, after which its writer starts another one.
const TURNS: u64 = 50;

/// The minimum share of the requested rate.
const SHARE: f64 = 0.95;

/// The target store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// Runs many writers that commit turns of a kilobyte at a rate, or as fast as the disk syncs if
/// that is less.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the store fails within a thread.
pub fn rate(target: Target, wanted: f64, seconds: f64) -> Result<Found, StoreError> {
    let folder = folder();
    let syncs = syncs(&folder.path().join("syncs"));
    let wanted = wanted.min(syncs);
    let (store, name) = match target {
        Target::Sqlite => (open(&folder.path().join("store.db"))?, "SQLite"),
        Target::Postgres => {
            let parameters = format!("schema=scale_{}&pool_max={WRITERS}", std::process::id());
            let url = contextree_testkit::postgres::shared().url_with(&parameters);
            let options = StoreOptions { idle_bytes: IDLE, ..StoreOptions::deterministic() };
            (contextree_store_postgres::open(&url, options)?, "PostgreSQL")
        }
    };
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let (times, mut memory) = (Mutex::new(Vec::new()), Memory::default());
    let start = Instant::now();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (store, done, is_over, times) = (&store, &done, &is_over, &times);
            scope.spawn(move || {
                let pace = wanted / WRITERS as f64;
                // Allocated up front, so that the recorded times are not mistaken for growth of the
                // store.
                let mut own = vec![f64::NAN; (pace * seconds * 1.1) as usize + 100];
                own.clear();
                write(store, writer, pace, (done, is_over), &mut own);
                times.lock().expect("no thread failed").extend(own);
            });
        }
        for _ in 0..100 {
            thread::sleep(Duration::from_secs_f64(seconds / 100.0));
            memory.sample();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let reached = done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
    let mut times = times.into_inner().expect("no thread failed");
    let ratio = reached / wanted;
    let rate = Row {
        name: format!(
            "{name}, {WRITERS} writers for {seconds:.0} s: commits per second, against {wanted:.0}"
        ),
        ratio,
        spread: (ratio, ratio),
        bar: SHARE,
        is_gain: true,
        nanoseconds: (reached, wanted),
    };
    let notes = vec![format!(
        "{name}, {WRITERS} writers for {seconds:.0} s, turns of 2 × {MESSAGE} bytes, synced: {reached:.0} commits/s of {wanted:.0} wanted (the disk syncs {syncs:.0} times a second); a commit takes {}",
        percentiles(&mut times)
    )];
    Ok(Found { rows: vec![rate, memory.flat(&format!("{name}, {wanted:.0} commits/s"))], notes })
}

/// Commits turns at a pace, and records the times. After a late commit, the next one follows at
/// once.
fn write(
    store: &Store,
    writer: u64,
    pace: f64,
    (done, is_over): (&AtomicU64, &AtomicBool),
    times: &mut Vec<f64>,
) {
    let step = Duration::from_secs_f64(1.0 / pace);
    // Writers start at different times.
    let mut due = Instant::now() + step.mul_f64(writer as f64 / WRITERS as f64);
    for number in 0.. {
        let name = format!("context {writer} {number}");
        let mut session =
            store.create(&name, &ContextSettings::default()).expect("the store works");
        for index in 0..TURNS {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(due.saturating_duration_since(Instant::now()));
            // A writer that is more than a second late does not catch up.
            due = (due + step).max(Instant::now() - Duration::from_secs(1));
            let seed = (writer << 40) | (number * TURNS + index);
            let start = Instant::now();
            session
                .write(|context| {
                    turn(context, seed, MESSAGE);
                    Ok::<_, StoreError>(())
                })
                .expect("the store works");
            times.push(start.elapsed().as_nanos() as f64);
            done.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns how many times per second one writer can append a kilobyte to a file and sync it.
fn syncs(path: &std::path::Path) -> f64 {
    let mut file = File::create(path).expect("the present directory can be written");
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < Duration::from_secs(2) {
        file.write_all(&[7; 1_024]).expect("the disk can be written");
        file.sync_data().expect("the disk can be synced");
        count += 1;
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}
