//! The handler over HTTP: one request, one answer, no sessions. Who may call is decided by the server that mounts it.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use contextree_app::Workspace;
use contextree_app::catalog::Right;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;

use crate::Caller;
use crate::handler::Handler;
use crate::mount::mount;

/// Answers requests of the protocol. The server puts a [`Caller`] into the extensions of each request; without one, the caller may only read.
#[derive(Clone)]
pub struct Http(Arc<StreamableHttpService<Handler, NeverSessionManager>>);

impl std::fmt::Debug for Http {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Http")
    }
}

impl Http {
    /// Returns a service over a workspace, for bodies of at most `body` bytes.
    #[must_use]
    pub fn new(workspace: Workspace, body: usize) -> Http {
        let make = move || Handler::new(workspace.clone(), Caller::with_right(Right::Read));
        Http(Arc::new(mount(make, Arc::default(), false, body)))
    }

    /// Answers a request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        self.0.handle(request).await
    }
}
