//! In place of `crate::slot`: a slot whose state is made when it is first put away.

use std::sync::Arc;

use contextree_engine::Context;
use contextree_store::{ContextId, ContextRow, Revision};
use contextree_tree::Log;

use crate::checkpoint::Spacing;
use crate::error::Result;
use crate::state::{State, context};
use crate::store::Shared;
use crate::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct Slot {
    state: Mutex<Option<Arc<State>>>,
    writer: Mutex<Option<Box<Writer>>>,
}

pub(crate) struct Writer {
    pub(crate) context: Context,
    pub(crate) id: ContextId,
    pub(crate) revision: Revision,
    pub(crate) spacing: Spacing,
    pub(crate) journal: Log<Vec<u8>>,
    pub(crate) is_stale: bool,
}

impl Writer {
    pub(crate) fn is_at(&self, row: &ContextRow) -> bool {
        (self.id, self.revision) == (row.id, row.revision)
    }
}

impl Slot {
    pub(crate) fn new(state: Option<Arc<State>>, writer: Option<Box<Writer>>) -> Self {
        Slot { state: Mutex::new(state), writer: Mutex::new(writer) }
    }

    pub(crate) fn latest(&self) -> Option<Arc<State>> {
        self.state.lock().unwrap().clone()
    }

    pub(crate) fn lock_writer(&self) -> MutexGuard<'_, Option<Box<Writer>>> {
        self.writer.lock().unwrap()
    }

    pub(crate) fn take_writer(&self) -> Option<Box<Writer>> {
        let state = self.latest()?;
        let made = || Writer {
            context: context(),
            id: state.row.id,
            revision: state.row.revision,
            spacing: Spacing::default(),
            journal: Log::default(),
            is_stale: false,
        };
        Some(self.lock_writer().take().unwrap_or_else(|| Box::new(made())))
    }

    /// Reads the state, as the first use of a context does.
    pub(crate) fn open(&self, name: &str) {
        self.state.lock().unwrap().get_or_insert_with(|| Arc::new(State::new(name)));
    }

    pub(crate) fn put_away(&self) -> Option<(Arc<State>, u64)> {
        Some((self.latest()?, 0))
    }
}

/// As in `crate::slot`.
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
    pub(crate) fn new(shared: &Arc<Shared>, name: &str) -> Result<Arc<Lease>> {
        shared.pool.lease(shared, name)
    }
}
