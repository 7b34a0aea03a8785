//! Contextree as a server of the Model Context Protocol: an agent asks about its own context, brings back what was pruned, and pins what
//! matters.
//!
//! ```text
//! client ─stdio or HTTP→ handler ─→ tool ─app→ entries ─page→ text of at most `limit` bytes, and a cursor
//! ```
//!
//! | room | what |
//! |---|---|
//! | `tools` | the tools, in a fixed order: arguments, what they run, and how the answer reads |
//! | `page` | cuts an answer to its limit; cursors |
//! | `resources` | contexts and snapshots as resources |
//! | `runner` | where tools run, and for how long: a server that mounts the handler decides |
//! | `handler` | the protocol: besides `http` and `mount`, the only file that names a type of `rmcp` |
//! | `http` | the same handler for a server that mounts it |
//! | `mount` | how a handler is mounted, ours or the fixture of the conformance suite (`examples/mcp_fixture`) |
//!
//! Tools translate: what they do is in `contextree-app`. Reading changes nothing, and tools that write exist only if the caller may write.

#![forbid(unsafe_code)]

mod handler;
mod http;
mod mount;
mod page;
mod resources;
mod runner;
mod schema;
mod tools;

use std::sync::Arc;

use contextree_app::catalog::Right;
use contextree_app::{Error, Limits, Names, Workspace};
use rmcp::ServiceExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;

use handler::Handler;
pub use http::Http;
use runner::Threads;
pub use runner::{Done, Runner, Work};

/// Who calls: which contexts exist for them, what they may do, and how much.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The contexts.
    pub names: Names,
    /// What they may do. [`Right::Read`] hides the tools that write.
    pub right: Right,
    /// How much a tool may do and return.
    pub limits: Limits,
    /// Where tools run.
    pub runner: Arc<dyn Runner>,
}

impl Caller {
    /// Returns a caller who sees every context. Tools run on threads of their own, within the default limits.
    #[must_use]
    pub fn with_right(right: Right) -> Caller {
        let runner = Arc::new(Threads::default());
        Caller { names: Names::all(), right, limits: Limits::default(), runner }
    }
}

/// Serves one client on standard input and output until it ends.
///
/// The context of the workspace is the one that tools use unless they are given another.
///
/// # Errors
///
/// If the client does not speak the protocol, or the runtime cannot be started.
pub fn run_stdio(workspace: Workspace, caller: Caller) -> Result<(), Error> {
    let runtime = Runtime::new().map_err(|error| Error::io("the runtime", error))?;
    let (read, write) = rmcp::transport::stdio();
    let done = runtime.block_on(serve(workspace, caller, read, write));
    // A thread that reads standard input cannot be stopped.
    runtime.shutdown_background();
    done
}

/// Serves one client on two streams until it ends. See [`run_stdio`].
///
/// # Errors
///
/// If the client does not speak the protocol.
pub async fn serve(
    workspace: Workspace,
    caller: Caller,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Error> {
    let failed = |error: String| Error::io("standard input", std::io::Error::other(error));
    let service = match Handler::new(workspace, caller).serve((read, write)).await {
        Ok(service) => service,
        // A client that closes its end before it says anything has ended, not failed.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(failed(error.to_string())),
    };
    service.waiting().await.map(|_| ()).map_err(|error| failed(error.to_string()))
}
