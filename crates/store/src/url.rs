//! Stores by URL.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::mask::display_url;
use crate::memory::Memory;
#[cfg(feature = "sqlite")]
use crate::sqlite::{Sqlite, SqliteOptions};
use crate::store::{Store, StoreOptions};

/// Opens the backend at a URL.
pub type Opener = Arc<dyn Fn(&str, &StoreOptions) -> Result<Arc<dyn Backend>> + Send + Sync>;

/// The kinds of stores that a program can open, by the scheme of their URL.
///
/// The one place that decides which backend a URL belongs to. It knows `memory:` and, with the feature, `sqlite:`; crates
/// with other backends add theirs.
///
/// ```
/// use std::sync::Arc;
///
/// use contextree_store::{Memory, Schemes, StoreOptions};
///
/// let schemes = Schemes::default().with("scratch", |_url, _options| Ok(Arc::new(Memory::new())));
/// let store = schemes.open("scratch:one", StoreOptions::default())?;
/// assert!(store.contexts(None, 10)?.is_empty());
/// # Ok::<(), contextree_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Schemes {
    openers: BTreeMap<String, Opener>,
}

impl std::fmt::Debug for Schemes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.openers.keys()).finish()
    }
}

impl Default for Schemes {
    fn default() -> Self {
        let schemes =
            Schemes { openers: BTreeMap::new() }.with("memory", |url, _| match rest(url) {
                "" => Ok(Arc::new(Memory::new())),
                _ => Err(invalid(url, "`memory:` takes no path")),
            });
        #[cfg(feature = "sqlite")]
        let schemes = schemes.with("sqlite", |url, options| match rest(url) {
            "" => Err(invalid(url, "the path of the file is missing")),
            path => {
                let create = options.create && options.sqlite.create;
                Ok(Arc::new(Sqlite::open(path, &SqliteOptions { create, ..options.sqlite })?))
            }
        });
        schemes
    }
}

impl Schemes {
    /// Adds a scheme, or replaces it.
    #[must_use]
    pub fn with(
        mut self,
        scheme: &str,
        opener: impl Fn(&str, &StoreOptions) -> Result<Arc<dyn Backend>> + Send + Sync + 'static,
    ) -> Self {
        self.openers.insert(scheme.to_owned(), Arc::new(opener));
        self
    }

    /// Returns the schemes, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.openers.keys().map(String::as_str)
    }

    /// Opens the store at a URL.
    ///
    /// # Errors
    ///
    /// If the URL is invalid, its scheme is unknown, or the store cannot be opened.
    pub fn open(&self, url: &str, options: StoreOptions) -> Result<Store> {
        // What does not look like a scheme may be anything, also a password: it is not repeated in a message.
        let Some(scheme) = scheme_of(url) else {
            let is_path = !url.is_empty() && !url.contains(['@', '=', ':', '?']);
            return Err(match is_path {
                true => invalid(url, &format!("the scheme is missing; a file is `sqlite:{url}`")),
                false => invalid(url, "the scheme is missing"),
            });
        };
        let backend = match self.openers.get(scheme) {
            Some(opener) => opener(url, &options)?,
            None if ["postgres", "postgresql"].contains(&scheme) => {
                return Err(invalid(
                    url,
                    "a database on PostgreSQL is opened by `contextree::open`, with the feature `postgres`",
                ));
            }
            None => return Err(invalid(url, &format!("unknown scheme `{scheme}:`"))),
        };
        tracing::debug!(scheme, "opened a store");
        Ok(Store::over(backend, options))
    }
}

/// Returns the scheme of a URL, or `None` for a path. A single letter is a Windows drive.
#[must_use]
pub fn scheme_of(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let is_scheme = scheme.len() >= 2
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(scheme)
}

/// Returns what follows the scheme.
fn rest(url: &str) -> &str {
    url.split_once(':').map_or("", |(_, rest)| rest)
}

fn invalid(url: &str, message: &str) -> StoreError {
    StoreError::Url { url: display_url(url), message: message.to_owned() }
}

impl Store {
    /// Opens the store at a URL: `memory:` or `sqlite:PATH`. The file is created if it does not exist.
    ///
    /// URLs that begin with `postgres://` are opened by the crate `contextree-store-postgres`, see [`Schemes`].
    ///
    /// # Errors
    ///
    /// If the URL is invalid, or the store cannot be opened.
    pub fn open(url: &str) -> Result<Store> {
        Store::open_with(url, StoreOptions::default())
    }

    /// Like [`Store::open`], but with options.
    ///
    /// # Errors
    ///
    /// See [`Store::open`].
    pub fn open_with(url: &str, options: StoreOptions) -> Result<Store> {
        Schemes::default().open(url, options)
    }
}

#[cfg(test)]
mod tests {
    use super::scheme_of;

    #[test]
    fn a_text_with_a_scheme_is_a_url_and_everything_else_a_path() {
        for (text, scheme) in [
            ("memory:", Some("memory")),
            ("sqlite:agent.db", Some("sqlite")),
            ("postgres://me@host/db?schema=a:b", Some("postgres")),
            ("mysql://host/db", Some("mysql")),
            ("agent.db", None),
            ("./notes:today.db", None),
            ("/data/agent.db", None),
            (r"C:\data\agent.db", None),
            ("host=h password=a:b", None),
            ("", None),
        ] {
            assert_eq!(scheme_of(text), scheme, "{text}");
        }
    }
}
