//! Power loss: a session is recorded call by call; then the disk is put together as a crash after any call could have left it.
//!
//! What a file had at its last sync is safe. Of later writes, each may be there, be missing, or be there in part, by sectors, in any
//! combination: the disk is free to reorder them. Opened again, the store must have every acknowledged step and be sound.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contextree::{ContextSettings, SnapshotAddress};
use contextree_store::{Retention, StoreError};
use contextree_testkit::Rng;
use contextree_testkit_vfs::{Call, Disk, Kind, Verdict, watch};

use crate::folder::Folder;
use crate::script::{Failure, MAIN, Script, advance, check, open};

/// What a disk writes at once.
const SECTOR: usize = 512;

/// One change to the disk.
#[derive(Clone, Debug)]
enum Event {
    Create(PathBuf),
    Write {
        path: PathBuf,
        offset: usize,
        data: Vec<u8>,
    },
    Truncate {
        path: PathBuf,
        size: usize,
    },
    Sync(PathBuf),
    Delete(PathBuf),
    /// Everything that was deleted before is gone for good.
    SyncFolder,
    /// From here on, this revision is acknowledged.
    Acknowledged(u64),
}

/// A disk that records every change.
#[derive(Default)]
struct Recorder {
    events: Mutex<Vec<Event>>,
}

impl Recorder {
    fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for Recorder {
    fn ask(&self, call: &Call<'_>) -> Verdict {
        if call.kind == Kind::Sync { Verdict::Skip } else { Verdict::Pass }
    }

    fn done(&self, call: &Call<'_>) {
        let path = call.path.to_owned();
        let offset = usize::try_from(call.offset).expect("files of trials are small");
        let event = match call.kind {
            Kind::Open => Event::Create(path),
            Kind::Write => Event::Write { path, offset, data: call.data.to_vec() },
            Kind::Truncate => Event::Truncate { path, size: offset },
            Kind::Sync => Event::Sync(path),
            Kind::Delete => Event::Delete(path),
            _ => return,
        };
        self.events().push(event);
        if call.kind == Kind::Delete && call.offset == 1 {
            self.events().push(Event::SyncFolder);
        }
    }
}

/// A recorded session.
#[derive(Debug)]
pub struct Recording {
    events: Vec<Event>,
}

/// What a trial did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Changes to the disk in the session.
    pub events: u64,
    /// States of the disk that were opened.
    pub states: u64,
    /// Those of them with an unsynced write that was lost or torn.
    pub lossy: u64,
}

impl Report {
    /// Adds another one.
    pub fn add(&mut self, other: Report) {
        self.events += other.events;
        self.states += other.states;
        self.lossy += other.lossy;
    }
}

/// How many states of one recorded session are opened. Then another session is recorded.
pub const ROUND: u64 = 1_000;

/// Records a session of `steps` steps, with reopening, forks, retention and rewritten files as the seed says, then opens states of the disk; and
/// so on, until `states` were opened.
///
/// # Errors
///
/// The first broken promise, with the seeds of its session and its state.
pub fn run(steps: u64, states: u64, seed: u64) -> Result<Report, Failure> {
    let mut report = Report::default();
    while report.states < states {
        let first = seed + report.states;
        let recording =
            record(steps, first).map_err(|error| format!("session {first}: {error}"))?;
        let count = ROUND.min(states - report.states);
        let round = open_states(&recording, count, first);
        report.add(round.map_err(|failure| format!("session {first}: {failure}"))?);
    }
    Ok(report)
}

/// Like [`run`], but on a disk that ignores syncs after the file was created: the trial of the trial.
///
/// # Errors
///
/// As soon as an acknowledged step is lost.
pub fn run_without_syncs(steps: u64, states: u64, seed: u64) -> Result<Report, Failure> {
    let mut recording = record(steps, seed).map_err(|error| format!("without a loss: {error}"))?;
    let mut is_made = false;
    recording.events.retain(|event| {
        is_made |= matches!(event, Event::Acknowledged(_));
        !is_made || !matches!(event, Event::Sync(_))
    });
    open_states(&recording, states, seed)
}

