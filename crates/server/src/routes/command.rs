//! One route per command, for all commands.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts as _, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree::Edition;
use contextree_app::catalog::{Command, Right, Scope};
use contextree_app::{Control, Error};
use contextree_json::{Limits as JsonLimits, Object, Value, parse_with};
use http_body_util::BodyExt as _;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Server;
use super::form::{Form, parameters};
use super::tag;
use crate::shell::{Identity, Late, Problem, note_caller, require};

/// The media type of lists with one entry per line.
pub(crate) const LINES: &str = "application/x-ndjson";

/// A command as a route.
pub(crate) struct Endpoint {
    pub(crate) command: &'static Command,
    pub(crate) form: Form,
}

/// What the query says besides the request itself.
#[derive(Default)]
struct Options {
    edition: Option<Edition>,
}

/// How many contexts are few.
const FEW: u64 = 16;

/// The largest body that is parsed where it was received. A larger one would keep the requests of others waiting.
const AT_ONCE: usize = 64 << 10;

/// What a command returned.
enum Outcome {
    Unchanged { tag: HeaderValue },
    Done { body: Vec<u8>, kind: &'static str, tag: Option<HeaderValue> },
}

/// A body that was received.
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    /// Its part of the memory for bodies. It is held for as long as the body, or what was made of it, is in memory.
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// Answers a request for a command.
pub(crate) async fn answer(
    server: Arc<Server>,
    endpoint: Arc<Endpoint>,
    request: Request<Body>,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let identity = match server.shell.identify(&parts.method, &parts.headers) {
        Ok(identity) => identity.clone(),
        Err(problem) => return problem.into_response(),
    };
    let done = run(&server, &endpoint, &identity, &mut parts, body).await;
    let mut response = done.unwrap_or_else(Problem::into_response);
    note_caller(&identity, &mut response);
    response
}

async fn run(
    server: &Arc<Server>,
    endpoint: &Endpoint,
    identity: &Identity,
    parts: &mut Parts,
    body: Body,
) -> Result<Response, Problem> {
    let command = endpoint.command;
    // A caller who may do nothing of the kind is told so before their body is read.
    require(identity, command.right.min(Right::Read))?;
    let (options, rest) = options(parts.uri.query())?;
    let is_get = matches!(parts.method, Method::GET | Method::HEAD);
    let (request, room) = match is_get {
        true => (endpoint.form.read(rest)?, None),
        false => {
            if let Some((name, _)) = rest.first() {
                return Err(Error::usage(format!("unknown parameter `{name}`"))
                    .with_hint("a request that is posted is in the body")
                    .into());
            }
            read_body(server, &parts.headers, body).await?
        }
    };
    let right = command.right_for(&request);
    require(identity, right)?;
    let mut workspace = server.workspace.clone().with_names(identity.names.clone());
    workspace = workspace.with_edition(options.edition);
    if command.scope == Scope::Context {
        workspace = workspace.with_context(context_of(parts).await?);
    }
    let wanted = parts.headers.get(header::IF_NONE_MATCH).cloned();
    let in_lines = wants_lines(&parts.headers);
    let late = if right == Right::Read { Late::Abandon } else { Late::Await };
    let is_quick = server.is_local && is_quick(command, &request);
    let work = {
        let limits = server.shell.limits;
        move |cancel| {
            let _room = room;
            let control = Control::default().with_cancel(cancel).with_limits(limits.into());
            let tag = match is_get {
                true => tag::of(command, &workspace, &request)?,
                false => None,
            };
            if let (Some(tag), Some(wanted)) = (&tag, &wanted)
                && tag::matches(wanted, tag)
            {
                return Ok(Outcome::Unchanged { tag: tag.clone() });
            }
            let value = command.run(&workspace, request, &control)?;
            // Written here: a large response takes time, and this thread is the caller's own.
            let (body, kind) = write(command, in_lines, &value);
            Ok(Outcome::Done { body, kind, tag })
        }
    };
    let pool = &server.shell.pool;
    let outcome = match is_quick {
        true => pool.run_here(&identity.lane, late, work).await?,
        false => pool.run(&identity.lane, late, work).await?,
    };
    if right > Right::Read {
        server.hub.wrote();
    }
    Ok(match outcome {
        Outcome::Unchanged { tag } => unchanged(tag),
        Outcome::Done { body, kind, tag } => respond(body, kind, tag),
    })
}

/// Returns whether a command reads so little of a local store that another thread would cost more than the command: the heads of a few
/// contexts, which programs poll.
fn is_quick(command: &Command, request: &Value) -> bool {
    let limit = request.get("limit").and_then(Value::as_u64);
    let is_plain = request.get("branches").and_then(Value::as_bool) != Some(true);
    command.name == "contexts" && is_plain && limit.is_some_and(|limit| limit <= FEW)
}

/// Takes the parameters that every route has out of a query.
fn options(query: Option<&str>) -> Result<(Options, Vec<(String, String)>), Error> {
    let mut options = Options::default();
    let mut rest = Vec::new();
    for (name, value) in parameters(query)? {
        match name.as_str() {
            "edition" => {
                let edition = value.parse::<Edition>();
                options.edition = Some(edition.map_err(|error| Error::usage(error.to_string()))?);
            }
            _ => rest.push((name, value)),
        }
    }
    Ok((options, rest))
}

/// Returns the name of the context in the path.
pub(crate) async fn context_of(parts: &mut Parts) -> Result<String, Problem> {
    let invalid = || Problem::new(Code::Usage, "the name of the context is not UTF-8");
    let params = RawPathParams::from_request_parts(parts, &()).await.map_err(|_| invalid())?;
    let name = params.iter().find(|(name, _)| *name == "context").map(|(_, name)| name.to_owned());
    name.ok_or_else(invalid)
}

/// Reads a body of JSON. No body is an empty request.
async fn read_body(
    server: &Server,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Value, Option<OwnedSemaphorePermit>), Problem> {
    let Received { bytes, room } = collect(server, headers, body, server.shell.limits.body).await?;
    if bytes.is_empty() {
        return Ok((Value::Object(Object::new()), room));
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    // A page of another origin cannot send this type without a preflight request.
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(Code::MediaType, "the body must be `application/json`"));
    }
    let limits = JsonLimits { max_bytes: server.shell.limits.body, ..JsonLimits::default() };
    let parsed = match bytes.len() > AT_ONCE {
        true => spawn_blocking(move || parse_with(&bytes, &limits))
            .await
            .map_err(|_| Problem::new(Code::Internal, "the body was not read"))?,
        false => parse_with(&bytes, &limits),
    };
    let value = parsed.map_err(|error| {
        Error::new(error.code(), format!("the body: {error}"))
            .with_detail("line", error.line() as u64)
            .with_detail("column", error.column() as u64)
    })?;
    match value {
        Value::Object(_) => Ok((value, room)),
        _ => Err(Problem::new(Code::JsonShape, "the body must be a JSON object")),
    }
}

