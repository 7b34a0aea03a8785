//! A fault at every call to the disk: each call of a session fails in turn, once or from then on.
//!
//! Whatever fails, the session gets typed errors, no step is lost that was acknowledged, and when the disk works again the store does.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use contextree::{ContextSettings, SnapshotAddress};
use contextree_store::{ReadError, Retention, Store, StoreError};
use contextree_testkit_vfs::{Call, Disk, Kind, Verdict, watch};

use crate::folder::Folder;
use crate::script::{self, Failure, MAIN, Script, advance, check, open};

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// This call only.
    Once,
    /// This call and all after it.
    Persistent,
    /// This call and all of its kind after it.
    OfItsKind,
    /// This call and all writes after it, because the disk is full.
    Full,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::Once, Mode::Persistent, Mode::OfItsKind, Mode::Full];
}

/// Codes of errors that a failing disk may cause. Damage is not among them: a sound file is never called damaged.
const TOLD: [&str; 4] = ["E_STORE_IO", "E_STORE_FULL", "E_STORE_BUSY", "E_STORE_UNAVAILABLE"];

/// A disk that fails at one call.
struct Failing {
    calls: AtomicU64,
    at: u64,
    mode: Mode,
    /// The kind of the call that failed first, as an index; all kinds fail without one.
    kind: AtomicU64,
}

impl Disk for Failing {
    fn ask(&self, call: &Call<'_>) -> Verdict {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let kind = call.kind as u64;
        if number == self.at {
            self.kind.store(kind, Ordering::SeqCst);
        }
        let failed = self.kind.load(Ordering::SeqCst);
        let fails = match self.mode {
            Mode::Once => number == self.at,
            Mode::Persistent => number >= self.at,
            Mode::OfItsKind => number >= self.at && kind == failed,
            Mode::Full => {
                let needs_space = matches!(call.kind, Kind::Write | Kind::ShmMap);
                return match (number >= self.at && needs_space, call.kind) {
                    (true, _) => Verdict::Full,
                    (_, Kind::Sync) => Verdict::Skip,
                    _ => Verdict::Pass,
                };
            }
        };
        match (fails, call.kind) {
            (true, _) => Verdict::Fail,
            // Only its failure matters here, and it would cost most of the time.
            (_, Kind::Sync) => Verdict::Skip,
            _ => Verdict::Pass,
        }
    }
}

/// What a trial did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Sessions with a fault.
    pub faults: u64,
    /// Calls to the disk in a session without a fault.
    pub calls: u64,
    /// Errors that callers saw, by code.
    pub errors: BTreeMap<String, u64>,
}

impl Report {
    /// Adds another one.
    pub fn add(&mut self, other: Report) {
        self.faults += other.faults;
        self.calls = self.calls.max(other.calls);
        for (code, count) in other.errors {
            *self.errors.entry(code).or_default() += count;
        }
    }
}

/// Lets every `stride`-th call of a session of `steps` steps fail, in each mode, beginning with the call `first`.
///
/// # Errors
///
/// The first broken promise, with the call and the mode.
pub fn run(steps: u64, first: u64, stride: u64, limit: u64) -> Result<Report, Failure> {
    let calls = one(steps, u64::MAX, Mode::Once, &mut BTreeMap::new())?;
    let mut report = Report { calls, ..Report::default() };
    let mut at = first;
    while at < report.calls && report.faults < limit {
        for mode in Mode::ALL {
            one(steps, at, mode, &mut report.errors)
                .map_err(|failure| format!("call {at} of {steps} steps, {mode:?}: {failure}"))?;
            report.faults += 1;
        }
        at += stride;
    }
    Ok(report)
}

