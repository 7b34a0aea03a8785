//! A store: contexts by name.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use contextree_engine::{
    Clock, Context, ContextOptions, IdSource, LogicalClock, Snapshot, SnapshotAddress,
};

use crate::attempts;
use crate::backend::Backend;
use crate::calls;
use crate::error::{ReadError, Result, StoreError};
use crate::load::{self, join_journal};
use crate::packed::{pack, pack_bytes};
use crate::pool::Pool;
use crate::rows::{Checkpoint, Commit, ContextRow, Head, NewContext, Step, Stretch};
use crate::session::Session;
use crate::settings::ContextSettings;

/// How a store is used by this process.
#[derive(Clone)]
pub struct StoreOptions {
    /// Where stamps come from: those of nodes, and those of the store's own rows. A logical clock by default.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from that callers do not give; readable ones by default.
    pub ids: Option<Arc<dyn IdSource>>,
    /// How often [`Session::update`] tries again.
    pub tries: usize,
    /// Contexts that nobody uses stay open as long as all of them together take no more than about so many bytes. 0 closes them at once.
    pub idle_bytes: u64,
    /// How a SQLite file is opened.
    #[cfg(feature = "sqlite")]
    pub sqlite: crate::sqlite::SqliteOptions,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions {
            clock: Arc::new(LogicalClock),
            ids: None,
            tries: 1_000,
            idle_bytes: 256 << 20,
            #[cfg(feature = "sqlite")]
            sqlite: crate::sqlite::SqliteOptions::default(),
        }
    }
}

impl std::fmt::Debug for StoreOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StoreOptions").field("tries", &self.tries).finish_non_exhaustive()
    }
}

/// How often a step whose answer was lost is given again.
const RETRIES: usize = 5;

/// What all sessions of a store have in common.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
    ids: Option<Arc<dyn IdSource>>,
    pub(crate) tries: usize,
    pub(crate) pool: Pool,
    keys: RandomState,
    steps: AtomicU64,
}

impl Shared {
    /// The options that a context of this store is opened with.
    pub(crate) fn options(&self, row: &ContextRow) -> Result<ContextOptions> {
        let options = ContextSettings::from_json(&row.settings)?.options();
        Ok(ContextOptions {
            clock: Some(Arc::clone(&self.clock)),
            ids: self.ids.clone(),
            ..options
        })
    }

    /// Returns an empty step with a name of its own.
    pub(crate) fn step(&self) -> Step {
        Step { now_ns: self.clock.now_ns(), key: self.key(), ..Step::default() }
    }

    /// Does something that has a key, again if nobody can tell whether it was done: it is done once.
    pub(crate) fn insist<T>(&self, act: impl Fn(&dyn Backend) -> Result<T>) -> Result<T> {
        let mut tries = 0;
        loop {
            match act(&*self.backend) {
                Err(StoreError::Unavailable { unknown: true, .. }) if tries < RETRIES => tries += 1,
                result => return result,
            }
        }
    }

    /// A key that no other step has: the hasher's seed is random, and steps are counted. It is never seen by anybody.
    fn key(&self) -> [u8; 16] {
        let count = self.steps.fetch_add(1, Ordering::Relaxed);
        let high = self.keys.hash_one((count, 1_u8));
        let low = self.keys.hash_one((count, 2_u8));
        let mut key = [0; 16];
        key[..8].copy_from_slice(&high.to_le_bytes());
        key[8..].copy_from_slice(&low.to_le_bytes());
        key
    }
}

