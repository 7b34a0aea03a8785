//! Whether the server lives, whether it can answer, and what it did.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::catalog::Right;

use super::Server;
use crate::shell::{Late, METRICS_TEXT, Problem, require};

/// Answers whether the process lives.
pub(crate) fn health() -> Response {
    text("ok\n", "text/plain; charset=utf-8")
}

/// Answers whether requests can be answered: the store can be read, and the server is not about to end.
pub(crate) async fn ready(server: &Arc<Server>) -> Response {
    if *server.shell.stopping().borrow() {
        let message = "the server is about to end";
        return Problem::new(Code::Overloaded, message).into_response();
    }
    let workspace = server.workspace.clone();
    let row = move |_| workspace.row();
    // Not in a lane of a caller: anyone may ask.
    match server.shell.pool.run(&server.own_lane, Late::Abandon, row).await {
        Ok(_) => text("ready\n", "text/plain; charset=utf-8"),
        Err(error) => {
            tracing::warn!(%error, "not ready");
            Problem::new(Code::StoreUnavailable, "the store cannot be read").into_response()
        }
    }
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
