//! The router: one route per command, and a few of the server's own.

mod command;
mod events;
mod form;
mod health;
mod import;
mod mcp;
mod page;
mod session;
mod tag;

use std::sync::Arc;

pub(crate) use page::bytes as page_file;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Method, Request, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, any, get, on, post};
use contextree::Code;
use contextree_app::catalog::{COMMANDS, Command, Right, Scope};
use contextree_app::{Error, Workspace};
use contextree_mcp::Http as Mcp;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::cors::CorsLayer;

use crate::api::Api;
use crate::hub::Hub;
use crate::shell::{Problem, Shell, note_route};
use command::Endpoint;

pub(crate) use form::{Form, Shape, resolve};
pub(crate) use session::{SessionRequest, SessionResponse};

/// About the bytes that fit in one packet, in any network.
const PACKET: u64 = 1_400;

/// What routes work on.
pub(crate) struct Server {
    pub(crate) shell: Arc<Shell>,
    pub(crate) workspace: Workspace,
    /// Whether the store is a file or in memory: a small read of it takes microseconds, and waits for no network.
    pub(crate) is_local: bool,
    pub(crate) hub: Arc<Hub>,
    /// The tools for models.
    pub(crate) mcp: Mcp,
    /// Whether the store could be read.
    pub(crate) readiness: health::Readiness,
}

/// Returns the path of a command.
pub(crate) fn path_of(command: &Command) -> String {
    match command.scope {
        Scope::Context => format!("/v1/contexts/{{context}}/{}", command.name),
        Scope::Store | Scope::Request => format!("/v1/{}", command.name),
    }
}

/// Returns whether a command can be run by `GET`.
pub(crate) fn is_readable(command: &Command) -> bool {
    command.right == Right::Read && command.scope != Scope::Request
}

/// Returns the router of a server.
///
/// # Errors
///
/// If the store cannot be watched.
pub(crate) fn router(
    shell: &Arc<Shell>,
    workspace: Workspace,
    origins: &[String],
) -> Result<Router, Error> {
    let hub = Hub::start(workspace.watch()?)?;
    let readiness = health::Readiness::default();
    let mcp = Mcp::new(workspace.clone(), shell.limits.body);
    let is_local = ["sqlite:", "memory:"].iter().any(|it| workspace.url().starts_with(it));
    let server =
        Arc::new(Server { shell: Arc::clone(shell), workspace, is_local, hub, mcp, readiness });
    let api = Api::new();
    let mut router = Router::new();
    for command in COMMANDS {
        let endpoint = Arc::new(Endpoint { command, form: api.form_of(command) });
        router = router.route(&path_of(command), route_of(command, &server, &endpoint));
    }
    let form = Arc::new(api.form_of_import());
    let state = &server;
    let (json, pages) = (Bytes::from(api.to_json()), api.to_pages());
    let prefix = shell.site.prefix().to_owned();
    let (routes, errors) =
        (page::based(&pages.routes, &prefix), page::based(&pages.errors, &prefix));
    router = router
        .route(
            "/v1/contexts/{context}/import",
            post(with(state, move |server, request| {
                import::answer(server, Arc::clone(&form), request)
            })),
        )
        .route("/v1/contexts/{context}/events", get(with(state, events::of_context)))
        .route("/v1/events", get(with(state, events::of_all)))
        .route(
            "/v1/session",
            on(
                MethodFilter::GET.or(MethodFilter::POST).or(MethodFilter::DELETE),
                with(state, session::answer),
            ),
        )
        .route("/mcp", any(with(state, mcp::answer)))
        .route("/health", get(async || health::health()))
        .route("/ready", get(with(state, async |server, _| health::ready(&server).await)))
        .route(
            "/metrics",
            get(with(state, async |server, request| health::metrics(&server, &request))),
        )
        .route("/openapi.json", get(async move || page::open("application/json", json.clone())))
        .route("/docs", get(async move || page::open(page::HTML, routes.clone())))
        .route("/docs/errors", get(async move || page::open(page::HTML, errors.clone())));
    let server = Arc::clone(&server);
    let router = router
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(async move |request: Request<Body>| page::answer(&server, &request))
        .layer(compression());
    let router = if origins.is_empty() { router } else { router.layer(cors(origins)?) };
    // Without a state the handlers become routes once, here, and not again for every request.
    Ok(router.layer(from_fn(note_route)).with_state(()))
}

/// Compresses what is longer than a packet. Below that nothing is won, and it costs more than a small read.
fn compression() -> CompressionLayer<impl Predicate> {
    let is_worth_it = SizeAbove::new(PACKET)
        .and(NotForContentType::IMAGES)
        // Events are sent one by one.
        .and(NotForContentType::SSE);
    CompressionLayer::new().compress_when(is_worth_it)
}

/// Lets pages of other origins call, with a token: cookies are not for them.
fn cors(origins: &[String]) -> Result<CorsLayer, Error> {
    let origin = |origin: &String| {
        HeaderValue::from_str(origin.trim_end_matches('/'))
            .map_err(|_| Error::usage(format!("`{origin}` is not an origin")))
    };
    let origins = origins.iter().map(origin).collect::<Result<Vec<_>, _>>()?;
    Ok(CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::IF_NONE_MATCH])
        .expose_headers([header::ETAG]))
}

/// Returns a handler that is given the server.
fn with<F, H>(
    server: &Arc<Server>,
    handle: H,
) -> impl Fn(Request<Body>) -> F + Clone + Send + Sync + 'static
where
    F: Future<Output = Response> + Send,
    H: Fn(Arc<Server>, Request<Body>) -> F + Clone + Send + Sync + 'static,
{
    let server = Arc::clone(server);
    move |request| handle(Arc::clone(&server), request)
}

fn route_of(command: &Command, server: &Arc<Server>, endpoint: &Arc<Endpoint>) -> MethodRouter {
    let endpoint = Arc::clone(endpoint);
    let handle = with(server, move |server, request| {
        command::answer(server, Arc::clone(&endpoint), request)
    });
    match is_readable(command) {
        true => get(handle.clone()).post(handle),
        false => post(handle),
    }
}

async fn method_not_allowed(method: Method, request: Request<Body>) -> Response {
    let message = format!("{} does not accept {method}", request.uri().path());
    let allow = request.headers().get(header::ALLOW).cloned();
    Problem::new(Code::Method, message).with_allow(allow).into_response()
}