/// Contexts by name, in a file, on a server, or in memory. Cloning it gives another handle on the same store.
///
/// ```
/// use contextree_engine::{NewNode, Place};
/// use contextree_store::{ContextSettings, Store};
///
/// let store = Store::open("memory:")?;
/// let mut session = store.create("main", &ContextSettings::default())?;
/// session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
///     context.add(Place::head(), NewNode::text("Hello").role("user"))?;
///     context.commit()?;
///     Ok(())
/// })?;
/// assert_eq!(store.session("main")?.context()?.history().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Returns a store over a backend.
    #[must_use]
    pub fn over(backend: Arc<dyn Backend>, options: StoreOptions) -> Store {
        Store {
            shared: Arc::new(Shared {
                backend,
                clock: options.clock,
                ids: options.ids,
                tries: options.tries,
                pool: Pool::new(options.idle_bytes),
                keys: RandomState::new(),
                steps: AtomicU64::new(0),
            }),
        }
    }

    /// Returns what keeps the rows.
    #[must_use]
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.shared.backend
    }

    /// Makes an empty context.
    ///
    /// # Errors
    ///
    /// The name is taken, or the store cannot be written.
    pub fn create(&self, name: &str, settings: &ContextSettings) -> Result<Session> {
        self.adopt(name, Context::with_options(settings.options()), settings)
    }

    /// Stores a context that is in memory only: one that was imported, or built.
    ///
    /// # Errors
    ///
    /// The name is taken, or the store cannot be written.
    pub fn adopt(
        &self,
        name: &str,
        mut context: Context,
        settings: &ContextSettings,
    ) -> Result<Session> {
        context.record_all();
        let (next_cycle, base) = context.base_record();
        let mut first = self.shared.step();
        let records = context.take_records();
        calls::add_work(&mut first, &records);
        for commit in records.commits {
            first.head = Some(Head { cycle: commit.cycle, digest: commit.digest.0 });
            first.contents.extend(commit.record.shared.iter().map(pack));
            first.commits.push(Commit {
                cycle: commit.cycle,
                effects: Some(commit.record.effects),
                bodies: commit.record.bodies,
            });
        }
        first.attempts = context.attempts().iter().map(attempts::to_row).collect();
        let new = NewContext {
            name: name.to_owned(),
            created_ns: first.now_ns,
            settings: settings.to_json(),
            from: None,
            base: Some(Checkpoint {
                cycle: next_cycle.saturating_sub(1),
                tree: pack_bytes(&base.effects),
                bodies: base.bodies,
            }),
            first,
        };
        self.shared.insist(|backend| backend.create(&new))?;
        self.session(name)
    }

    /// Opens a context.
    ///
    /// # Errors
    ///
    /// There is none of this name, or it cannot be read.
    pub fn session(&self, name: &str) -> Result<Session> {
        Session::open(Arc::clone(&self.shared), name, None)
    }

    /// Opens a context, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read, or not be written.
    pub fn session_or_new(&self, name: &str, settings: &ContextSettings) -> Result<Session> {
        match self.session(name) {
            Err(StoreError::NotFound { .. }) => match self.create(name, settings) {
                // Somebody else was faster.
                Err(StoreError::Exists { .. }) => self.session(name),
                result => result,
            },
            result => result,
        }
    }

    /// Returns a snapshot of a context without opening the context: only what that snapshot needs is read.
    ///
    /// # Errors
    ///
    /// There is no such context or snapshot, or it cannot be read.
    pub fn snapshot(&self, name: &str, address: SnapshotAddress) -> Result<Snapshot, ReadError> {
        load::snapshot(&*self.shared.backend, name, address)
    }

    /// Returns a context's row without opening it.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        self.shared.backend.find(name)
    }

    /// Returns contexts by name: those behind `after`, at most `limit`.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub fn contexts(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.shared.backend.list(after, limit)
    }

    /// Makes a context that begins with a snapshot of another one, or with its working state if no address is given. They share the
    /// stored history; it costs the same for any length.
    ///
    /// # Errors
    ///
    /// There is no such context or snapshot, the name is taken, or the store cannot be written.
    pub fn fork(
        &self,
        name: &str,
        address: Option<SnapshotAddress>,
        new_name: &str,
    ) -> Result<Session, ReadError> {
        let mut session = self.session(name)?;
        let mut first = self.shared.step();
        let head = match address {
            Some(address) => {
                let snapshot = session.snapshot(address)?;
                Some(Head { cycle: snapshot.cycle(), digest: snapshot.digest().0 })
            }
            None => session.row().head,
        };
        first.head = head;
        let row = session.row().clone();
        let (from, base) = match head {
            Some(head) => (Some(Stretch { branch: row.branch, upto: head.cycle }), None),
            // Nothing was committed yet: the two have only their beginning in common, which is small.
            None => {
                let base = self.shared.backend.checkpoint(row.branch, u32::MAX)?;
                (None, base)
            }
        };
        if address.is_none() {
            // The whole working state as one record: many small ones may stand in the journal.
            let mut fork = session.context()?.fork_working();
            if head.is_some() {
                fork.record_changes();
                fork.mark_work_changed();
            } else {
                fork.record_all();
            }
            if let Some(work) = fork.take_records().work {
                first.journal = Some(join_journal(&work.effects, &work.bodies));
                first.contents.extend(work.shared.iter().map(pack));
            }
        }
        let new = NewContext {
            name: new_name.to_owned(),
            created_ns: first.now_ns,
            settings: row.settings,
            from,
            base,
            first,
        };
        self.shared.insist(|backend| backend.create(&new))?;
        Ok(self.session(new_name)?)
    }

    /// Deletes a context, with everything that no other context needs.
    ///
    /// # Errors
    ///
    /// There is none of this name, somebody wrote to it meanwhile, or the store cannot be written.
    pub fn delete(&self, name: &str) -> Result<()> {
        let row = self.shared.backend.find(name)?;
        let row = row.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?;
        self.shared.backend.delete(row.id, row.revision)
    }
}