/// Receives a body of at most `limit` bytes, within the time for it.
pub(crate) async fn collect(
    server: &Server,
    headers: &HeaderMap,
    body: Body,
    limit: usize,
) -> Result<Received, Problem> {
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if stated.is_some_and(|length| length.parse().is_ok_and(|length: u64| length > limit as u64)) {
        return Err(too_large(limit));
    }
    let slow = |_| Problem::new(Code::Deadline, "the body did not arrive in time");
    timeout(server.shell.limits.body_time, receive(server, body, limit)).await.map_err(slow)?
}

/// Receives a body piece by piece. Each takes its part of the memory for bodies, so that many large ones at once are refused, and one
/// that is sent slowly takes no more than it has sent.
async fn receive(server: &Server, mut body: Body, limit: usize) -> Result<Received, Problem> {
    let mut bytes = Vec::new();
    let mut room: Option<OwnedSemaphorePermit> = None;
    while let Some(frame) = body.frame().await {
        let broken = |_| Problem::new(Code::Usage, "the body did not arrive whole");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        if data.len() > limit - bytes.len() {
            return Err(too_large(limit));
        }
        let taken = u32::try_from(data.len()).ok().and_then(|length| {
            Arc::clone(&server.shell.bodies).try_acquire_many_owned(length).ok()
        });
        let Some(taken) = taken else {
            return Err(Problem::new(Code::Overloaded, "too many large bodies at once"));
        };
        match &mut room {
            Some(room) => room.merge(taken),
            None => room = Some(taken),
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Received { bytes: bytes.into(), room })
}

fn too_large(limit: usize) -> Problem {
    Problem::new(Code::BodyLimit, format!("the body has more than {limit} bytes"))
}

fn unchanged(tag: HeaderValue) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    response.headers_mut().insert(header::ETAG, tag);
    response.headers_mut().insert(header::CACHE_CONTROL, tag::REVALIDATE);
    response
}

fn wants_lines(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accepts.is_some_and(|accepts| accepts.contains(LINES))
}

/// Writes what a command returned, and says how: as JSON, or as one line for each entry of its list.
fn write(command: &Command, in_lines: bool, value: &Value) -> (Vec<u8>, &'static str) {
    match command.list.and_then(|list| value.get(list)?.as_array()) {
        Some(list) if in_lines => {
            let mut bytes = Vec::new();
            for entry in list {
                bytes.extend(entry.to_canonical());
                bytes.push(b'\n');
            }
            (bytes, LINES)
        }
        _ => (value.to_canonical(), "application/json"),
    }
}

fn respond(body: Vec<u8>, kind: &'static str, tag: Option<HeaderValue>) -> Response {
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    match tag {
        Some(tag) => {
            headers.insert(header::ETAG, tag);
            headers.insert(header::CACHE_CONTROL, tag::REVALIDATE);
        }
        None => {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }
    response
}
