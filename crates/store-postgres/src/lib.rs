//! Contexts in PostgreSQL, shared by many processes on many machines.
//!
//! ```text
//! Backend ─wait→ attempt, repeated where that is safe ─pool→ one statement, one round trip ─→ PostgreSQL
//!                                                       └─ notices follow, gathered ─→ other processes
//! ```
//!
//! A step is one statement: it increments the context's revision if that is the expected one, and adds everything else only if it
//! did. A step whose answer was lost is repeated; its stored key tells whether it was stored before. docs/scale.md describes the
//! tables, the parameters of the URL, what each error means, and how this runs on distributed engines.
//!
//! ```no_run
//! use contextree_store::Backend;
//! use contextree_store_postgres::Postgres;
//!
//! let store = Postgres::open("postgres://me@db.example/agents?schema=team_a&sslmode=verify-full")?;
//! for context in store.list(None, 10)? {
//!     assert!(context.revision.get() > 0);
//! }
//! # Ok::<(), contextree_store::StoreError>(())
//! ```

mod census;
mod error;
mod lines;
mod link;
mod notify;
mod options;
mod read;
mod remove;
mod schema;
mod side;
mod sql;
mod store;
mod tally;
mod tenants;
mod tend;
mod tls;
mod wait;
mod write;

pub use store::Postgres;

use std::sync::Arc;

use contextree_store::{Result, Schemes, Store, StoreOptions};

/// Adds `postgres:` and `postgresql:` to the kinds of stores that a program can open.
#[must_use]
pub fn register(schemes: Schemes) -> Schemes {
    ["postgres", "postgresql"].into_iter().fold(schemes, |schemes, scheme| {
        schemes.with(scheme, |url, options| {
            Ok(Arc::new(match options.create {
                true => Postgres::open(url)?,
                false => Postgres::open_existing(url)?,
            }))
        })
    })
}

/// Opens the store at a URL: `postgres://…`, or whatever [`Store::open_with`] opens.
///
/// # Errors
///
/// If the URL is invalid, or the store cannot be opened.
pub fn open(url: &str, options: StoreOptions) -> Result<Store> {
    register(Schemes::default()).open(url, options)
}
