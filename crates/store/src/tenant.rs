//! A store as one tenant sees it: the contexts whose names begin with a prefix, and nothing else.

use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::names;
use crate::scope::Scoped;
use crate::store::Store;

/// A tenant of a store: the contexts whose names begin with a prefix.
///
/// For who opens a store for a tenant ([`StoreOptions::tenant`](crate::StoreOptions::tenant), [`Store::for_tenant`]), nothing else exists: no other context is
/// listed, found, read, forked, changed or checked, and no name outside of the prefix can be taken. What its contexts contain is
/// stored with them alone, never shared with equal contents of others, so neither size nor time tells what others have.
///
/// ```
/// use contextree_store::{ContextSettings, Store, StoreOptions, Tenant};
///
/// let tenant = Tenant::new("team-a/")?;
/// let store = Store::open_with("memory:", StoreOptions { tenant: Some(tenant), ..StoreOptions::default() })?;
/// store.create("team-a/main", &ContextSettings::default())?;
/// assert_eq!(store.create("team-b/main", &ContextSettings::default()).unwrap_err().code(), "E_CONTEXT_NAME");
/// # Ok::<(), contextree_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant {
    prefix: Arc<str>,
}

impl Tenant {
    /// Returns the tenant of a prefix. Its last character must not be a letter or a digit, so that `team-a/` does not include `team-ab/`.
    ///
    /// # Errors
    ///
    /// `E_CONTEXT_NAME` if no context can have a name that begins with it, or it ends with a letter or a digit.
    pub fn new(prefix: &str) -> Result<Tenant> {
        names::check(prefix)?;
        if prefix.ends_with(char::is_alphanumeric) {
            let message = "as the prefix of a tenant it ends with a sign such as `/`".to_owned();
            return Err(StoreError::Name { name: prefix.to_owned(), message });
        }
        Ok(Tenant { prefix: prefix.into() })
    }

    /// Returns the prefix.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether a context of this name belongs to the tenant.
    #[must_use]
    pub fn owns(&self, name: &str) -> bool {
        name.starts_with(&*self.prefix)
    }
}

impl Store {
    /// Returns the same store as a tenant sees it. It shares nothing in memory with this one.
    ///
    /// # Errors
    ///
    /// `E_CONTEXT_NAME` if this is the store of another tenant.
    pub fn for_tenant(&self, tenant: &Tenant) -> Result<Store> {
        if let Some(own) = self.tenant()
            && !own.owns(tenant.prefix())
        {
            let message = format!("the store is open for the tenant `{}`", own.prefix());
            return Err(StoreError::Name { name: tenant.prefix().to_owned(), message });
        }
        let backend = Arc::new(Scoped::over(Arc::clone(self.backend()), tenant));
        Ok(Store { shared: Arc::new(self.shared.with_backend(backend, Some(tenant.clone()))) })
    }

    /// Returns the tenant that this store is open for.
    #[must_use]
    pub fn tenant(&self) -> Option<&Tenant> {
        self.shared.tenant.as_ref()
    }
}
