//! `/mcp`: the tools for models, for the owner of the token.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::Error;
use contextree_app::catalog::Right;
use contextree_mcp::{Caller, Done, Runner, Work};
use tokio::sync::watch;

use super::Server;
use super::command::{Received, collect};
use crate::shell::{Identity, Lane, Late, Problem, Shell, note_caller, require};

/// Runs tools where commands run: in the slots of the caller, within the time of a command.
struct InPool {
    shell: Arc<Shell>,
    lane: Arc<Lane>,
    /// Closed when the request ends, whether it was answered or the caller is gone.
    open: watch::Receiver<()>,
}

impl std::fmt::Debug for InPool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("InPool")
    }
}

impl Runner for InPool {
    fn run(&self, right: Right, work: Work) -> Done {
        let (shell, lane) = (Arc::clone(&self.shell), Arc::clone(&self.lane));
        let mut open = self.open.clone();
        let late = if right == Right::Read { Late::Abandon } else { Late::Await };
        Box::pin(async move {
            tokio::select! {
                done = shell.pool.run(&lane, late, work) => done,
                // The library runs tools on tasks of its own, which do not end with the request. The pool cancels the work.
                _ = open.changed() => Err(Error::new(Code::Canceled.as_str(), "the caller is gone")),
            }
        })
    }
}

/// Answers a request of the Model Context Protocol. Tools that write exist for callers who may write.
pub(crate) async fn answer(server: Arc<Server>, request: Request<Body>) -> Response {
    let identity = match server.shell.identify(request.method(), request.headers()) {
        Ok(identity) => identity.clone(),
        Err(problem) => return problem.into_response(),
    };
    let mut response =
        run(&server, &identity, request).await.unwrap_or_else(Problem::into_response);
    note_caller(&identity, &mut response);
    response
}

async fn run(
    server: &Server,
    identity: &Identity,
    request: Request<Body>,
) -> Result<Response, Problem> {
    require(identity, Right::Read)?;
    let (mut parts, body) = request.into_parts();
    let limit = server.shell.limits.body;
    let Received { bytes, room: _room } = collect(server, &parts.headers, body, limit).await?;
    let (_request, open) = watch::channel(());
    let (shell, lane) = (Arc::clone(&server.shell), Arc::clone(&identity.lane));
    parts.extensions.insert(Caller {
        names: identity.names.clone(),
        right: identity.right.min(Right::Write),
        limits: server.shell.limits.into(),
        runner: Arc::new(InPool { shell, lane, open }),
    });
    let request = Request::from_parts(parts, Body::from(bytes));
    let response = server.mcp.answer(request).await.map(Body::new);
    if identity.right > Right::Read {
        server.hub.wrote();
    }
    Ok(response)
}
