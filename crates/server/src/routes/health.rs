//! Whether the server lives, whether it can answer, and what it did.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::catalog::Right;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::Server;
use crate::shell::{METRICS_TEXT, Problem, require};

/// Answers whether the process lives.
pub(crate) fn health() -> Response {
    text("ok\n", "text/plain; charset=utf-8")
}

/// Whether the store could be read when it was last tried, and when that was.
pub(crate) type Readiness = Arc<Mutex<Option<(Instant, bool)>>>;

/// How long an answer is used again. Anyone may ask, as often as they like: the store is asked at most this often.
const SHARED: Duration = Duration::from_secs(1);

/// Answers whether requests can be answered: the store can be read, and the server is not about to end.
pub(crate) async fn ready(server: &Arc<Server>) -> Response {
    if *server.shell.stopping().borrow() {
        let message = "the server is about to end";
        return Problem::new(Code::Overloaded, message).into_response();
    }
    // Not in the pool, where commands of callers would be in the way. A look that takes too long continues, and later callers wait for it.
    match timeout(server.shell.limits.time, can_read(server)).await {
        Ok(true) => text("ready\n", "text/plain; charset=utf-8"),
        Ok(false) | Err(_) => {
            Problem::new(Code::StoreUnavailable, "the store cannot be read").into_response()
        }
    }
}

async fn can_read(server: &Server) -> bool {
    let mut last = Arc::clone(&server.readiness).lock_owned().await;
    if let Some((at, is_ready)) = *last
        && at.elapsed() < SHARED
    {
        return is_ready;
    }
    let workspace = server.workspace.clone();
    let look = spawn_blocking(move || {
        let is_ready = match workspace.row() {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%error, "not ready");
                false
            }
        };
        *last = Some((Instant::now(), is_ready));
        is_ready
    });
    look.await.unwrap_or(false)
}

/// Answers with the counters. They are about all contexts, so the caller must be able to read all.
pub(crate) fn metrics(server: &Server, request: &Request<Body>) -> Response {
    let allowed = || {
        let identity = server.shell.identify(request.method(), request.headers())?;
        require(identity, Right::Read)?;
        match identity.names.is_all() {
            true => Ok(()),
            false => Err(Problem::new(Code::Forbidden, "this needs access to the whole store")),
        }
    };
    if let Err(problem) = allowed() {
        return problem.into_response();
    }
    let metrics = &server.shell.metrics;
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    metrics.running.set(number(server.shell.pool.running()));
    metrics.waiting.set(number(server.shell.pool.waiting()));
    text(metrics.to_text(), METRICS_TEXT)
}

fn text(body: impl Into<Body>, kind: &'static str) -> Response {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
