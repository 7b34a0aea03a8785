//! Opening the store of a workspace.

use std::sync::Arc;

use contextree::engine::vocabulary_of;
use contextree::selector::closest;
use contextree::store::{
    ContextRow, ContextSettings, Reader as StoreReader, Session, Sqlite, SqliteOptions, Store,
    StoreError, StoreOptions, display_path, scheme_of,
};
use contextree::{Code, Edition};

use super::{Location, Names, Workspace};
use crate::{Advice, Error};

/// What a command does with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads it. A file must exist.
    Read,
    /// Changes it. A file must exist.
    Write,
    /// Deletes from it, also if the disk is full. A file must exist.
    Delete,
    /// Changes it; a missing file is created.
    Create,
}

/// An open store, as far as the workspace knows it.
pub(crate) struct OpenStore {
    store: Store,
    names: Names,
}

impl Workspace {
    /// Opens the store.
    pub(crate) fn store(&self, access: Access) -> Result<OpenStore, Error> {
        let store = match &self.location {
            Location::Url { url, .. } => self.open(url, access)?,
            Location::Store { store, .. } => store.clone(),
            Location::File(_) => {
                return Err(
                    Error::usage("a document can only be read").with_advice(Advice::ImportDocument)
                );
            }
        };
        Ok(OpenStore { store, names: self.names.clone() })
    }

    fn open(&self, url: &str, access: Access) -> Result<Store, Error> {
        let create = access == Access::Create;
        let clock = Arc::clone(self.clock());
        let tenant = self.tenant().cloned();
        let options = StoreOptions { clock, create, tenant, ..StoreOptions::default() };
        let options = contextree::with_budgets(options);
        let Some(path) = url.strip_prefix("sqlite:") else {
            // Unlike the library, a command line does not take a bare word for the path of a new store.
            let store = match scheme_of(url) {
                Some(_) => contextree::open_with(url, options).map_err(Error::from),
                None => Store::open_with(url, options).map_err(Error::from),
            };
            return store.map_err(|error| self.missing(error));
        };
        // Opened for writing also by readers: a read-only connection could not remove the log of the file.
        let use_reserve = access == Access::Delete;
        let file = SqliteOptions { create, use_reserve, ..SqliteOptions::default() };
        match Sqlite::open(path, &file) {
            // As it was written, not the absolute path.
            Err(StoreError::Missing { message, .. }) => {
                let place = display_path(path);
                Err(self.missing(StoreError::Missing { place, message }.into()))
            }
            sqlite => Ok(Store::over(Arc::new(sqlite?), options)),
        }
    }

    /// Adds to the error for a missing store what to do.
    fn missing(&self, error: Error) -> Error {
        match error.code() {
            Code::StoreNotFound => error
                .with_detail("store", self.url())
                .with_advice(Advice::NewStore)
                .with_advice(Advice::OtherStore),
            _ => error,
        }
    }

    /// Returns the same workspace with its store open: for programs that run many commands.
    ///
    /// # Errors
    ///
    /// If the store does not exist or cannot be opened.
    pub fn opened(mut self) -> Result<Workspace, Error> {
        let OpenStore { store, .. } = self.store(Access::Write)?;
        self.location = Location::Store { store, shown: self.url().to_owned() };
        Ok(self)
    }

    /// Like [`Workspace::opened`], but a store that is a missing file is created.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened or created.
    pub fn created(mut self) -> Result<Workspace, Error> {
        let OpenStore { store, .. } = self.store(Access::Create)?;
        self.location = Location::Store { store, shown: self.url().to_owned() };
        Ok(self)
    }

    /// Opens the context of the workspace, to change it.
    pub(crate) fn session(&self, store: &OpenStore) -> Result<Session, Error> {
        store.session(self.context())
    }
}

impl OpenStore {
    /// Opens a context, to change it.
    pub(crate) fn session(&self, name: &str) -> Result<Session, Error> {
        self.known(name)?;
        self.store.session(name).map_err(|error| self.explain(error))
    }

