//! What every request passes, whatever is mounted inside: host and origin, the prefix of a proxy, who calls, limits, headers, counters,
//! the log.
//!
//! ```text
//! connection ─listen→ request ─Shell::answer→ host? origin? ─→ router ─→ response ─→ headers, counters, log
//!                                                               │
//!                                                               └─ identity(request): token or cookie
//! ```

mod advice;
mod encoding;
mod limits;
mod listen;
mod metrics;
mod pool;
mod problem;
mod secret_file;
mod site;
mod token;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::MatchedPath;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Uri, header, uri::PathAndQuery};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::catalog::Right;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tower::ServiceExt as _;

pub use limits::Limits;
pub use listen::{Listening, listen};
pub use metrics::{Metrics, TEXT as METRICS_TEXT};
pub use pool::{Lane, Late, Pool};
pub use problem::{Problem, ProblemForm, status};
pub use secret_file::{read_secret, token_in, write_secret};
pub use site::Site;
pub use token::{Identity, Tokens};

/// What every request passes.
#[derive(Debug)]
pub struct Shell {
    /// What the server is called.
    pub site: Site,
    /// Who may call.
    pub tokens: Tokens,
    /// How much they may ask for.
    pub limits: Limits,
    /// The bytes of bodies that may still be received.
    pub bodies: Arc<Semaphore>,
    /// Where commands run.
    pub pool: Pool,
    /// What happened.
    pub metrics: Metrics,
    /// The name of the cookie. Cookies do not know ports, so this one has the port in its name.
    cookie: String,
    /// Counts requests.
    requests: AtomicU64,
    /// Makes names of requests from their numbers. A number would tell a caller how many requests others sent meanwhile.
    names: RandomState,
    /// True when the server is about to end.
    stopping: watch::Sender<bool>,
}

/// The pattern of the route that answered, in a response.
#[derive(Clone)]
struct Route(MatchedPath);

/// The name of the caller, in a response.
#[derive(Clone)]
struct Caller(Arc<str>);

impl Shell {
    /// Returns a shell. `port` is that of the listener.
    #[must_use]
    pub fn new(site: Site, tokens: Tokens, limits: Limits, port: u16) -> Shell {
        Shell {
            site,
            tokens,
            limits,
            bodies: Arc::new(Semaphore::new(limits.bodies.max(limits.body))),
            pool: Pool::new(&limits),
            metrics: Metrics::default(),
            cookie: format!("contextree-{port}"),
            requests: AtomicU64::new(0),
            names: RandomState::new(),
            stopping: watch::Sender::new(false),
        }
    }

    /// Returns what becomes true when the server is about to end: responses that would not end by themselves end then.
    #[must_use]
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// Answers a request with a router, if it is for this server.
    pub async fn answer(&self, router: &Router, mut request: Request<Body>) -> Response {
        let begin = Instant::now();
        let name = self.names.hash_one(self.requests.fetch_add(1, Ordering::Relaxed));
        let name = format!("{name:016x}");
        let method = request.method().clone();
        let checked = self.site.check(request.uri(), request.headers());
        let mut response = match checked {
            Err(problem) => problem.into_response(),
            Ok(()) => {
                self.strip_prefix(request.uri_mut());
                encoding::allow_plain(request.headers_mut());
                match router.clone().oneshot(request).await {
                    Ok(response) => response,
                    Err(never) => match never {},
                }
            }
        };
        self.finish(&method, &name, &mut response, begin.elapsed());
        response
    }

    fn strip_prefix(&self, uri: &mut Uri) {
        let below = self.site.path_below(uri.path());
        if below.len() == uri.path().len() {
            return;
        }
        let target = match uri.query() {
            Some(query) => format!("{below}?{query}"),
            None => below.to_owned(),
        };
        if let Ok(target) = PathAndQuery::try_from(target) {
            let mut parts = uri.clone().into_parts();
            parts.path_and_query = Some(target);
            *uri = Uri::from_parts(parts).unwrap_or_else(|_| uri.clone());
        }
    }

