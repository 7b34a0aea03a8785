//! Mounts a handler over HTTP. The tools of Contextree and the fixture of the conformance suite are mounted by the same code.

use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::tower::StreamableHttpServerConfig;

/// Returns a service for requests with bodies of at most `body` bytes. `make` returns the handler of a request or a session.
///
/// With sessions, a server can ask a client of an earlier version of the protocol for something in the middle of a call.
///
/// Hosts and origins are checked by the server that mounts it, for all its routes alike.
pub(crate) fn mount<H, M>(
    make: impl Fn() -> H + Send + Sync + 'static,
    manager: Arc<M>,
    has_sessions: bool,
    body: usize,
) -> StreamableHttpService<H, M>
where
    H: ServerHandler + Send + 'static,
    M: SessionManager,
{
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_legacy_session_mode(has_sessions)
        .with_max_request_body_bytes(body);
    StreamableHttpService::new(move || Ok(make()), manager, config)
}
