//! Measures one very long context.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::time::Instant;

use contextree::SnapshotAddress;
use contextree_store::{ContextSettings, StoreError};

use super::{Found, open, percentiles, row, turn};
use crate::measure::median;
use crate::store::folder;

/// The number of bytes of a message. All messages stay in the working state, so short ones allow
/// more turns.
const MESSAGE: usize = 100;

/// The number of turns that are measured individually, after a hundredth of the turns and at the
/// end.
const WINDOW: u64 = 500;

/// How much slower a durable turn may be at the end.
const GROWTH: f64 = 1.5;

/// Writes one context of this many turns: most of them a thousand per step, the measured ones
/// individually.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If a snapshot cannot be read.
pub fn turns(count: u64) -> Result<Found, StoreError> {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = open(&path)?;
    let mut session = store.create("main", &ContextSettings::default())?;
    let mut windows = Vec::new();
    let mut written = 0;
    let start = Instant::now();
    for end in [count / 100, count] {
        let last = end.saturating_sub(WINDOW).max(written);
        while written < last {
            let batch = (last - written).min(1_000);
            session.write(|context| {
                (written..written + batch).for_each(|number| turn(context, number, MESSAGE));
                Ok::<_, StoreError>(())
            })?;
            written += batch;
        }
        let mut times = Vec::new();
        while written < end {
            let start = Instant::now();
            session.write(|context| {
                turn(context, written, MESSAGE);
                Ok::<_, StoreError>(())
            })?;
            times.push(start.elapsed().as_nanos() as f64);
            written += 1;
        }
        windows.push(times);
    }
    let seconds = start.elapsed().as_secs_f64();
    let resident = crate::peers::resident();
    let mut times = Vec::new();
    for index in 1..=20 {
        let start = Instant::now();
        let cycle = count * index / 21;
        let snapshot = session.snapshot(SnapshotAddress::Cycle(cycle.max(1))).expect("it is there");
        std::hint::black_box(snapshot.digest());
        times.push(start.elapsed().as_nanos() as f64);
    }
    drop((session, store));
    let start = Instant::now();
    let store = open(&path)?;
    let session = store.session("main")?;
    let head = session.newest()?.map_or(contextree::Cycle::ZERO, contextree::Snapshot::cycle);
    let opened = start.elapsed().as_secs_f64();
    assert_eq!(u64::from(head), count);
    drop((session, store));
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    let ratio = median(windows[1].clone()) / median(windows[0].clone());
    let (early, late) =
        (percentiles(&mut windows[0].clone()), percentiles(&mut windows[1].clone()));
    let name = format!(
        "{count} turns in one context: durable turn at the end, against {} turns (p50)",
        count / 100
    );
    Ok(Found {
        rows: vec![row(name, ratio, GROWTH)],
        notes: vec![
            format!(
                "{count} turns of 2 × {MESSAGE} bytes in one context: written in {seconds:.0} s; the file has {:.0} MB, {:.0} bytes for each turn; resident memory {:.0} MB, all of it at hand",
                size as f64 / 1e6,
                size as f64 / count as f64,
                resident as f64 / 1e6
            ),
            format!("a durable turn at {} turns: {early}; at {count} turns: {late}", count / 100),
            format!(
                "any of {count} snapshots, in the session that wrote: {}",
                percentiles(&mut times)
            ),
            format!("to open the context of {count} turns again: {opened:.2} s"),
        ],
    })
}
