//! A private PostgreSQL server for tests and benchmarks, started on demand and removed with the
//! process.
//!
//! - `CONTEXTREE_TEST_POSTGRES` names a running server; then none is started, and [`Server::kill`]
//!   is not possible.
//! - Otherwise the server's programs are searched for next to `pg_config`, on the `PATH`, and in
//!   Debian's folder. If they are missing, the test fails and names `cargo xtask setup`, which
//!   installs them.
//! - The data is in a new folder below the system's temporary folder, owned by an unprivileged user
//!   (the server refuses root). The port is free and bound to the loopback interface only.
//! - A watchdog, a shell that reads from a pipe, stops the server and deletes the folder when the
//!   pipe closes: at the end of the process, however it ends.
//!
//! ```no_run
//! let server = contextree_testkit::postgres::shared();
//! let url = server.url_with("schema=first_test");
//! ```

mod programs;
mod server;

use std::sync::OnceLock;

pub use programs::Programs;
pub use server::{Server, Settings, is_root};

/// Returns the server that all tests of this process share. Every test uses a schema of its own.
///
/// # Panics
///
/// If no server can be started: a test that cannot run has failed.
#[must_use]
pub fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| match Server::obtain() {
        Ok(server) => server,
        Err(message) => panic!("no PostgreSQL for this test: {message}"),
    })
}
