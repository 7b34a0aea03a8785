//! Accepting connections, and ending them well.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use super::Shell;

/// The largest head of a request, in bytes.
const HEAD: usize = 64 << 10;

/// A socket that listens.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// Opens a socket. Port 0 takes one that is free.
///
/// # Errors
///
/// If the address is in use or cannot be used.
pub async fn listen(address: SocketAddr) -> io::Result<Listening> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(Listening { listener, address })
}

impl Listening {
    /// Returns the address, with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` is ready. Then no connection is accepted any more, and those that are open end with the response
    /// they wait for, at most within `grace`.
    pub async fn serve(
        self,
        shell: Arc<Shell>,
        router: Router,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) {
        let graceful = GracefulShutdown::new();
        let slots = Arc::new(Semaphore::new(shell.limits.connections.max(1)));
        tokio::pin!(stop);
        loop {
            let slot = tokio::select! {
                slot = Arc::clone(&slots).acquire_owned() => slot,
                () = &mut stop => break,
            };
            let Ok(slot) = slot else { break };
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // The caller is gone, or there are no more descriptors: others may end meanwhile.
                        tracing::warn!(%error, "a connection was not accepted");
                        sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                () = &mut stop => break,
            };
            let connection = connection(&shell, &router, stream);
            let connection = graceful.watch(connection);
            let shell = Arc::clone(&shell);
            tokio::spawn(async move {
                shell.metrics.connections.inc();
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended");
                }
                shell.metrics.connections.dec();
                drop(slot);
            });
        }
        // New connections are refused from here on, and streams of events end.
        shell.stopping.send_replace(true);
        drop(self.listener);
        if timeout(grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("connections were closed before they ended");
        }
    }
}

fn connection(
    shell: &Arc<Shell>,
    router: &Router,
    stream: TcpStream,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + use<> {
    // Responses are written at once; waiting for more would cost tens of milliseconds.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    let limits = shell.limits;
    let mut stream = TimeoutStream::new(stream);
    // Someone who does not read what they asked for does not keep it in memory for ever.
    stream.set_write_timeout(Some(limits.body_time));
    let (shell, router) = (Arc::clone(shell), router.clone());
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (shell, router) = (Arc::clone(&shell), router.clone());
        async move { Ok::<_, Infallible>(shell.answer(&router, request.map(Body::new)).await) }
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), service)
}