    /// Opens a context, to change it; creates it if it does not exist.
    pub(crate) fn session_or_new(
        &self,
        name: &str,
        edition: Option<Edition>,
    ) -> Result<Session, Error> {
        self.names.check_new(name)?;
        let edition = edition.unwrap_or_default();
        let settings = ContextSettings {
            edition,
            vocabulary: vocabulary_of(edition),
            ..ContextSettings::default()
        };
        Ok(self.store.session_or_new(name, &settings)?)
    }

    /// Opens a context, to read it. Unlike a session, this does not load what only a writer needs.
    pub(crate) fn reader(&self, name: &str) -> Result<StoreReader, Error> {
        self.known(name)?;
        self.store.reader(name).map_err(|error| self.explain(error))
    }

    /// Returns the row of a context without opening it.
    pub(crate) fn find(&self, name: &str) -> Result<Option<ContextRow>, Error> {
        match self.names.contains(name) {
            true => Ok(self.store.find(name)?),
            false => Ok(None),
        }
    }

    /// Returns contexts by name, only those after `after`, at most `limit`.
    pub(crate) fn contexts(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>, Error> {
        let Some(prefixes) = self.names.prefixes() else {
            return Ok(self.store.contexts(after, limit)?);
        };
        let mut rows = Vec::new();
        for prefix in prefixes {
            let left = limit - rows.len();
            if left == 0 {
                break;
            }
            // Other contexts are not even read: damage in one of them must not fail this caller, or reach it.
            rows.extend(self.store.contexts_within(prefix, after, left)?);
        }
        Ok(rows)
    }

    /// Returns the store, to create a context of this name.
    pub(crate) fn for_new(&self, name: &str) -> Result<&Store, Error> {
        self.names.check_new(name)?;
        Ok(&self.store)
    }

    /// Returns the store, for a command that concerns one context.
    pub(crate) fn for_context(&self, name: &str) -> Result<&Store, Error> {
        self.known(name)?;
        Ok(&self.store)
    }

    /// Returns the store, for a command that concerns all contexts.
    pub(crate) fn whole(&self) -> Result<&Store, Error> {
        match self.names.is_all() {
            true => Ok(&self.store),
            false => Err(Error::new("E_FORBIDDEN", "this needs access to the whole store")),
        }
    }

    /// Returns another handle on the store.
    pub(super) fn handle(&self) -> Store {
        self.store.clone()
    }

    /// Returns whether all contexts are known.
    pub(crate) fn is_whole(&self) -> bool {
        self.names.is_all()
    }

    /// Fails for a context that the workspace does not know as it does for one that does not exist.
    fn known(&self, name: &str) -> Result<(), Error> {
        match self.names.contains(name) {
            true => Ok(()),
            false => Err(self.explain(StoreError::NotFound { context: name.to_owned() })),
        }
    }

    /// Adds to the error for a missing context which ones there are.
    pub(crate) fn explain(&self, error: StoreError) -> Error {
        let StoreError::NotFound { context } = &error else { return error.into() };
        // A name that is missing may be what is damaged.
        let rows = match self.contexts(None, 1_000) {
            Err(error) if error.code() == Code::StoreCorrupt => return error,
            rows => rows.unwrap_or_default(),
        };
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let failure =
            Error::new(error.code(), error.to_string()).with_detail("context", context.as_str());
        match (closest(context, &names), names.as_slice()) {
            (Some(near), _) => {
                let near = near.to_owned();
                failure.with_advice(Advice::SimilarContext(near)).with_advice(Advice::ListContexts)
            }
            (None, []) => failure.with_advice(Advice::NewContext(context.clone())),
            (None, [only]) => failure.with_advice(Advice::OnlyContext((*only).to_owned())),
            (None, _) => failure.with_advice(Advice::ListContexts),
        }
    }
}
