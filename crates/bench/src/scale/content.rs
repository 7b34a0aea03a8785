//! Measures a store with a lot of content.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use contextree::{NewNode, Place};
use contextree_store::{ContextSettings, StoreError};

use super::{Found, Memory, open, percentiles};
use crate::store::{folder, text};

/// The number of writing threads, the bytes of a result, the results of a commit, the commits of a
/// context: 10 MB in each context.
const WRITERS: u64 = 4;
const RESULT: usize = 20_000;
const RESULTS: u64 = 10;
const COMMITS: u64 = 50;

/// Fills a store with contexts of 10 MB each, up to this many bytes of content.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the store fails within a thread.
pub fn content(bytes: u64) -> Result<Found, StoreError> {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = open(&path)?;
    let each = RESULT as u64 * RESULTS * COMMITS;
    let count = bytes.div_ceil(each).max(1);
    let next = AtomicU64::new(0);
    let (memory, times) = (Mutex::new(Memory::default()), Mutex::new(Vec::new()));
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let name = format!("context {number}");
                    let mut session =
                        store.create(&name, &ContextSettings::default()).expect("the store works");
                    for commit in 0..COMMITS {
                        // Created before the clock starts, so that only the store is timed.
                        let results: Vec<String> = (0..RESULTS)
                            .map(|index| {
                                text((number * COMMITS + commit) * RESULTS + index, RESULT)
                            })
                            .collect();
                        let start = Instant::now();
                        session
                            .write(|context| {
                                for result in &results {
                                    let node = NewNode::text(result).role("tool");
                                    context.add(Place::head(), node).expect("it is allowed");
                                }
                                context.commit().expect("a commit succeeds");
                                Ok::<_, StoreError>(())
                            })
                            .expect("the store works");
                        let taken = start.elapsed().as_nanos() as f64;
                        times.lock().expect("no thread failed").push(taken);
                    }
                    drop(session);
                    memory.lock().expect("no thread failed").sample();
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut opened = Vec::new();
    for index in 0..count.min(20) {
        let name = format!("context {}", index.wrapping_mul(7_919) % count);
        let start = Instant::now();
        let session = store.session(&name)?;
        let thread = session.newest()?.map_or(0, |head| head.thread().len());
        opened.push(start.elapsed().as_nanos() as f64);
        assert!(thread as u64 > each);
    }
    drop(store);
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    let stored = count * each;
    let mut times = times.into_inner().expect("no thread failed");
    let notes = vec![
        format!(
            "{:.2} GB of content in one store, in {count} contexts, results of {RESULT} bytes, written by {WRITERS} threads: {:.0} MB/s; the file has {:.2} GB",
            stored as f64 / 1e9,
            stored as f64 / 1e6 / seconds,
            size as f64 / 1e9
        ),
        format!("a commit of {RESULTS} results: {}", percentiles(&mut times)),
        format!(
            "to open a context of {} MB and render it whole: {}",
            each / 1_000_000,
            percentiles(&mut opened)
        ),
    ];
    let memory = memory.into_inner().expect("no thread failed");
    let what = format!("{:.2} GB in one store", stored as f64 / 1e9);
    Ok(Found { rows: vec![memory.flat(&what)], notes })
}
