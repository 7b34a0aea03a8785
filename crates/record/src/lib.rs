//! The recording proxy of Contextree: passes the calls of an agent on to its model, and keeps what was sent.
//!
//! ```text
//! agent ─→ proxy ─→ model          requests and responses pass as they are, streams as they arrive
//!            │
//!            └─ events ─→ writer   a thread of its own: conversation? context? ─→ one durable step per event
//! ```
//!
//! | file | what |
//! |---|---|
//! | `proxy` | takes connections, passes requests on, watches bodies |
//! | `route` | which upstream, which provider, which context a path names |
//! | `headers` | what is passed on, and the few headers that the record knows |
//! | `watch` | a body that reports what passes through it |
//! | `socket` | WebSockets, which are watched frame by frame |
//! | `writer` | the thread that records; `contextree-app` decides what |
//! | `child` | the environment of a program that is started |
//!
//! The agent never waits for the store: a failure to record is a warning, and traffic continues. [`Config::strict`] does the opposite.
//! With [`Config::budget`], the writer answers each request with the one that is sent instead, and the agent waits for that.
//! Credentials pass through and are kept nowhere: the record sees the bodies, and the headers that `headers` lists.

#![forbid(unsafe_code)]

mod child;
mod client;
mod decode;
mod headers;
mod proxy;
mod route;
mod socket;
mod watch;
mod writer;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use contextree::budget::Budget;
use contextree_app::record::Recorder;
use contextree_app::{Error, Workspace};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use child::{Ended, environment, led, run_child};
pub use route::{Upstream, Upstreams};
pub use writer::{CallLine, Outcome, Report};

use proxy::{Proxy, Rules};
use writer::Writer;

/// How a proxy runs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens: a loopback address. Port 0 takes one that is free.
    pub listen: SocketAddr,
    /// Where calls are passed on to.
    pub upstreams: Upstreams,
    /// What contexts are named after that neither a path nor a client names.
    pub name: String,
    /// Whether calls wait for the store, and fail if they cannot be recorded.
    pub strict: bool,
    /// What requests are pruned to before they are sent.
    pub budget: Option<Budget>,
    /// How long calls may take to end when the proxy ends.
    pub grace: Duration,
}

impl Config {
    /// Returns the usual settings.
    #[must_use]
    pub fn new(listen: SocketAddr, name: &str) -> Config {
        Config {
            listen,
            upstreams: Upstreams::default(),
            name: name.to_owned(),
            strict: false,
            budget: None,
            grace: Duration::from_secs(10),
        }
    }
}

/// A proxy that runs.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    writer: Writer,
}

impl Running {
    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the proxy: calls that are running end first, within the grace period, and everything that was delivered is recorded.
    pub async fn stop(mut self) {
        // It fails if the proxy has ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.task.await;
        let writer = self.writer;
        // It waits for the store, not for a network.
        let _ = tokio::task::spawn_blocking(move || writer.finish()).await;
    }
}

/// Starts a proxy on the current runtime. `report` is called for each call that ended, and for what could not be recorded.
///
/// # Errors
///
/// If the address is not a loopback address or cannot be used, the certificates of the system cannot be read, or the store cannot be
/// opened.
pub async fn start(
    config: Config,
    workspace: &Workspace,
    report: impl FnMut(Report) + Send + 'static,
) -> Result<Running, Error> {
    let place = config.listen.to_string();
    if !config.listen.ip().is_loopback() {
        let message = format!("{place} is not an address of this machine alone");
        return Err(Error::usage(message).with_hint(
            "other machines could use your account through the proxy; listen on 127.0.0.1 or [::1]",
        ));
    }
    let recorder = Recorder::new(workspace, &config.name)?.with_budget(config.budget.clone());
    let client = client::client()?;
    let listener = TcpListener::bind(config.listen).await.map_err(|error| {
        Error::io(&place, error).with_hint("`--listen 127.0.0.1:0` takes a port that is free")
    })?;
    let address = listener.local_addr().map_err(|error| Error::io(&place, error))?;
    let writer = Writer::start(recorder, report)?;
    let rules = Rules { strict: config.strict, prunes: config.budget.is_some() };
    let proxy = Proxy::new(address, client, config.upstreams, writer.queue(), rules);
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(proxy::serve(Arc::new(proxy), listener, stopped, config.grace));
    Ok(Running { address, stop: Some(stop), task, writer })
}
