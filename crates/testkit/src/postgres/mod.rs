//! A private PostgreSQL server for tests and benchmarks: found, started, and gone when the process is.
//!
//! - `CONTEXTREE_TEST_POSTGRES` names a server that runs already; then nothing is started, and [`Server::kill`] is not possible.
//! - Otherwise the server's programs are looked for beside `pg_config`, on the `PATH`, and where Debian keeps them. If there are none,
//!   the test fails and names `cargo xtask setup`, which installs them.
//! - The data lie in a new folder below the system's temporary folder, owned by an unprivileged user (the server refuses root). The port is
//!   free and on the loopback only.
//! - A watchdog, a shell that reads from a pipe, stops the server and deletes the folder when the pipe closes: at the end of the process,
//!   however it ends.
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

/// Returns the one server that all tests of this process share. Every test takes a schema of its own in it.
///
/// # Panics
///
/// If there is no server and none can be started: a test that cannot run has failed.
#[must_use]
pub fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| match Server::obtain() {
        Ok(server) => server,
        Err(message) => panic!("no PostgreSQL for this test: {message}"),
    })
}