/// Runs a session with one fault. Returns the number of calls.
///
/// # Errors
///
/// If a promise is broken.
pub fn one(
    steps: u64,
    at: u64,
    mode: Mode,
    errors: &mut BTreeMap<String, u64>,
) -> Result<u64, Failure> {
    let folder = Folder::new();
    let url = folder.url("store.db");
    let (calls, kind) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
    let disk = Arc::new(Failing { calls, at, mode, kind });
    let mut acknowledged = 0;
    let mut told = Vec::new();
    {
        let _watch = watch(folder.path(), Arc::clone(&disk) as Arc<dyn Disk>);
        // The second half goes through a new store, so that the log is put into the file in between.
        for half in [steps / 2, steps] {
            if let Err(error) = work(&url, half, &mut acknowledged, &mut told, folder.path()) {
                told.push(error);
            }
        }
    }
    for error in told {
        let code = error.code();
        // A file that the disk refused to create is not there later.
        let is_missing = acknowledged == 0 && code == "E_STORE_NOT_FOUND";
        if !is_missing && !TOLD.contains(&code) {
            return Err(format!("the caller was told {code}: {error}"));
        }
        *errors.entry(code.to_owned()).or_default() += 1;
    }
    let calls = disk.calls.load(Ordering::SeqCst);
    recover(&url, acknowledged, steps)?;
    Ok(calls)
}

/// The session: steps, reads, a fork, retention, a backup, `verify`. Continues after errors where a caller would.
fn work(
    url: &str,
    steps: u64,
    acknowledged: &mut u64,
    told: &mut Vec<StoreError>,
    folder: &Path,
) -> Result<(), StoreError> {
    let store = open(url)?;
    let mut session = store.session_or_new(MAIN, &ContextSettings::default())?;
    *acknowledged = (*acknowledged).max(session.row().revision.get());
    let mut tries = 0;
    while session.row().revision.get() < steps {
        match advance(&mut session) {
            Ok(revision) => *acknowledged = revision,
            Err(error) if tries < 3 => {
                told.push(error);
                tries += 1;
                // Whether the step landed is known from the store alone.
                if let Err(error) = session.refresh() {
                    told.push(error);
                }
            }
            Err(error) => return Err(error),
        }
        if session.row().revision.get() == 10 {
            told.extend(around(&store, folder));
        }
    }
    Ok(())
}

/// What else is done with a store. Returns the errors.
fn around(store: &Store, folder: &Path) -> Vec<StoreError> {
    let plain = |error: ReadError| match error {
        ReadError::Store(error) => error,
        other => StoreError::Backend { message: other.to_string() },
    };
    let mut told = Vec::new();
    // An earlier try may have got this far.
    let mut number = 0;
    let taken = |name: &str| store.find(name).is_ok_and(|found| found.is_some());
    while taken(&format!("fork{number}")) || folder.join(format!("copy{number}.db")).exists() {
        number += 1;
    }
    let name = format!("fork{number}");
    let fork = store.fork(MAIN, Some(SnapshotAddress::Cycle(2)), &name);
    told.extend(fork.map_err(plain).err());
    let retention = Retention { keep_newest: Some(1), ..Retention::default() };
    if told.is_empty() {
        told.extend(store.retain(&name, &retention, false).err());
        told.extend(store.delete(&name).err());
    }
    told.extend(store.backend().reclaim().err());
    let copy = folder.join(format!("copy{number}.db"));
    let copy = store.backend().backup(&copy, &mut |_, _| {}, &|_| Ok(()));
    told.extend(copy.err());
    match store.verify(&mut |_, _| {}) {
        Ok(found) if found.is_clean() => {}
        // An error while it reads is told as one of the file; its text names the disk.
        Ok(found) => {
            let message = format!("{found:?}");
            let is_disk = ["disk I/O", "unable to open", "full", "I/O"];
            if is_disk.iter().any(|words| message.contains(words)) {
                told.push(StoreError::Io { message });
            } else {
                told.push(StoreError::Backend { message });
            }
        }
        Err(error) => told.push(error),
    }
    told
}

/// The disk works again: everything acknowledged is there, and the store can be written.
fn recover(url: &str, acknowledged: u64, steps: u64) -> Result<(), Failure> {
    let describe = |error: StoreError| format!("later: {}: {error}", error.code());
    let store = open(url).map_err(describe)?;
    let mut session = store.session_or_new(MAIN, &ContextSettings::default()).map_err(describe)?;
    let mut script = Script::default();
    let found = check(&store, &mut script)?;
    // One step may have landed although its caller got an error.
    if found < acknowledged || found > acknowledged.max(1) + 1 {
        return Err(format!("{acknowledged} was acknowledged, {found} is there"));
    }
    while session.row().revision.get() < steps + 2 {
        advance(&mut session).map_err(describe)?;
    }
    drop(session);
    check(&store, &mut script).map(drop)?;
    script::check_all(&store)
}
