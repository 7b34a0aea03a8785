//! Reading one context from many threads while another thread writes to it.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use contextree::{Context, NewNode, Place, SnapshotAddress};
use contextree_store::{ContextSettings, Reader, Session, Store, StoreError, StoreOptions};

use crate::measure::{Row, median};
use crate::store::{folder, text};

/// How many turns the context has.
const TURNS: u64 = 400;

/// How many snapshots are read, the newest ones.
const SNAPSHOTS: u64 = 50;

/// The pause of the writer between two turns: an agent that is much faster than any model.
const PAUSE: Duration = Duration::from_millis(5);

/// What a thread did, and the nanoseconds that it took.
#[derive(Clone, Copy, Debug)]
struct Work {
    selects: f64,
    /// Without the time in which the thread could have run, but other programs had the processors.
    took: f64,
    /// The part of it in which the thread did not run: it waited for another thread, or for the disk.
    blocked: f64,
}

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

/// Selects in snapshots of different ages for a time; each needs a walk over the tree.
fn read(reader: &Reader, time: Duration) -> Work {
    let (start, before) = (Instant::now(), Spent::so_far());
    let mut selects = 0_u64;
    while start.elapsed() < time {
        for number in 0..SNAPSHOTS {
            let selector = format!("@t-{number} .block[role=user]");
            let answer = reader.select(&selector).expect("the snapshot is there");
            black_box(answer.nodes().map(|nodes| nodes.ids().len()));
        }
        selects += SNAPSHOTS;
    }
    let (elapsed, after) = (start.elapsed().as_nanos() as f64, Spent::so_far());
    // Where the system does not tell, all time counts, and the machine has to be idle.
    let (took, blocked) = match before.zip(after) {
        Some((before, after)) => {
            let took = elapsed - (after.waiting - before.waiting);
            (took, took - (after.running - before.running))
        }
        None => (elapsed, 0.0),
    };
    Work { selects: selects as f64, took, blocked: blocked.max(0.0) }
}

/// What the system says about this thread, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Spent {
    running: f64,
    /// Waiting for a processor.
    waiting: f64,
}

impl Spent {
    /// `None` if the system does not tell.
    fn so_far() -> Option<Spent> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let mut numbers = text.split_whitespace().map(|number| number.parse::<f64>().ok());
        let (running, waiting) = (numbers.next()??, numbers.next()??);
        Some(Spent { running, waiting })
    }
}

/// Opens a reader with the snapshots in memory.
fn open(store: &Store) -> Result<Reader, StoreError> {
    let reader = store.reader("main")?;
    let loaded = reader.prefetch(SnapshotAddress::Back(SNAPSHOTS - 1), SnapshotAddress::Back(0));
    loaded.expect("the snapshots are there");
    Ok(reader)
}

/// Returns how many times more selects per second `threads` readers do while one thread writes durable turns, than a single
/// reader does while no one writes; and which share of their time the readers were blocked.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If a thread cannot be started, or a snapshot cannot be read.
pub fn readers(rounds: usize, threads: usize, time: Duration) -> Result<(Row, f64), StoreError> {
    let folder = folder();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let store = Store::open_with(&url, StoreOptions::deterministic())?;
    let mut session = store.create("main", &ContextSettings::default())?;
    for number in 0..TURNS {
        turn(&mut session, number)?;
    }
    let (mut single, mut many, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut next, mut blocked) = (TURNS, Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let alone = read(&open(&store)?, time);
        let together = while_writing(&store, &mut session, &mut next, threads, time)?;
        if round > 0 {
            let alone = alone.selects / alone.took;
            let rate = together.iter().map(|work| work.selects / work.took).sum::<f64>();
            let took = together.iter().map(|work| work.took).sum::<f64>();
            blocked.push(together.iter().map(|work| work.blocked).sum::<f64>() / took);
            single.push(alone.recip());
            many.push(rate.recip());
            ratios.push(rate / alone);
        }
    }
    let spread = ratios
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(*ratio), high.max(*ratio)));
    let row = Row {
        name: format!(
            "reads: selects per second of {threads} threads while one writes, against a single reader"
        ),
        ratio: median(ratios),
        spread,
        bar: 1.8,
        is_gain: true,
        nanoseconds: (median(many), median(single)),
    };
    Ok((row, median(blocked)))
}

/// Returns what each of the readers does while a session writes.
fn while_writing(
    store: &Store,
    session: &mut Session,
    next: &mut u64,
    threads: usize,
    time: Duration,
) -> Result<Vec<Work>, StoreError> {
    let (begin, done) = (Barrier::new(threads + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let reader = open(store).expect("it is there");
                    begin.wait();
                    read(&reader, time)
                })
            })
            .collect();
        let writer = scope.spawn(|| {
            begin.wait();
            while !done.load(Ordering::Relaxed) {
                turn(session, *next)?;
                *next += 1;
                thread::sleep(PAUSE);
            }
            Ok::<_, StoreError>(())
        });
        let works =
            readers.into_iter().map(|reader| reader.join().expect("a reader does not panic"));
        let works = works.collect();
        done.store(true, Ordering::Relaxed);
        writer.join().expect("a writer does not panic")?;
        Ok(works)
    })
}
