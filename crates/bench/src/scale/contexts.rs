//! Measures a store with many contexts.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use contextree::Context;
use contextree_store::{ContextSettings, StoreError};

use super::{Found, Memory, WRITERS, open, percentiles, turn};
use crate::store::folder;

/// The number of turns of each context, and the bytes of a message.
const TURNS: u64 = 5;
const MESSAGE: usize = 500;

/// Fills a store with contexts, then opens some of them at random.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the store fails within a thread.
pub fn contexts(count: u64) -> Result<Found, StoreError> {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = open(&path)?;
    let (next, mut memory) = (AtomicU64::new(0), Memory::default());
    let start = Instant::now();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            break;
                        }
                        let mut context = Context::new();
                        (0..TURNS)
                            .for_each(|index| turn(&mut context, number * TURNS + index, MESSAGE));
                        let settings = ContextSettings::default();
                        store
                            .adopt(&format!("context {number}"), context, &settings)
                            .expect("the store works");
                    }
                })
            })
            .collect();
        // Samples at every hundredth.
        let mut sampled = 0;
        while writers.iter().any(|writer| !writer.is_finished()) {
            let done = next.load(Ordering::Relaxed).min(count) * 100 / count;
            if done > sampled {
                memory.sample();
                sampled = done;
            }
            thread::sleep(Duration::from_millis(5));
        }
        memory.sample();
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut times = Vec::new();
    for index in 0..count.min(1_000) {
        let name = format!("context {}", index.wrapping_mul(7_919_317) % count);
        let start = Instant::now();
        let session = store.session(&name)?;
        let head = session.newest()?.map_or(contextree::Cycle::ZERO, contextree::Snapshot::cycle);
        times.push(start.elapsed().as_nanos() as f64);
        assert_eq!(u64::from(head), TURNS);
    }
    let mut pages = Vec::new();
    let mut after: Option<String> = None;
    let mut listed = 0;
    loop {
        let start = Instant::now();
        let rows = store.contexts(after.as_deref(), 1_000)?;
        pages.push(start.elapsed().as_nanos() as f64);
        listed += rows.len() as u64;
        match rows.last() {
            Some(row) => after = Some(row.name.clone()),
            None => break,
        }
    }
    assert_eq!(listed, count);
    drop(store);
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    let notes = vec![
        format!(
            "{count} contexts of {TURNS} turns of 2 × {MESSAGE} bytes, written by {WRITERS} threads: {:.0} contexts/s; the file has {:.0} MB, {:.0} bytes for each context",
            count as f64 / seconds,
            size as f64 / 1e6,
            size as f64 / count as f64
        ),
        format!("to open one of {count} contexts at random: {}", percentiles(&mut times)),
        format!("to list a page of 1,000 of {count} contexts: {}", percentiles(&mut pages)),
    ];
    Ok(Found { rows: vec![memory.flat(&format!("{count} contexts in one store"))], notes })
}
