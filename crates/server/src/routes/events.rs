//! Changes as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use contextree_app::catalog::Right;
use contextree_app::wire::{ContextRow, to_value};
use contextree_app::{Error, Names};
use contextree_json::{Object, Value};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Server;
use super::command::context_of;
use crate::hub::{Change, Seen};
use crate::shell::{Identity, Late, Problem, note_caller, require};

/// How often a comment is sent when nothing happens, so that proxies keep the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Counts a listener for as long as it listens.
struct Listener(Arc<Server>);

impl Listener {
    fn new(server: &Arc<Server>) -> Listener {
        server.shell.metrics.listeners.inc();
        Listener(Arc::clone(server))
    }

    fn sent(&self) {
        self.0.shell.metrics.changes.inc();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.shell.metrics.listeners.dec();
    }
}

/// Answers with the changes of one context.
pub(crate) async fn of_context(server: Arc<Server>, request: Request<Body>) -> Response {
    let (mut parts, _) = request.into_parts();
    answer(&server, &mut parts, async |identity, parts| {
        let name = context_of(parts).await?;
        let workspace =
            server.workspace.clone().with_names(identity.names.clone()).with_context(&name);
        let row = move |_| {
            workspace.row()?.ok_or_else(|| {
                Error::new(Code::ContextNotFound.as_str(), format!("there is no context `{name}`"))
                    .with_detail("context", name.as_str())
            })
        };
        let row = server.shell.pool.run(&identity.lane, Late::Abandon, row).await?;
        let changes = server.hub.listen(&row.name.clone(), row);
        let seen = last_seen(&parts.headers);
        Ok(events(&server, follow_one(changes, seen, Listener::new(&server))))
    })
    .await
}

/// Answers with the changes of all contexts that exist for the caller.
pub(crate) async fn of_all(server: Arc<Server>, request: Request<Body>) -> Response {
    let (mut parts, _) = request.into_parts();
    answer(&server, &mut parts, async |identity, _| {
        let changes = server.hub.listen_to_all().await;
        Ok(events(&server, follow_all(changes, identity.names, Listener::new(&server))))
    })
    .await
}

async fn answer(
    server: &Arc<Server>,
    parts: &mut Parts,
    listen: impl AsyncFnOnce(Identity, &mut Parts) -> Result<Response, Problem>,
) -> Response {
    let identity = match server.shell.identify(&parts.method, &parts.headers) {
        Ok(identity) => identity.clone(),
        Err(problem) => return problem.into_response(),
    };
    let done = match require(&identity, Right::Read) {
        Ok(()) => listen(identity.clone(), parts).await,
        Err(problem) => Err(problem),
    };
    let mut response = done.unwrap_or_else(Problem::into_response);
    note_caller(&identity, &mut response);
    response
}

/// Returns the revision that a client saw last, if it was connected before.
fn last_seen(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.parse().ok()
}

/// Makes a response of events, which ends when the server does.
fn events(server: &Server, events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let mut stopping = server.shell.stopping();
    let stopped = async move {
        // It also ends if the sender is gone.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    };
    let events = events.map(Ok::<_, Infallible>).take_until(Box::pin(stopped));
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Some proxies keep a response back until it is complete.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The context as it is now, unless the client has seen it, and then each change. Changes that follow each other faster than the client
/// reads are one event: the newest.
fn follow_one(
    mut changes: watch::Receiver<Seen>,
    seen: Option<u64>,
    listener: Listener,
) -> impl Stream<Item = Event> {
    let now = changes.borrow_and_update().clone();
    let is_seen = now.as_ref().is_some_and(|row| Some(row.revision) == seen);
    let first = (!is_seen).then(|| event_of(now.as_deref()));
    let rest = stream::unfold(Some((changes, listener)), |state| async {
        let (mut changes, listener) = state?;
        changes.changed().await.ok()?;
        let row = changes.borrow_and_update().clone();
        listener.sent();
        let event = event_of(row.as_deref());
        // A deleted context does not change any more.
        Some((event, row.is_some().then_some((changes, listener))))
    });
    stream::iter(first).chain(rest)
}

fn follow_all(
    changes: broadcast::Receiver<Change>,
    names: Names,
    listener: Listener,
) -> impl Stream<Item = Event> {
    stream::unfold((changes, names, listener), |(mut changes, names, listener)| async move {
        loop {
            let event = match changes.recv().await {
                Ok(Change::Changed(row)) if names.contains(&row.name) => changed(&row),
                Ok(Change::Deleted(name)) if names.contains(&name) => deleted(&name),
                Ok(_) => continue,
                // The client was too slow: it has to read the list again.
                Err(RecvError::Lagged(_)) => Event::default().event("reset").data("{}"),
                Err(RecvError::Closed) => return None,
            };
            listener.sent();
            return Some((event, (changes, names, listener)));
        }
    })
}

fn event_of(row: Option<&ContextRow>) -> Event {
    match row {
        Some(row) => changed(row).id(row.revision.to_string()),
        None => Event::default().event("deleted").data("{}"),
    }
}

fn changed(row: &ContextRow) -> Event {
    let data = String::from_utf8(to_value(row).to_canonical()).unwrap_or_default();
    Event::default().event("changed").data(data)
}

fn deleted(name: &str) -> Event {
    let data = Value::Object(Object::from_iter([("name", Value::from(name))]));
    let data = String::from_utf8(data.to_canonical()).unwrap_or_default();
    Event::default().event("deleted").data(data)
}
