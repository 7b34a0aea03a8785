//! What a process holds of one context: its newest known state for all readers, and the one context that writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use contextree_engine::{Context, ContextOptions};
use contextree_tree::Log;

use crate::backend::Backend;
use crate::checkpoint::Spacing;
use crate::error::{Result, StoreError};
use crate::rows::{ContextId, ContextRow, Revision};
use crate::state::{Newest, State};
use crate::store::Shared;

/// A snapshot in memory takes about as much as this many nodes.
const NODES_OF_A_SNAPSHOT: usize = 8;

/// What a process holds of one context.
///
/// Readers and writers never wait for each other. A write works on the `writer` under its lock, and at its end puts a
/// new immutable state into `latest`; that lock is held only to exchange one pointer. Readers keep the state they have.
#[derive(Default)]
pub(crate) struct Slot {
    latest: Mutex<Option<Arc<State>>>,
    /// Held while the context is read from the store, so that it is read once.
    loading: Mutex<()>,
    /// `None` until the first write, and while one is under way.
    writer: Mutex<Option<Box<Writer>>>,
}

/// The context that writes, at the revision that it is at.
pub(crate) struct Writer {
    pub(crate) context: Context,
    pub(crate) id: ContextId,
    pub(crate) revision: Revision,
    pub(crate) spacing: Spacing,
    /// The entries of the working state since the last commit, as they are stored.
    pub(crate) journal: Log<Vec<u8>>,
    /// True if the context is not what is stored, because a step failed half way.
    pub(crate) is_stale: bool,
}

impl Writer {
    pub(crate) fn is_at(&self, row: &ContextRow) -> bool {
        !self.is_stale && (self.id, self.revision) == (row.id, row.revision)
    }

    /// Drops snapshots from memory that take more of it than the newest one, so that a context in use takes a few times
    /// what its newest snapshot takes, whatever its history. Keeps at least `most` of them. Returns true if some were
    /// dropped.
    pub(crate) fn compact(&mut self, most: usize) -> bool {
        let snapshots = self.context.history().len();
        let nodes = self.context.working().node_count();
        snapshots > most && snapshots * NODES_OF_A_SNAPSHOT > nodes && self.context.forget_history()
    }

