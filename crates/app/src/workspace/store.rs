//! Opening the store of a workspace.

use std::sync::Arc;

use contextree::Code;
use contextree::selector::closest;
use contextree::store::{
    Session, Sqlite, SqliteOptions, Store, StoreError, StoreOptions, scheme_of,
};

use super::{Location, Workspace};
use crate::{Advice, Error};

/// What a command does with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads it. A file must exist.
    Read,
    /// Changes it. A file must exist.
    Write,
    /// Changes it; a missing file is created.
    Create,
}

/// An open store.
pub(crate) struct OpenStore {
    /// The store.
    pub(crate) store: Store,
    /// The file, if it is one that this command has opened.
    pub(crate) sqlite: Option<Arc<Sqlite>>,
}

impl Workspace {
    /// Opens the store.
    pub(crate) fn store(&self, access: Access) -> Result<OpenStore, Error> {
        let url = match &self.location {
            Location::Url { url, .. } => url,
            Location::Store { store, .. } => {
                return Ok(OpenStore { store: store.clone(), sqlite: None });
            }
            Location::File(_) => {
                return Err(
                    Error::usage("a document can only be read").with_advice(Advice::ImportDocument)
                );
            }
        };
        let create = access == Access::Create;
        let clock = Arc::clone(self.clock());
        let options = StoreOptions { clock, create, ..StoreOptions::default() };
        let Some(path) = url.strip_prefix("sqlite:") else {
            // Unlike the library, a command line does not take a bare word for the path of a new store.
            let store = match scheme_of(url) {
                Some(_) => contextree::open_with(url, options).map_err(Error::from),
                None => Store::open_with(url, options).map_err(Error::from),
            };
            return Ok(OpenStore {
                store: store.map_err(|error| self.missing(error))?,
                sqlite: None,
            });
        };
        // Opened for writing also by readers: a read-only connection could not remove the log of the file.
        let file = SqliteOptions { create, ..SqliteOptions::default() };
        let sqlite = match Sqlite::open(path, &file) {
            // As it was written, not the absolute path.
            Err(StoreError::Missing { message, .. }) => {
                let place = path.to_owned();
                return Err(self.missing(StoreError::Missing { place, message }.into()));
            }
            sqlite => Arc::new(sqlite?),
        };
        let store = Store::over(Arc::clone(&sqlite) as Arc<_>, options);
        Ok(OpenStore { store, sqlite: Some(sqlite) })
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

    /// Opens the context of the workspace.
    pub(crate) fn session(&self, store: &OpenStore) -> Result<Session, Error> {
        store.store.session(self.context()).map_err(|error| store.explain(error))
    }
}

impl OpenStore {
    /// Adds to the error for a missing context which ones there are.
    pub(crate) fn explain(&self, error: StoreError) -> Error {
        let StoreError::NotFound { context } = &error else { return error.into() };
        let rows = self.store.contexts(None, 1_000).unwrap_or_default();
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
