//! Opens a store by its URL or path.

use contextree_store::{Store, StoreOptions, scheme_of};

use crate::error::Result;

/// Opens the store at a URL or path, with the system clock.
///
/// | text | store | feature |
/// |---|---|---|
/// | `agent.db`, `sqlite:agent.db` | a SQLite file, created if it does not exist | `sqlite` |
/// | `postgres://user@host/database` | a PostgreSQL database | `postgres` |
/// | `memory:` | memory of this process, for tests | none |
///
/// A text with a scheme of two or more characters is a URL, everything else is a path.
///
/// # Errors
///
/// If the URL is invalid, if its feature is off, or if the store cannot be opened.
pub fn open(url: &str) -> Result<Store> {
    open_with(url, StoreOptions::default())
}

/// Like [`open`], but with options. [`StoreOptions::deterministic`] has a logical clock, so that the same steps give the same bytes.
///
/// # Errors
///
/// See [`open`].
pub fn open_with(url: &str, options: StoreOptions) -> Result<Store> {
    #[cfg(feature = "tokens")]
    let options = crate::with_budgets(options);
    Ok(match scheme_of(url) {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => contextree_store_postgres::open(url, options)?,
        Some(_) => Store::open_with(url, options)?,
        None => Store::open_with(&format!("sqlite:{url}"), options)?,
    })
}