    /// Adds the headers that every response has, counts it and writes it to the log.
    fn finish(&self, method: &Method, name: &str, response: &mut Response, took: Duration) {
        let headers = response.headers_mut();
        // All at once: a map that grows step by step copies itself.
        headers.reserve(8);
        for (name, value) in [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        ] {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        for (name, value) in [
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        if let Ok(name) = HeaderValue::from_str(name) {
            headers.insert("x-request-id", name);
        }
        let status = response.status().as_u16();
        let extensions = response.extensions();
        let route = extensions.get::<Route>().map_or("-", |route| route.0.as_str());
        let code = extensions.get::<Code>().map(|code| code.as_str());
        let caller = extensions.get::<Caller>().map_or("-", |caller| &caller.0);
        // Callers may make up methods; counters have one for all of them.
        let known = [Method::GET, Method::HEAD, Method::POST, Method::DELETE, Method::OPTIONS];
        let method = if known.contains(method) { method.as_str() } else { "other" };
        self.metrics.answered(route, method, status, code, took.as_secs_f64());
        // Neither the path nor the query: names and contents are the caller's.
        tracing::info!(
            request = name,
            method,
            route,
            status,
            code,
            caller,
            microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            "answered"
        );
    }

    /// Returns who calls: the owner of the token, or of the cookie.
    ///
    /// # Errors
    ///
    /// `E_TOKEN` if there is neither or it is unknown, `E_ORIGIN` if a browser sends a cookie for a page of another site, or with a change
    /// and does not say from which page.
    pub fn identify(&self, method: &Method, headers: &HeaderMap) -> Result<&Identity, Problem> {
        if let Some(given) = headers.get(header::AUTHORIZATION) {
            let token = given.to_str().ok().and_then(bearer);
            return match token.and_then(|token| self.tokens.by_token(token)) {
                Some((identity, _)) => Ok(identity),
                None => Err(Problem::new(Code::Token, "the token is unknown")),
            };
        }
        let Some(identity) = self.cookie(headers).and_then(|value| self.tokens.by_cookie(value))
        else {
            let error = contextree_app::Error::new(Code::Token.as_str(), "a token is needed");
            return Err(error.with_hint("send `Authorization: Bearer TOKEN`").into());
        };
        self.site.check_own(headers)?;
        if !method.is_safe() && !headers.contains_key(header::ORIGIN) {
            return Err(Problem::new(Code::Origin, "a change with a cookie needs an `Origin`"));
        }
        Ok(identity)
    }

    fn cookie<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        cookies.flat_map(|line| line.split(';')).find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie).then_some(value)
        })
    }

    /// Returns the header that gives a browser the cookie of a token, or takes it back.
    #[must_use]
    pub fn set_cookie(&self, value: Option<&str>) -> String {
        let path = match self.site.prefix() {
            "" => "/",
            prefix => prefix,
        };
        let secure = if self.site.is_secure() { "; Secure" } else { "" };
        let (value, age) = match value {
            Some(value) => (value, ""),
            None => ("", "; Max-Age=0"),
        };
        format!("{}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}{age}", self.cookie)
    }
}

/// Returns the token of an `Authorization` header.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Refuses a caller whose token does not give a right.
///
/// # Errors
///
/// `E_FORBIDDEN`.
pub fn require(identity: &Identity, right: Right) -> Result<(), Problem> {
    match identity.right >= right {
        true => Ok(()),
        false => {
            let message = format!("this needs the right to {}", verb(right));
            Err(Problem::new(Code::Forbidden, message))
        }
    }
}

fn verb(right: Right) -> &'static str {
    match right {
        Right::Read => "read",
        Right::Write => "write",
        Right::Admin => "administer",
    }
}

/// Notes which route answers, for the log and the counters.
pub async fn note_route(request: Request<Body>, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(Route(route));
    }
    response
}

/// Notes who called, for the log.
pub fn note_caller(identity: &Identity, response: &mut Response) {
    response.extensions_mut().insert(Caller(Arc::clone(&identity.name)));
}
