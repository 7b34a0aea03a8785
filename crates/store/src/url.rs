//! The address of a store.

use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::memory::Memory;
#[cfg(feature = "sqlite")]
use crate::sqlite::Sqlite;
use crate::store::{Store, StoreOptions};

impl Store {
    /// Opens the store at an address: `memory:` or `sqlite:PATH`. The file is made if it is not there.
    ///
    /// Addresses that begin with `postgres://` are opened by the crate `contextree-store-postgres`.
    ///
    /// # Errors
    ///
    /// The address is none, or the store cannot be opened.
    pub fn open(url: &str) -> Result<Store> {
        Store::open_with(url, StoreOptions::default())
    }

    /// As [`Store::open`], with options.
    ///
    /// # Errors
    ///
    /// See [`Store::open`].
    pub fn open_with(url: &str, options: StoreOptions) -> Result<Store> {
        let fail =
            |message: &str| StoreError::Url { url: url.to_owned(), message: message.to_owned() };
        match url.split_once(':') {
            Some(("memory", "")) => Ok(Store::over(Arc::new(Memory::new()), options)),
            Some(("memory", _)) => Err(fail("nothing stands behind `memory:`")),
            #[cfg(feature = "sqlite")]
            Some(("sqlite", "")) => Err(fail("the path of the file is missing")),
            #[cfg(feature = "sqlite")]
            Some(("sqlite", path)) => {
                let file = Sqlite::open(path, &options.sqlite)?;
                Ok(Store::over(Arc::new(file), options))
            }
            Some(("postgres" | "postgresql", _)) => {
                Err(fail("this program was built without PostgreSQL"))
            }
            Some((scheme, _)) => Err(fail(&format!("`{scheme}:` is unknown"))),
            None => Err(fail("it has no scheme")),
        }
    }
}
