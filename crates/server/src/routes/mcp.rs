//! `/mcp`: the tools for models, for the owner of the token.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::catalog::Right;
use contextree_mcp::Caller;
use tokio::time::timeout;

use super::Server;
use crate::shell::{Problem, note_caller, require};

/// Answers a request of the Model Context Protocol. Tools that write exist for callers who may write.
pub(crate) async fn answer(server: Arc<Server>, mut request: Request<Body>) -> Response {
    let identity = match server.shell.identify(request.method(), request.headers()) {
        Ok(identity) => identity.clone(),
        Err(problem) => return problem.into_response(),
    };
    if let Err(problem) = require(&identity, Right::Read) {
        return problem.into_response();
    }
    let caller = Caller { names: identity.names.clone(), right: identity.right.min(Right::Write) };
    request.extensions_mut().insert(caller);
    // A caller waits for its own slots: one that calls many tools at once cannot take those of all others.
    let Ok(_slot) = Arc::clone(&identity.lane).acquire_owned().await else {
        return Problem::new(Code::Overloaded, "the server is shutting down").into_response();
    };
    let answered = timeout(server.shell.limits.time, server.mcp.answer(request)).await;
    let mut response = match answered {
        Ok(response) => response.map(Body::new),
        Err(_) => Problem::new(Code::Deadline, "the tool took too long").into_response(),
    };
    if identity.right > Right::Read {
        server.hub.wrote();
    }
    note_caller(&identity, &mut response);
    response
}
