//! Noticing that contexts changed, in this process or in another one.

use contextree::store::Store;

use super::{Access, Workspace};
use crate::Error;
use crate::wire::ContextRow;

/// Notices that contexts changed. It knows no time: the door decides when to look.
#[derive(Clone, Debug)]
pub struct Watch {
    workspace: Workspace,
    store: Store,
}

impl Workspace {
    /// Returns what notices changes of this workspace's contexts.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened, or this is a document.
    pub fn watch(&self) -> Result<Watch, Error> {
        let store = self.store(Access::Read)?.handle();
        Ok(Watch { workspace: self.clone(), store })
    }

    /// Returns the row of the context; `None` if it does not exist for this workspace. Does not open it.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn row(&self) -> Result<Option<ContextRow>, Error> {
        let row = self.store(Access::Read)?.find(self.context())?;
        Ok(row.as_ref().map(ContextRow::from))
    }
}

impl Watch {
    /// Calls `wake` when another process may have changed something. Returns false if the store does not announce changes; then
    /// [`Watch::version`] tells, for those who ask.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached.
    pub fn on_change(&self, wake: impl Fn() + Send + Sync + 'static) -> Result<bool, Error> {
        Ok(self.store.backend().subscribe(Box::new(move |_, _| wake()))?)
    }

    /// Returns a number that changes when anything in the store changes; `None` if the store has no such number. Cheap enough to be
    /// asked many times a second.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn version(&self) -> Result<Option<u64>, Error> {
        Ok(self.store.backend().version()?)
    }

    /// Returns the row of a context; `None` if it does not exist for this workspace.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn row(&self, name: &str) -> Result<Option<ContextRow>, Error> {
        self.workspace.clone().with_context(name).row()
    }

    /// Returns contexts, by name, only those after `after`, at most `limit`. Damaged ones are left out, so that changes of
    /// the others are noticed.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn rows(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>, Error> {
        let rows = self.store.intact_contexts(after, limit)?;
        let is_known =
            |row: &&contextree::store::ContextRow| self.workspace.names.contains(&row.name);
        Ok(rows.iter().filter(is_known).map(ContextRow::from).collect())
    }
}
