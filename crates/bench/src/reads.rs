//! Reading one context from many threads while another thread writes to it.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use contextree::{Context, NewNode, Place};
use contextree_store::{ContextSettings, Reader, Session, Store, StoreError};

use crate::measure::{Row, median};
use crate::store::{folder, text};

/// How many turns the context has.
const TURNS: u64 = 400;

/// The pause of the writer between two turns: an agent that is much faster than any model.
const PAUSE: Duration = Duration::from_millis(5);

fn turn(session: &mut Session, number: u64) -> Result<(), StoreError> {
    let add = |context: &mut Context| {
        for (index, role) in [(0, "user"), (1, "assistant")] {
            let node = NewNode::text(text(number * 2 + index, 200)).role(role);
            context.add(Place::head(), node).expect("it is allowed");
        }
        context.commit().expect("a commit succeeds");
        Ok(())
    };
    session.write(add)
}

/// Selects in snapshots of different ages; each needs a walk over the tree.
fn read(reader: &Reader, selects: usize) {
    for number in 0..selects {
        let selector = format!("@t-{} .block[role=user]", number % 50);
        let answer = reader.select(&selector).expect("the snapshot is there");
        black_box(answer.nodes().map(|nodes| nodes.ids().len()));
    }
}

/// Returns how many times more selects per second `threads` readers do while one thread writes durable turns, than a single
/// reader does while no one writes.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If a thread cannot be started.
pub fn readers(rounds: usize, threads: usize, selects: usize) -> Result<Row, StoreError> {
    let folder = folder();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let store = Store::open(&url)?;
    let mut session = store.create("main", &ContextSettings::default())?;
    for number in 0..TURNS {
        turn(&mut session, number)?;
    }
    let (mut single, mut many, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut next = TURNS;
    for _ in 0..=rounds {
        let reader = store.reader("main")?;
        let start = Instant::now();
        read(&reader, selects);
        let alone = start.elapsed().as_nanos() as f64 / selects as f64;
        let together = while_writing(&store, &mut session, &mut next, threads, selects)?;
        single.push(alone);
        many.push(together);
        ratios.push(alone / together);
    }
    // The first round warms up.
    ratios.remove(0);
    let spread = ratios
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(*ratio), high.max(*ratio)));
    Ok(Row {
        name: format!(
            "reads: selects per second of {threads} threads while one writes, against a single reader"
        ),
        ratio: median(ratios),
        spread,
        bar: 1.8,
        is_gain: true,
        nanoseconds: (median(many), median(single)),
    })
}

/// Returns the nanoseconds per select of all readers together, while a session writes.
fn while_writing(
    store: &Store,
    session: &mut Session,
    next: &mut u64,
    threads: usize,
    selects: usize,
) -> Result<f64, StoreError> {
    let (begin, done) = (Barrier::new(threads + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let reader = store.reader("main").expect("it is there");
                    begin.wait();
                    read(&reader, selects);
                })
            })
            .collect();
        let writer = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                turn(session, *next)?;
                *next += 1;
                thread::sleep(PAUSE);
            }
            Ok::<_, StoreError>(())
        });
        begin.wait();
        let start = Instant::now();
        for reader in readers {
            reader.join().expect("a reader does not panic");
        }
        let took = start.elapsed().as_nanos() as f64;
        done.store(true, Ordering::Relaxed);
        writer.join().expect("a writer does not panic")?;
        Ok(took / (threads * selects) as f64)
    })
}