fn open_states(recording: &Recording, states: u64, seed: u64) -> Result<Report, Failure> {
    let mut script = Script::default();
    let events = recording.events.len() as u64;
    let mut report = Report { events, ..Report::default() };
    // In the order of their crashes, so that each event is applied once for all of them.
    let mut seeds: Vec<(usize, u64)> =
        (seed..seed + states).map(|seed| (recording.end_of(seed), seed)).collect();
    seeds.sort_unstable();
    let mut replay = Replay::default();
    for (end, seed) in seeds {
        replay.advance(&recording.events, end);
        let lossy = recording
            .lose(&replay, seed, &mut script)
            .map_err(|failure| format!("seed {seed}: {failure}"))?;
        report.states += 1;
        report.lossy += u64::from(lossy);
    }
    Ok(report)
}

/// Records a session. The seed decides how often the store is opened anew, and what else is done with it.
///
/// # Errors
///
/// If a step fails; the disk does not.
pub fn record(steps: u64, seed: u64) -> Result<Recording, StoreError> {
    let mut random = Rng::new(seed);
    let folder = Folder::new();
    let disk = Arc::new(Recorder::default());
    let _watch = watch(folder.path(), Arc::clone(&disk) as Arc<dyn Disk>);
    let url = folder.url("store.db");
    let mut reached = 0;
    while reached < steps {
        let store = open(&url)?;
        let mut session = store.session_or_new(MAIN, &ContextSettings::default())?;
        for _ in 0..(1 + random.below(16)).min(steps - reached) {
            reached = advance(&mut session)?;
            disk.events().push(Event::Acknowledged(reached));
        }
        let fork = format!("fork{reached}");
        let back = SnapshotAddress::Back(random.below(3));
        if random.percent(70) && store.fork(MAIN, Some(back), &fork).is_ok() {
            let keep_newest = Some(1 + random.below(3));
            let retention = Retention { keep_newest, ..Retention::default() };
            store.retain(&fork, &retention, false)?;
            if random.percent(50) {
                store.delete(&fork)?;
            }
        }
        if random.percent(30) {
            store.backend().reclaim()?;
        }
    }
    let events = std::mem::take(&mut *disk.events());
    Ok(Recording { events })
}

/// A file: what is safe, and what was written since.
#[derive(Clone, Debug, Default)]
struct File {
    safe: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    pending: Vec<Event>,
    /// Created, and not synced yet.
    is_new: bool,
}

impl File {
    /// The file is no longer there under its name if it was deleted.
    fn sync_name(&mut self) {
        let is_delete = |event: &Event| matches!(event, Event::Delete(_));
        if let Some(last) = self.pending.iter().rposition(is_delete) {
            self.pending.drain(..=last);
            self.safe = None;
        }
    }
}

/// The disk after some of the changes.
#[derive(Debug, Default)]
struct Replay {
    files: BTreeMap<PathBuf, File>,
    acknowledged: u64,
    end: usize,
}

impl Replay {
    fn advance(&mut self, events: &[Event], end: usize) {
        for event in &events[self.end..end] {
            apply(event, &mut self.files, &mut self.acknowledged);
        }
        self.end = end;
    }
}

impl Recording {
    /// Returns after how many changes the crash of a seed is.
    fn end_of(&self, seed: u64) -> usize {
        1 + Rng::new(seed).index(self.events.len())
    }

    /// Puts the disk together as it is after a crash, and opens the store. Returns whether something unsynced was lost.
    fn lose(&self, replay: &Replay, seed: u64, script: &mut Script) -> Result<bool, Failure> {
        let mut random = Rng::new(seed);
        let (end, acknowledged) = (self.end_of(seed), replay.acknowledged);
        let folder = Folder::new();
        let mut lossy = false;
        for (path, file) in &replay.files {
            let (bytes, lost) = crash(file, &mut random);
            lossy |= lost;
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Some(bytes) = bytes {
                std::fs::write(folder.file(name), bytes).map_err(|error| error.to_string())?;
            }
        }
        let at = |failure: Failure| {
            let before = self.events[..end].iter().rev().take(12).map(short);
            let before: Vec<String> = before.collect();
            format!("{failure}; after {end} changes, the last ones first: {}", before.join(", "))
        };
        inspect(&folder, acknowledged, script).map_err(at)?;
        Ok(lossy)
    }
}

