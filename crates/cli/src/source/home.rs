//! Stores: opening the one that the options name.

use std::path::Path;
use std::sync::Arc;

use contextree::Clock;
use contextree_store::{Reader, Schemes, Session, SqliteOptions, Store, StoreError, StoreOptions};

use crate::args::Global;
use crate::environment::Environment;
use crate::error::Failure;

/// What is to be done with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only look. The file must be there; nothing beside it is left behind.
    Read,
    /// Change something in it.
    Write,
    /// As `Write`, and make the store if there is none.
    Create,
}

/// An open store.
pub(crate) struct Home {
    /// The store.
    pub(crate) store: Store,
}

/// The kinds of stores that this program can open.
fn schemes() -> Schemes {
    let schemes = Schemes::default();
    #[cfg(feature = "postgres")]
    let schemes = contextree_store_postgres::register(schemes);
    schemes
}

/// One command happens at one instant.
struct Instant(i64);

/// Returns a clock that always says the same.
pub(crate) fn instant(now: i64) -> Arc<dyn Clock> {
    Arc::new(Instant(now))
}

impl Clock for Instant {
    fn now_ns(&self) -> i64 {
        self.0
    }
}

impl Home {
    /// Opens the store.
    pub(crate) fn open(
        global: &Global,
        environment: &Environment,
        access: Access,
    ) -> Result<Home, Failure> {
        if access != Access::Create
            && let Some(path) = global.store.strip_prefix("sqlite:")
            && !Path::new(path).exists()
        {
            return Err(Failure::new("E_STORE_NOT_FOUND", format!("there is no store `{path}`"))
                .detail("store", global.store.as_str())
                .hint("`ctx new` makes one here; `ctx quickstart` shows what can be done with it")
                .hint("`--store sqlite:PATH` opens another one, `-f FILE` reads a file instead"));
        }
        let options = StoreOptions {
            clock: instant(environment.now),
            // Not opened read-only: such a file leaves its log behind, because no one may remove it.
            sqlite: SqliteOptions { create: access == Access::Create, ..SqliteOptions::default() },
            ..StoreOptions::default()
        };
        Ok(Home { store: schemes().open(&global.store, options)? })
    }

    /// Opens a context that the options name, to be read.
    pub(crate) fn reader(&self, global: &Global) -> Result<Reader, Failure> {
        self.store.reader(&global.context).map_err(|error| self.explain(error))
    }

    /// Opens the context that the options name.
    pub(crate) fn session(&self, global: &Global) -> Result<Session, Failure> {
        self.store.session(&global.context).map_err(|error| self.explain(error))
    }

    /// Says of a context that is not there which ones are.
    pub(crate) fn explain(&self, error: StoreError) -> Failure {
        let StoreError::NotFound { context } = &error else { return error.into() };
        let names: Vec<String> = self
            .store
            .contexts(None, 1_000)
            .map(|rows| rows.into_iter().map(|row| row.name).collect())
            .unwrap_or_default();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let failure = Failure::new(error.code(), error.to_string());
        let failure = failure.detail("context", context.as_str());
        let failure = match contextree_selector::closest(context, &names) {
            Some(near) => failure.hint(format!("did you mean `-c {near}`?")),
            None => failure,
        };
        if contextree_selector::closest(context, &names).is_some() {
            return failure.hint("`ctx contexts` lists those there are");
        }
        match names.as_slice() {
            [] => failure.hint(format!("`ctx new {context}` makes it")),
            [only] => failure.hint(format!("there is one context: `-c {only}`")),
            _ => failure.hint("`ctx contexts` lists those there are"),
        }
    }
}
