//! A store: contexts by name.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use contextree_engine::{
    Clock, Context, ContextOptions, IdSource, LogicalClock, Records, Snapshot, SnapshotAddress,
};
use contextree_query::QueryLimits;
use contextree_tree::Cycle;

use crate::append::Note;
use crate::attempts;
use crate::backend::Backend;
use crate::clock::SystemClock;
use crate::error::{ReadError, Result, StoreError};
use crate::names;
use crate::packed::pack_bytes;
use crate::pool::Pool;
use crate::reader::Reader;
use crate::rows::{Checkpoint, ContextRow, Head, NewContext, Step, Stretch};
use crate::scope::Scoped;
use crate::session::Session;
use crate::settings::ContextSettings;
use crate::tenant::Tenant;

/// Completes the options that a context is opened with, see [`StoreOptions::on_open`].
pub type OpenHook = Arc<dyn Fn(&ContextSettings, &mut ContextOptions) -> Result<()> + Send + Sync>;

/// How a store is used by this process.
#[derive(Clone)]
pub struct StoreOptions {
    /// Where stamps come from: those of nodes, and those of the store's own rows. The system clock by default;
    /// [`StoreOptions::deterministic`] has a logical one.
    pub clock: Arc<dyn Clock>,
    /// Generates the ids that callers do not give; readable ones by default.
    pub ids: Option<Arc<dyn IdSource>>,
    /// Whether a store that does not exist is created: a file, the tables of a schema. True by default.
    pub create: bool,
    /// How often [`Session::update`] tries again after a conflict.
    pub tries: usize,
    /// Contexts that are no longer used stay in memory as long as all of them together take at most about this many bytes.
    /// 0 closes them at once.
    pub idle_bytes: u64,
    /// Called with a context's settings and the options it is about to be opened with, whichever door it is opened through.
    /// For layers above the store that keep something in [`ContextSettings::more`], such as a budget, and turn it into a
    /// policy and measures.
    pub on_open: Option<OpenHook>,
    /// The tenant that the store is opened for: no other contexts than its own exist then.
    pub tenant: Option<Tenant>,
    /// How much work a selector may be, where the call itself has no limits.
    pub query_limits: QueryLimits,
    /// How a SQLite file is opened.
    #[cfg(feature = "sqlite")]
    pub sqlite: crate::sqlite::SqliteOptions,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions {
            clock: Arc::new(SystemClock),
            ids: None,
            create: true,
            tries: 1_000,
            idle_bytes: 256 << 20,
            on_open: None,
            tenant: None,
            query_limits: QueryLimits::default(),
            #[cfg(feature = "sqlite")]
            sqlite: crate::sqlite::SqliteOptions::default(),
        }
    }
}

impl StoreOptions {
    /// Returns options with a logical clock: the same steps give the same bytes, whenever they are made. For tests and comparisons.
    #[must_use]
    pub fn deterministic() -> Self {
        StoreOptions { clock: Arc::new(LogicalClock), ..StoreOptions::default() }
    }
}

impl std::fmt::Debug for StoreOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StoreOptions").field("tries", &self.tries).finish_non_exhaustive()
    }
}

/// How often a step is repeated whose answer was lost.
const RETRIES: usize = 5;

/// What all readers and sessions of a store share.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
    ids: Option<Arc<dyn IdSource>>,
    on_open: Option<OpenHook>,
    pub(crate) query_limits: QueryLimits,
    pub(crate) tenant: Option<Tenant>,
    pub(crate) tries: usize,
    pub(crate) pool: Pool,
    keys: RandomState,
    steps: AtomicU64,
}

impl Shared {
    /// Returns the same over another backend, with nothing in memory.
    pub(crate) fn with_backend(&self, backend: Arc<dyn Backend>, tenant: Option<Tenant>) -> Shared {
        Shared {
            backend,
            clock: Arc::clone(&self.clock),
            ids: self.ids.clone(),
            on_open: self.on_open.clone(),
            query_limits: self.query_limits.clone(),
            tenant,
            tries: self.tries,
            pool: Pool::new(self.pool.bound()),
            keys: RandomState::new(),
            steps: AtomicU64::new(0),
        }
    }

