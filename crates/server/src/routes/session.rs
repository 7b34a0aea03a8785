//! Who calls: a token is exchanged for a cookie here, so that a page never has to keep it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::catalog::Right;
use contextree_app::wire::to_value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Server;
use super::command::{Received, collect};
use crate::shell::{Identity, Problem, note_caller};

/// The largest body, in bytes: who has no token yet cannot make the server keep much.
const LARGEST: usize = 4 << 10;

/// A token, to be exchanged for a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionRequest {
    /// The token.
    token: String,
}

/// Who calls, and what they may do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionResponse {
    /// The name of the token.
    name: String,
    /// What it gives the right to do: `read`, `write` or `admin`.
    #[schemars(with = "String")]
    right: Right,
    /// The prefixes of the names that new contexts must have; null if every name is allowed.
    prefixes: Option<Vec<String>>,
    /// The version of the server.
    version: &'static str,
}

impl From<&Identity> for SessionResponse {
    fn from(identity: &Identity) -> Self {
        SessionResponse {
            name: identity.name.to_string(),
            right: identity.right,
            prefixes: identity.names.prefixes().map(<[String]>::to_vec),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Answers `GET`, `POST` and `DELETE` of the session.
pub(crate) async fn answer(server: Arc<Server>, request: Request<Body>) -> Response {
    // Only the server's own pages have cookies.
    let own = server.shell.site.check_own(request.headers());
    if let (false, Err(problem)) = (request.method().is_safe(), own) {
        return problem.into_response();
    }
    let done = match *request.method() {
        Method::POST => begin(&server, request).await,
        Method::DELETE => Ok(with_cookie(StatusCode::NO_CONTENT.into_response(), &server, None)),
        _ => who(&server, &request),
    };
    done.unwrap_or_else(Problem::into_response)
}

async fn begin(server: &Server, request: Request<Body>) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Received { bytes, room: _room } = collect(server, &parts.headers, body, LARGEST).await?;
    let read = contextree_json::from_slice(&bytes);
    // The message of the parser could quote the token.
    let SessionRequest { token } = read.map_err(|error| {
        let code = Code::from_text(error.code()).unwrap_or(Code::JsonShape);
        Problem::new(code, "the body must be `{\"token\":\"…\"}`")
    })?;
    let Some((identity, cookie)) = server.shell.tokens.by_token(token.trim()) else {
        return Err(Problem::new(Code::Token, "the token is unknown"));
    };
    let mut response = with_cookie(describe(identity), server, Some(cookie));
    note_caller(identity, &mut response);
    Ok(response)
}

fn who(server: &Server, request: &Request<Body>) -> Result<Response, Problem> {
    let identity = server.shell.identify(request.method(), request.headers())?;
    let mut response = describe(identity);
    note_caller(identity, &mut response);
    Ok(response)
}

fn describe(identity: &Identity) -> Response {
    let value = to_value(&SessionResponse::from(identity));
    let mut response = Response::new(Body::from(value.to_canonical()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn with_cookie(mut response: Response, server: &Server, value: Option<&str>) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(&server.shell.set_cookie(value)) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