fn apply(event: &Event, files: &mut BTreeMap<PathBuf, File>, acknowledged: &mut u64) {
    match event {
        Event::Acknowledged(revision) => *acknowledged = *revision,
        Event::Sync(path) => {
            let file = files.entry(path.clone()).or_default();
            file.safe.clone_from(&file.now);
            file.pending.clear();
            // With the first sync of a new log, SQLite syncs the folder.
            if std::mem::take(&mut file.is_new) {
                files.values_mut().for_each(File::sync_name);
            }
        }
        Event::SyncFolder => files.values_mut().for_each(File::sync_name),
        Event::Create(path)
        | Event::Write { path, .. }
        | Event::Truncate { path, .. }
        | Event::Delete(path) => {
            let file = files.entry(path.clone()).or_default();
            file.is_new |= matches!(event, Event::Create(_)) && file.now.is_none();
            change(&mut file.now, event);
            file.pending.push(event.clone());
        }
    }
}

/// Describes a change in a few words.
fn short(event: &Event) -> String {
    let name = |path: &PathBuf| path.extension().map(|end| end.to_string_lossy().into_owned());
    let name = |path: &PathBuf| name(path).unwrap_or_default();
    match event {
        Event::Create(path) => format!("open {}", name(path)),
        Event::Write { path, offset, data } => format!("{} {offset}+{}", name(path), data.len()),
        Event::Truncate { path, size } => format!("cut {} to {size}", name(path)),
        Event::Sync(path) => format!("sync {}", name(path)),
        Event::Delete(path) => format!("delete {}", name(path)),
        Event::SyncFolder => "sync the folder".to_owned(),
        Event::Acknowledged(revision) => format!("acknowledged {revision}"),
    }
}

/// Carries out a change.
fn change(bytes: &mut Option<Vec<u8>>, event: &Event) {
    match event {
        Event::Delete(_) => *bytes = None,
        Event::Create(_) => drop(bytes.get_or_insert_default()),
        Event::Truncate { size, .. } => bytes.get_or_insert_default().resize(*size, 0),
        Event::Write { offset, data, .. } => {
            let bytes = bytes.get_or_insert_default();
            let end = offset + data.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*offset..end].copy_from_slice(data);
        }
        Event::Sync(_) | Event::SyncFolder | Event::Acknowledged(_) => {}
    }
}

/// Returns a file after a crash, and whether something of it was lost.
fn crash(file: &File, random: &mut Rng) -> (Option<Vec<u8>>, bool) {
    let mut bytes = file.safe.clone();
    let mut lost = false;
    // Some crashes lose all, some nothing, most a part.
    let keep = *random.pick(&[0, 0, 20, 50, 80, 100]);
    for event in &file.pending {
        match event {
            Event::Write { path, offset, data } if random.percent(30) => {
                for (number, sector) in data.chunks(SECTOR).enumerate() {
                    if !random.percent(keep) {
                        lost = true;
                        continue;
                    }
                    let offset = offset + number * SECTOR;
                    let (path, data) = (path.clone(), sector.to_vec());
                    change(&mut bytes, &Event::Write { path, offset, data });
                }
            }
            _ if random.percent(keep) => change(&mut bytes, event),
            // The old file is still there, and later writes were to another one of the same name.
            Event::Delete(_) => return (bytes, true),
            _ => lost = true,
        }
    }
    (bytes, lost)
}

/// Opens the store after a crash.
fn inspect(folder: &Folder, acknowledged: u64, script: &mut Script) -> Result<(), Failure> {
    let store = match open(&folder.url("store.db")) {
        Ok(store) => store,
        Err(error) => return Err(format!("{}: {error}", error.code())),
    };
    if acknowledged == 0 && matches!(store.find(MAIN), Ok(None)) {
        return Ok(());
    }
    let found = check(&store, script)?;
    if found < acknowledged || found > acknowledged.max(1) + 1 {
        return Err(format!("{acknowledged} was acknowledged, {found} is there"));
    }
    Ok(())
}
