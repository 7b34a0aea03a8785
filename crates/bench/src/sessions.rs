//! Measures contexts in the embedded store as applications use them: commits, sizes, opening, the
//! past, many at once.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::path::Path;
use std::time::Instant;

use contextree::{Context, ContextOptions, NewNode, Place, Profile, SnapshotAddress};
use contextree_store::{ContextSettings, Session, Store, StoreError, StoreOptions};
use tempfile::TempDir;

use crate::measure::{Row, compare, median};
use crate::store::{at, bare, folder, text};

type Outcome<T> = Result<T, StoreError>;

/// Bytes of one message; a turn has two.
const MESSAGE: usize = 500;

fn open(path: &Path) -> Outcome<Store> {
    let options = StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() };
    Store::open_with(&format!("sqlite:{}", path.display()), options)
}

/// Returns the content of a turn: two incompressible messages.
fn said(number: u64) -> [String; 2] {
    [0, 1].map(|index| text(number * 2 + index, MESSAGE))
}

fn turn(context: &mut Context, said: &[String; 2]) {
    for (said, role) in said.iter().zip(["user", "assistant"]) {
        context.add(Place::head(), NewNode::text(said).role(role)).expect("it is allowed");
    }
    context.commit().expect("a commit succeeds");
}

fn write(session: &mut Session, said: &[String; 2]) {
    session
        .write(|context| {
            turn(context, said);
            Ok::<_, StoreError>(())
        })
        .expect("the store works");
}

/// Measures a durable turn through a session, against one bare durable insert of the same text.
/// Also returns the 99th percentile of both.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the reference cannot be set up.
pub fn commit(rounds: usize, steps: usize) -> Outcome<(Row, (f64, f64))> {
    let folder = folder();
    let store = open(&folder.path().join("store.db"))?;
    let mut session = store.create("main", &ContextSettings::default())?;
    let bare = bare(&folder.path().join("bare.db"));
    let mut tails = (Vec::new(), Vec::new());
    let (mut ours, mut theirs) = (0_u64, 0_u64);
    let row = compare(
        "session: durable commit of a 1 KB turn, against one bare durable insert of its text (p50)",
        1.5,
        rounds,
        || {
            let mut times: Vec<f64> = (0..steps)
                .map(|_| {
                    ours += 1;
                    let said = said(ours);
                    let start = Instant::now();
                    write(&mut session, &said);
                    start.elapsed().as_nanos() as f64
                })
                .collect();
            times.sort_by(f64::total_cmp);
            tails.0.push(at(&times, 0.99));
            at(&times, 0.5)
        },
        || {
            let mut times: Vec<f64> = (0..steps)
                .map(|_| {
                    theirs += 1;
                    let data = text(theirs, 2 * MESSAGE).into_bytes();
                    let start = Instant::now();
                    bare.prepare_cached("INSERT INTO t(data) VALUES (?1)")
                        .and_then(|mut insert| insert.execute([data]))
                        .expect("SQLite works");
                    start.elapsed().as_nanos() as f64
                })
                .collect();
            times.sort_by(f64::total_cmp);
            tails.1.push(at(&times, 0.99));
            at(&times, 0.5)
        },
    );
    Ok((row, (median(tails.0), median(tails.1))))
}

/// Measures the size of the file after this many turns, against the text of the messages.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the file cannot be read.
pub fn size(turns: u64) -> Outcome<Row> {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = open(&path)?;
    let mut session = store.create("main", &ContextSettings::default())?;
    (1..=turns).for_each(|number| write(&mut session, &said(number)));
    drop((session, store));
    let bytes = std::fs::metadata(&path).expect("the file is there").len() as f64;
    let said = (turns * 2 * MESSAGE as u64) as f64;
    let ratio = bytes / said;
    let name = format!("session: size of the file after {turns} turns, against the text");
    Ok(Row {
        name,
        ratio,
        spread: (ratio, ratio),
        bar: 1.5,
        is_gain: false,
        nanoseconds: (bytes, said),
    })
}

/// A store with one long context, and its export.
pub struct Long {
    _folder: TempDir,
    path: std::path::PathBuf,
    export: Vec<u8>,
    turns: u64,
}

impl std::fmt::Debug for Long {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Long").field("turns", &self.turns).finish_non_exhaustive()
    }
}

impl Long {
    /// Fills a store, a thousand turns at a time.
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Panics
    ///
    /// If there is no head in the end.
    pub fn new(turns: u64) -> Outcome<Long> {
        let folder = folder();
        let path = folder.path().join("store.db");
        let store = open(&path)?;
        let mut session = store.create("main", &ContextSettings::default())?;
        for first in (1..=turns).step_by(1_000) {
            session.write(|context| {
                (first..(first + 1_000).min(turns + 1))
                    .for_each(|number| turn(context, &said(number)));
                Ok::<_, StoreError>(())
            })?;
        }
        let export = session.newest()?.expect("there are commits").export();
        Ok(Long { _folder: folder, path, export, turns })
    }