    /// The options that a context of this store is opened with.
    pub(crate) fn options(&self, settings: &ContextSettings) -> Result<ContextOptions> {
        let mut options = settings.options();
        options.clock = Some(Arc::clone(&self.clock));
        options.ids.clone_from(&self.ids);
        options.inline_contents = self.tenant.is_some();
        if let Some(hook) = &self.on_open {
            hook(settings, &mut options)?;
        }
        Ok(options)
    }

    /// Returns an empty step with a key of its own.
    pub(crate) fn step(&self) -> Step {
        Step { now_ns: self.clock.now_ns(), key: self.key(), ..Step::default() }
    }

    /// Takes a step that has a key, and again if it is unknown whether it was taken: the key makes it happen once.
    pub(crate) fn retry_unknown<T>(&self, act: impl Fn(&dyn Backend) -> Result<T>) -> Result<T> {
        let mut tries = 0;
        loop {
            match act(&*self.backend) {
                Err(StoreError::Unavailable { unknown: true, message }) if tries < RETRIES => {
                    tries += 1;
                    tracing::warn!(tries, message, "the answer was lost, repeating the step");
                }
                result => return result,
            }
        }
    }

    /// Returns a key that no other step has: the seed of the hasher is random, and steps are counted. No caller sees it.
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
/// assert_eq!(store.reader("main")?.snapshot_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) shared: Arc<Shared>,
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
        let tenant = options.tenant.or_else(|| backend.tenant().cloned());
        let backend = match &tenant {
            Some(tenant) => Arc::new(Scoped::over(backend, tenant)),
            None => backend,
        };
        Store {
            shared: Arc::new(Shared {
                backend,
                clock: options.clock,
                ids: options.ids,
                on_open: options.on_open,
                query_limits: options.query_limits,
                tenant,
                tries: options.tries,
                pool: Pool::new(options.idle_bytes),
                keys: RandomState::new(),
                steps: AtomicU64::new(0),
            }),
        }
    }

    /// Returns the backend.
    #[must_use]
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.shared.backend
    }

    /// Creates an empty context.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the store cannot be written.
    pub fn create(&self, name: &str, settings: &ContextSettings) -> Result<Session> {
        self.adopt(name, Context::with_options(settings.options()), settings)
    }

    /// Stores a context that is only in memory: one that was imported or built.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the store cannot be written.
    pub fn adopt(
        &self,
        name: &str,
        context: Context,
        settings: &ContextSettings,
    ) -> Result<Session> {
        self.adopt_with(name, context, settings, None)
    }

    /// Like [`Store::adopt`], but with notes: side records that are kept beside the context.
    ///
    /// # Errors
    ///
    /// Like [`Store::adopt`].
    pub fn adopt_with<'n>(
        &self,
        name: &str,
        mut context: Context,
        settings: &ContextSettings,
        notes: impl IntoIterator<Item = Note<'n>>,
    ) -> Result<Session> {
        names::check(name)?;
        context.set_inline_contents(self.shared.tenant.is_some());
        context.record_all();
        let (next_cycle, base) = context.base_record();
        let mut first = self.shared.step();
        first.add_records(context.take_records());
        first.attempts = context.attempts().iter().map(attempts::to_row).collect();
        first.side.extend(notes.into_iter().map(Note::to_change));
        let new = NewContext {
            name: name.to_owned(),
            created_ns: first.now_ns,
            settings: settings.to_json(),
            from: None,
            base: Some(Checkpoint {
                cycle: next_cycle.previous(),
                tree: pack_bytes(&base.effects),
                bodies: base.bodies,
            }),
            first,
        };
        self.shared.retry_unknown(|backend| backend.create(&new))?;
        self.session(name)
    }

    /// Opens a context to be read and written. A second session of the same context in this process loads nothing.
    ///
    /// # Errors
    ///
    /// If there is no context of this name, or it cannot be read.
    pub fn session(&self, name: &str) -> Result<Session> {
        Session::open(&self.shared, name)
    }

    /// Opens a context to be read. A second reader of the same context in this process loads nothing.
    ///
    /// # Errors
    ///
    /// If there is no context of this name, or it cannot be read.
    pub fn reader(&self, name: &str) -> Result<Reader> {
        Reader::open(&self.shared, name)
    }

    /// Opens a context, and creates it if there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read or written.
    pub fn session_or_new(&self, name: &str, settings: &ContextSettings) -> Result<Session> {
        match self.session(name) {
            Err(StoreError::NotFound { .. }) => match self.create(name, settings) {
                // Another process was faster.
                Err(StoreError::Exists { .. }) => self.session(name),
                result => result,
            },
            result => result,
        }
    }

    /// Returns one snapshot of a context. Reads only what that snapshot needs, if it is not in memory.
    ///
    /// # Errors
    ///
    /// If there is no such context or snapshot, or it cannot be read.
    pub fn snapshot(&self, name: &str, address: SnapshotAddress) -> Result<Snapshot, ReadError> {
        self.reader(name)?.snapshot(address)
    }

    /// Returns a context's row without opening it.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        names::find(&*self.shared.backend, name)
    }

    /// Lists contexts by name: those after `after`, at most `limit`.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn contexts(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.shared.backend.list(after, limit)
    }

    /// Lists contexts whose names begin with a prefix, by name: those after `after`, at most `limit`. Reads no other context.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn contexts_within(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        self.shared.backend.list_within(prefix, after, limit)
    }

    /// Like [`Store::contexts`], but leaves out contexts whose rows are damaged instead of failing.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn intact_contexts(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.shared.backend.list_intact(after, limit)
    }

    /// Creates a context that begins with a snapshot of another one, or with its working state if no address is given. They
    /// share the stored history, so this costs the same for any length.
    ///
    /// # Errors
    ///
    /// If there is no such context or snapshot, the name is taken, or the store cannot be written.
    pub fn fork(
        &self,
        name: &str,
        address: Option<SnapshotAddress>,
        new_name: &str,
    ) -> Result<Session, ReadError> {
        names::check(new_name)?;
        let session = self.session(name)?;
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
            // Before the first commit the two share only the tree they begin with, which is small.
            None => {
                let base = self.shared.backend.checkpoint(row.branch, Cycle::MAX)?;
                (None, base)
            }
        };
        if address.is_none() {
            // The whole working state as one record, instead of the many small ones in the journal.
            let mut fork = session.fork_working()?;
            if head.is_some() {
                fork.record_changes();
                fork.mark_work_changed();
            } else {
                fork.record_all();
            }
            let Records { work, .. } = fork.take_records();
            first.add_records(Records { work, ..Records::default() });
        }
        let new = NewContext {
            name: new_name.to_owned(),
            created_ns: first.now_ns,
            settings: row.settings,
            from,
            base,
            first,
        };
        self.shared.retry_unknown(|backend| backend.create(&new))?;
        Ok(self.session(new_name)?)
    }

    /// Gives a context another name. Everything else stays as it is.
    ///
    /// # Errors
    ///
    /// If there is no context of the old name, or one of the new name, or the store cannot be written.
    pub fn rename(&self, name: &str, new_name: &str) -> Result<ContextRow> {
        names::check(new_name)?;
        let row = self.find(name)?;
        let row = row.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?;
        self.shared.backend.rename(row.id, new_name)
    }

    /// Deletes a context with its undone lines, and everything that no other context needs.
    ///
    /// # Errors
    ///
    /// If there is no context of this name, it was written meanwhile, or the store cannot be written.
    pub fn delete(&self, name: &str) -> Result<()> {
        match self.forget_operations(name) {
            // What is damaged can be deleted, too.
            Ok(_) | Err(StoreError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        let row = self.find(name)?;
        let row = row.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?;
        self.shared.backend.delete(row.id, row.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::{ContextSettings, Store, StoreOptions};

    #[test]
    fn times_are_those_of_the_system_unless_the_options_are_deterministic() {
        let created = |options| {
            let store = Store::open_with("memory:", options).unwrap();
            store.create("c", &ContextSettings::default()).unwrap().row().created_ns
        };
        let in_2020 = 1_577_836_800_000_000_000;
        assert!(created(StoreOptions::default()) > in_2020);
        assert!(created(StoreOptions::deterministic()) < in_2020);
    }

    #[test]
    fn contexts_that_no_one_uses_are_counted() {
        let store = Store::open("memory:").unwrap();
        for number in 0..70 {
            let session = store.create(&format!("n{number}"), &ContextSettings::default()).unwrap();
            store.shared.pool.check();
            drop(session);
        }
        for name in ["n0", "n69", "n0"] {
            drop(store.reader(name).unwrap());
            store.shared.pool.check();
        }
    }
}
