//! A disk with no space left: deleting and collecting still work, and give space back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use contextree::{ContextSettings, NewNode, Place};
use contextree_store::{
    Backend, Retention, Session, Sqlite, SqliteOptions, Store, StoreError, StoreOptions,
};
use contextree_testkit::Rng;
use contextree_testkit_vfs::{Call, Disk, Kind, Verdict, watch};

use crate::folder::Folder;
use crate::script::Failure;

/// How large the index of the log is at first.
const INDEX: u64 = 32 << 10;

/// A disk that has room for a number of bytes, of all files in a folder together.
struct Quota {
    folder: PathBuf,
    bytes: AtomicU64,
}

impl Quota {
    fn used(&self) -> u64 {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }

    /// Leaves no byte free.
    fn fill(&self) {
        self.bytes.store(self.used(), Ordering::SeqCst);
    }

    fn lift(&self) {
        self.bytes.store(u64::MAX, Ordering::SeqCst);
    }
}

impl Disk for Quota {
    fn ask(&self, call: &Call<'_>) -> Verdict {
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let growth = match call.kind {
            Kind::Write => (call.offset + call.data.len() as u64).saturating_sub(length(call.path)),
            Kind::ShmMap => {
                let mut index = call.path.as_os_str().to_owned();
                index.push("-shm");
                INDEX.saturating_sub(length(Path::new(&index)))
            }
            Kind::Sync => return Verdict::Skip,
            _ => 0,
        };
        let most = self.bytes.load(Ordering::SeqCst);
        match growth > 0 && self.used().saturating_add(growth) > most {
            true => Verdict::Full,
            false => Verdict::Pass,
        }
    }
}

/// What the trial did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How large the file was when the disk was full.
    pub full: u64,
    /// How large it is after everything was collected.
    pub collected: u64,
    /// Steps that were taken on the full disk, after something was deleted.
    pub steps: u64,
}

fn options(use_reserve: bool) -> SqliteOptions {
    SqliteOptions { use_reserve, ..SqliteOptions::default() }
}

fn open(path: &Path, use_reserve: bool) -> Result<(Arc<Sqlite>, Store), StoreError> {
    let file = Arc::new(Sqlite::open(path, &options(use_reserve))?);
    let store = Store::over(Arc::clone(&file) as Arc<dyn Backend>, StoreOptions::deterministic());
    Ok((file, store))
}

/// Commits a turn of some kilobytes that cannot be compressed.
fn turn(session: &mut Session, rng: &mut Rng) -> Result<(), StoreError> {
    let words: String = (0..512).map(|_| format!("{:016x}", rng.next_u64())).collect();
    let done = session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
        context.add(Place::head(), NewNode::text(words).role("user"))?;
        context.commit()?;
        Ok(())
    });
    match done {
        Ok(()) => Ok(()),
        Err(error) => match error.downcast::<StoreError>() {
            Ok(error) => Err(*error),
            Err(error) => Err(StoreError::Backend { message: error.to_string() }),
        },
    }
}

fn expect_full<T>(what: &str, done: Result<T, StoreError>) -> Result<(), Failure> {
    match done {
        Err(StoreError::Full { .. }) => Ok(()),
        Err(error) => Err(format!("{what}: {}: {error}", error.code())),
        Ok(_) => Err(format!("{what} works on a full disk")),
    }
}

/// Fills a disk with a store of three contexts, in `turns` turns each; then deletes one in a new process, collects another one, and writes again.
///
/// # Errors
///
/// The first thing that does not work.
pub fn run(turns: u64, seed: u64) -> Result<Report, Failure> {
    let describe = |error: StoreError| format!("{}: {error}", error.code());
    let folder = Folder::new();
    let path = folder.file("store.db");
    let quota = Arc::new(Quota { folder: folder.path().to_owned(), bytes: u64::MAX.into() });
    let _watch = watch(folder.path(), Arc::clone(&quota) as Arc<dyn Disk>);
    let mut rng = Rng::new(seed);
    {
        let (_, store) = open(&path, false).map_err(describe)?;
        for name in ["a", "b", "c"] {
            let mut session = store.create(name, &ContextSettings::default()).map_err(describe)?;
            for _ in 0..turns {
                turn(&mut session, &mut rng).map_err(describe)?;
            }
        }
    }
    drop(open(&path, false).map_err(describe)?);
    quota.fill();
    let length = || std::fs::metadata(&path).map_or(0, |file| file.len());
    let mut report = Report { full: length(), ..Report::default() };
    // A new process has not even space for the index of the log; only who deletes may use the reserve.
    expect_full("opening", open(&path, false))?;
    {
        let (_, store) = open(&path, true).map_err(describe)?;
        store.delete("a").map_err(|error| format!("delete: {}", describe(error)))?;
        let mut session = store.session("b").map_err(describe)?;
        // What is free in the file is written to, until the log has no room.
        loop {
            match turn(&mut session, &mut rng) {
                Ok(()) => report.steps += 1,
                Err(StoreError::Full { .. }) => break,
                Err(error) => return Err(format!("a step: {}", describe(error))),
            }
            if report.steps >= turns * 4 {
                break;
            }
        }
        if report.steps == 0 {
            return Err("no step could be taken after a context was deleted".to_owned());
        }
        let retention = Retention { keep_newest: Some(1), ..Retention::default() };
        store.retain("c", &retention, false).map_err(|error| format!("gc: {}", describe(error)))?;
        store.backend().reclaim().map_err(|error| format!("reclaim: {}", describe(error)))?;
    }
    quota.lift();
    let (file, store) = open(&path, false).map_err(describe)?;
    let found = store.verify(&mut |_, _| {}).map_err(describe)?;
    if !found.is_clean() {
        return Err(format!("{found:?}"));
    }
    let kept: Vec<(String, u64)> =
        found.contexts.iter().map(|context| (context.name.clone(), context.sound)).collect();
    if kept != [("b".to_owned(), turns + report.steps), ("c".to_owned(), 1)] {
        return Err(format!("{kept:?}"));
    }
    store.delete("b").map_err(describe)?;
    file.reclaim().map_err(describe)?;
    drop((store, file));
    report.collected = length();
    // The snapshot of `c` that was kept has all texts of its context, a third of the file.
    match report.collected < report.full / 2 {
        true => Ok(report),
        false => Err(format!("the file is nearly as large as before: {report:?}")),
    }
}