    /// Measures opening the context and rendering its head, against reading and parsing the export
    /// of that head.
    ///
    /// # Panics
    ///
    /// If the store fails.
    #[must_use]
    pub fn opening(&self, rounds: usize) -> Row {
        let file = self.path.with_extension("json");
        std::fs::write(&file, &self.export).expect("the disk can be written");
        compare(
            "session: open a context of 100,000 turns and render its head, against reading and parsing its export",
            1.0,
            rounds,
            || {
                let start = Instant::now();
                let store = open(&self.path).expect("the store works");
                let session = store.session("main").expect("it is there");
                let head = session.newest().expect("it can be read");
                let thread = head.expect("there are commits").thread();
                let took = start.elapsed().as_nanos() as f64;
                assert!(thread.len() > self.turns as usize * 2 * MESSAGE);
                took
            },
            || {
                let start = Instant::now();
                let text = std::fs::read(&file).expect("it was written");
                let context =
                    Context::import_snapshot(&text, Profile::Strict, ContextOptions::default())
                        .expect("it is an export");
                let took = start.elapsed().as_nanos() as f64;
                drop(context);
                took
            },
        )
    }

    /// Measures reading a snapshot from the middle, against reading the head, both cold.
    ///
    /// # Panics
    ///
    /// If the store fails.
    #[must_use]
    pub fn middle(&self, rounds: usize) -> Row {
        let read = |cycle: u64| {
            let start = Instant::now();
            let store = open(&self.path).expect("the store works");
            let snapshot =
                store.snapshot("main", SnapshotAddress::Cycle(cycle)).expect("the context exists");
            let took = start.elapsed().as_nanos() as f64;
            assert_eq!(u64::from(snapshot.cycle()), cycle);
            took
        };
        compare(
            "session: read a snapshot from the middle of 100,000, against reading the head (cold)",
            2.0,
            rounds,
            || read(self.turns / 2),
            || read(self.turns),
        )
    }
}

/// Measures the resident memory per open idle context of 20 turns beyond its content, against 20
/// KiB: for contexts that were used and that the store keeps open, and for contexts whose sessions
/// the program holds.
///
/// Each is measured in a process of its own, see [`measure_idle`], because this process has free
/// memory that it would reuse first.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the program cannot be started again.
pub fn idle(contexts: u64) -> Outcome<[Row; 2]> {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = open(&path)?;
    for number in 0..contexts {
        let mut context = Context::new();
        (0..20).for_each(|index| turn(&mut context, &said(number * 20 + index)));
        store.adopt(&context_name(number), context, &ContextSettings::default())?;
    }
    drop(store);
    let content = (contexts * 20 * 2 * MESSAGE as u64) as f64;
    let row = |how: &str, what: &str, bar: f64| {
        let program = std::env::current_exe().expect("a program knows where it is");
        let output = std::process::Command::new(program)
            .args(["idle", how, &contexts.to_string()])
            .arg(&path)
            .output()
            .expect("the program can be started again");
        let taken: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(f64::NAN);
        let each = (taken - content) / contexts as f64;
        let ratio = each / (20.0 * 1024.0);
        Row {
            name: format!(
                "session: memory of {contexts} open idle contexts of 20 turns beyond content, each, {what}, against 20 KiB"
            ),
            ratio,
            spread: (ratio, ratio),
            bar,
            is_gain: false,
            nanoseconds: (each, 20.0 * 1024.0),
        }
    };
    let kept = row("kept", "used once and kept by the store", 1.0);
    Ok([kept, row("held", "held by sessions", f64::INFINITY)])
}

fn context_name(number: u64) -> String {
    format!("context {number}")
}

/// Returns how much memory this process gains by opening all contexts of [`idle`].
///
/// # Errors
///
/// If the store fails.
pub fn measure_idle(path: &Path, contexts: u64, held: bool) -> Outcome<u64> {
    let options = StoreOptions { idle_bytes: u64::MAX, ..StoreOptions::deterministic() };
    let store = Store::open_with(&format!("sqlite:{}", path.display()), options)?;
    let before = resident();
    let mut sessions = Vec::new();
    for number in 0..contexts {
        let session = store.session(&context_name(number))?;
        std::hint::black_box(session.newest()?.map(contextree::Snapshot::thread));
        if held {
            sessions.push(session);
        }
    }
    Ok(resident().saturating_sub(before))
}

/// Returns the resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = status.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    pages * 4_096
}
