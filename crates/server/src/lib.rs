//! The HTTP server of Contextree: every command as a route, changes as events, and the page that shows what the model saw.
//!
//! ```text
//! connection ─shell→ who may call? ─routes→ request ─app→ response ─→ JSON, lines or events
//!                                              │
//!                                              └─ pool: commands on threads of their own, within limits
//! ```
//!
//! | room | what |
//! |---|---|
//! | [`shell`] | what every request passes, whatever is mounted inside: listener, hosts, tokens, limits, errors, counters |
//! | `routes` | one route per command of `contextree-app`, and a few of the server's own |
//! | `api` | the description of the routes: OpenAPI, and pages for people |
//! | `export` | the page as one file, with its data |
//! | `hub` | changes of contexts, for everyone who listens |
//!
//! The server is a door: it holds no rule of the engine. What a route does is in `contextree-app`; docs/server.md describes the routes.

#![forbid(unsafe_code)]

mod api;
mod export;
mod hub;
mod routes;
pub mod shell;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use contextree_app::{Error, Workspace};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use export::export_html;
use shell::{Limits, Shell, Site, Tokens, listen};

/// How a server runs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens. Port 0 takes one that is free.
    pub listen: SocketAddr,
    /// Other names that it answers for, with their ports; needed for every address but loopback.
    pub hosts: Vec<String>,
    /// The URL that callers use, if a reverse proxy is in between.
    pub public_url: Option<String>,
    /// Origins of other sites whose pages may call it.
    pub origins: Vec<String>,
    /// Who may call.
    pub tokens: Tokens,
    /// How much they may ask for.
    pub limits: Limits,
    /// How long requests may take to end when the server ends.
    pub grace: Duration,
}

impl Config {
    /// Returns the usual settings.
    #[must_use]
    pub fn new(listen: SocketAddr, tokens: Tokens) -> Config {
        Config {
            listen,
            hosts: Vec::new(),
            public_url: None,
            origins: Vec::new(),
            tokens,
            limits: Limits::default(),
            grace: Duration::from_secs(10),
        }
    }
}

/// A server that runs. It ends when [`Running::stop`] is called, or when this is dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the server: requests that it has begun are answered first.
    pub async fn stop(mut self) {
        // It fails if the server has ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.task.await;
    }
}

/// Starts a server on the current runtime.
///
/// # Errors
///
/// If the address cannot be used, no one could call, or the store cannot be watched.
pub async fn start(config: Config, workspace: Workspace) -> Result<Running, Error> {
    if config.tokens.is_empty() {
        return Err(Error::usage("a server needs a token"));
    }
    let place = config.listen.to_string();
    let listening = listen(config.listen).await.map_err(|error| {
        let hint = "`--listen 127.0.0.1:0` takes a port that is free";
        Error::io(&place, error).with_hint(hint)
    })?;
    let address = listening.address();
    let mut site = Site::at(address);
    config.hosts.iter().for_each(|host| site.add_host(host));
    config.origins.iter().for_each(|origin| site.add_origin(origin));
    if let Some(url) = &config.public_url {
        site.set_public_url(url)?;
    }
    if !site.has_hosts() {
        return Err(Error::usage(format!("no host is named for {place}")).with_hint(
            "name those that callers use with `--host`, or the URL with `--public-url`",
        ));
    }
    let shell = Arc::new(Shell::new(site, config.tokens, config.limits, address.port()));
    let router = routes::router(&shell, workspace, &config.origins)?;
    let (stop, stopped) = oneshot::channel();
    let stopped = async {
        // The caller is gone: end as well.
        let _ = stopped.await;
    };
    let task = tokio::spawn(listening.serve(shell, router, stopped, config.grace));
    Ok(Running { address, stop: Some(stop), task })
}

/// Runs a server until it is asked to end: by a signal, or by `stop`. `ready` is called when it listens.
///
/// # Errors
///
/// See [`start`].
pub fn run(
    config: Config,
    workspace: Workspace,
    ready: impl FnOnce(SocketAddr) -> Result<(), Error>,
) -> Result<(), Error> {
    let runtime = Runtime::new().map_err(|error| Error::io("the runtime", error))?;
    let grace = config.grace;
    let done = runtime.block_on(async {
        let signals = signals()?;
        let running = start(config, workspace).await?;
        ready(running.address())?;
        signals.await;
        tracing::info!("ending");
        running.stop().await;
        Ok(())
    });
    // Changes that are being stored are stored before the process ends.
    runtime.shutdown_timeout(grace);
    done
}

/// Waits until the process is asked to end.
///
/// # Errors
///
/// If signals cannot be listened to.
pub async fn until_signal() -> Result<(), Error> {
    signals()?.await;
    Ok(())
}

/// Returns what is ready when the process is asked to end.
fn signals() -> Result<impl Future<Output = ()>, Error> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).map_err(|error| Error::io("signals", error));
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut terminate = listen(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        Ok(async {
            // Without signals only the caller can end it.
            let _ = tokio::signal::ctrl_c().await;
        })
    }
}