    /// Returns a writer that continues a state in memory. Only the attempts are read from the store.
    fn new(state: &State, options: ContextOptions) -> Result<Writer> {
        let newest = state.newest()?;
        let mut restore = newest.tail.resume();
        let attempts = state.read_attempts()?;
        let running = state.running();
        state.place().rest(&mut restore, running, state.journal.iter(), Some(&attempts))?;
        Ok(Writer {
            context: restore.finish(options, attempts),
            id: state.row.id,
            revision: state.row.revision,
            spacing: newest.spacing,
            journal: state.journal.fork(state.journal.len()),
            is_stale: false,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    pub(crate) fn new(state: Option<Arc<State>>, writer: Option<Box<Writer>>) -> Self {
        Slot { latest: Mutex::new(state), loading: Mutex::default(), writer: Mutex::new(writer) }
    }

    /// Returns the newest state that this process knows.
    pub(crate) fn latest(&self) -> Option<Arc<State>> {
        lock(&self.latest).clone()
    }

    /// Makes a state the newest one, unless there is a newer one already.
    pub(crate) fn publish(&self, state: &Arc<State>) {
        let mut latest = lock(&self.latest);
        let is_newer = latest.as_ref().is_none_or(|latest| {
            latest.row.id != state.row.id || latest.row.revision <= state.row.revision
        });
        if is_newer {
            *latest = Some(Arc::clone(state));
        }
    }

    /// Returns the newest state that is stored: the one in memory, or what another process wrote.
    pub(crate) fn newest(&self, backend: &Arc<dyn Backend>, name: &str) -> Result<Arc<State>> {
        let row = crate::names::find(&**backend, name)?;
        let row = row.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?;
        if let Some(state) = self.known(&row) {
            return Ok(state);
        }
        let _loading = lock(&self.loading);
        if let Some(state) = self.known(&row) {
            return Ok(state);
        }
        tracing::debug!(context = name, revision = row.revision.get(), "opening a context");
        let state = Arc::new(State::open(backend, name)?);
        self.publish(&state);
        Ok(state)
    }

    /// Returns the state in memory, if it is at least as new as a row.
    fn known(&self, row: &ContextRow) -> Option<Arc<State>> {
        let state = self.latest()?;
        if state.row.id != row.id || state.row.revision < row.revision {
            return None;
        }
        if !state.has_large_past() {
            return Some(state);
        }
        let state = Arc::new(state.without_past());
        self.publish(&state);
        Some(state)
    }

    /// Locks the context that writes. Waits for other writers of this process.
    pub(crate) fn lock_writer(&self) -> MutexGuard<'_, Option<Box<Writer>>> {
        lock(&self.writer)
    }

    /// Like [`Slot::lock_writer`], but fails instead of waiting.
    pub(crate) fn try_lock_writer(
        &self,
    ) -> std::result::Result<MutexGuard<'_, Option<Box<Writer>>>, ()> {
        match self.writer.try_lock() {
            Ok(writer) => Ok(writer),
            Err(TryLockError::Poisoned(writer)) => Ok(writer.into_inner()),
            Err(TryLockError::WouldBlock) => Err(()),
        }
    }

    /// Looks at the context that writes, if it is idle and at the revision of a row. Never waits.
    pub(crate) fn peek<T>(&self, row: &ContextRow, look: impl FnOnce(&Context) -> T) -> Option<T> {
        let writer = self.try_lock_writer().ok()?;
        let writer = writer.as_ref().filter(|writer| writer.is_at(row))?;
        Some(look(&writer.context))
    }

    /// Makes sure that the context that writes is at a state. Fails with `E_CONFLICT` if it is further on.
    pub(crate) fn prepare(
        &self,
        shared: &Shared,
        writer: &mut Option<Box<Writer>>,
        state: &State,
    ) -> Result<()> {
        if writer.as_ref().is_some_and(|writer| writer.is_at(&state.row)) {
            return Ok(());
        }
        if let Some(latest) = self.latest()
            && latest.row.id == state.row.id
            && latest.row.revision > state.row.revision
        {
            return Err(StoreError::Conflict {
                context: state.row.name.clone(),
                expected: state.row.revision,
                found: latest.row.revision,
                head: latest.row.head,
            });
        }
        let mut fresh = match Writer::new(state, shared.options(&state.settings)?) {
            // Attempts are read now, and may be those of a later revision.
            Err(error @ StoreError::Corrupt { .. }) => {
                let now = shared.backend.find(&state.row.name)?;
                return Err(match now {
                    Some(now) if now.revision != state.row.revision => StoreError::Conflict {
                        context: state.row.name.clone(),
                        expected: state.row.revision,
                        found: now.revision,
                        head: now.head,
                    },
                    _ => error,
                });
            }
            fresh => fresh?,
        };
        if let Some(mut before) = writer.take().filter(|before| before.id == fresh.id) {
            before.context.restart_from(fresh.context);
            fresh.context = before.context;
        }
        *writer = Some(Box::new(fresh));
        Ok(())
    }

    /// Leaves only what is needed to go on: the context is put away. Returns its state, and about how many bytes are cached
    /// with it.
    pub(crate) fn put_away(&self) -> Option<(Arc<State>, u64)> {
        let state = self.latest()?;
        let mut fresh = state.without_past();
        let mut slot = self.lock_writer();
        if let Some(writer) = slot.as_mut().filter(|writer| writer.is_at(&state.row))
            && writer.compact(1)
            && let Some(tail) = writer.context.tail()
        {
            let newest = Newest { tail: Arc::new(tail), spacing: writer.spacing };
            fresh = fresh.after(state.row.clone(), newest, &state.journal, &[]);
        }
        let cached = slot.as_ref().map_or(0, |writer| writer.context.cached_bytes());
        drop(slot);
        let fresh = Arc::new(fresh);
        self.publish(&fresh);
        Some((fresh, cached as u64))
    }

    /// Takes the writer out, to be packed away or dropped.
    pub(crate) fn take_writer(&self) -> Option<Box<Writer>> {
        self.lock_writer().take()
    }
}

/// Keeps a context open in this process. When the last lease on it is dropped, the pool keeps the context for the next.
pub(crate) struct Lease {
    pub(crate) shared: Arc<Shared>,
    pub(crate) name: String,
    pub(crate) slot: Arc<Slot>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.pool.release(&self.name, &self.slot);
    }
}

impl Lease {
    /// Leases a context, whether it is in memory or not.
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Result<Arc<Lease>> {
        shared.pool.lease(shared, name)
    }

    /// Returns a handle on the store.
    pub(crate) fn shared_store(&self) -> crate::store::Store {
        crate::store::Store { shared: Arc::clone(&self.shared) }
    }

    pub(crate) fn newest(&self) -> Result<Arc<State>> {
        self.slot.newest(&self.shared.backend, &self.name)
    }
}
