//! WebSockets: relayed byte for byte, and watched frame by frame.
//!
//! A client of Responses may keep one connection for many calls. Each message `response.create` of the client is a request; the messages
//! of the server up to the last event of its answer are the response. Compression of frames is not offered, because the record could not
//! read it otherwise: it is the one header that is not passed on.

mod frames;

use std::sync::{Arc, PoisonError};

use contextree::json::{Value, parse};
use contextree::provider::Provider;
use contextree_app::record::Conversation;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{HeaderMap, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::headers::conversation;
use crate::proxy::{InBody, Proxy, outgoing, unreachable};
use crate::route::{Route, Wire};
use crate::watch::{Told, Watched, now};
use crate::writer::{Ending, Head, Sent, What};
use frames::Messages;

/// The size of the pieces that are passed on.
const PIECE: usize = 64 << 10;

/// Returns whether a request asks for a WebSocket.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    let value = headers.get(UPGRADE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

/// Relays a WebSocket, if the upstream accepts it.
pub(crate) async fn relay(
    proxy: Arc<Proxy>,
    route: Route,
    mut request: Request<Incoming>,
) -> Response<InBody> {
    let own = hyper::upgrade::on(&mut request);
    let named = conversation(request.headers());
    let (mut parts, _) = request.into_parts();
    parts.headers.remove("sec-websocket-extensions");
    let empty = Empty::new().map_err(|never: std::convert::Infallible| match never {});
    let mut request = outgoing(&route, Request::from_parts(parts, empty.boxed()));
    set_upgrade(request.headers_mut());
    let mut response = match proxy.client.request(request).await {
        Ok(response) => response,
        Err(error) => return unreachable(&route.target, &error),
    };
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let (mut parts, body) = response.into_parts();
        crate::headers::pass_on(&mut parts.headers);
        return Response::from_parts(parts, Watched::new(body, None, false).boxed());
    }
    if proxy.rules.prunes {
        proxy
            .next_call()
            .note("a WebSocket passes unchanged: the budget applies to requests over HTTP");
    }
    if proxy.rules.strict {
        proxy
            .next_call()
            .note("a WebSocket does not wait for the store: `--strict` applies to calls over HTTP");
    }
    let other = hyper::upgrade::on(&mut response);
    let wire = route.wire.clone().filter(|wire| wire.provider == Provider::OpenAiResponses);
    let watcher = wire.map(|wire| Watcher {
        proxy: Arc::clone(&proxy),
        wire,
        context: route.context.clone(),
        conversation: named,
        running: None,
        has_begun: false,
    });
    let joined = join(own, other, watcher, proxy.stopping.subscribe());
    let mut sockets = proxy.sockets.lock().unwrap_or_else(PoisonError::into_inner);
    // Those that have ended are forgotten.
    while sockets.try_join_next().is_some() {}
    sockets.spawn(joined);
    drop(sockets);
    let (mut parts, _) = response.into_parts();
    crate::headers::pass_on(&mut parts.headers);
    set_upgrade(&mut parts.headers);
    let empty = Empty::new().map_err(|never: std::convert::Infallible| match never {});
    Response::from_parts(parts, empty.boxed())
}

fn set_upgrade(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

/// Which side bytes come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// Passes bytes on in both directions until one side ends.
async fn join(
    own: OnUpgrade,
    other: OnUpgrade,
    watcher: Option<Watcher>,
    mut stopping: tokio::sync::watch::Receiver<bool>,
) {
    let (Ok(own), Ok(other)) = (own.await, other.await) else { return };
    let (client_read, client_write) = tokio::io::split(TokioIo::new(own));
    let (server_read, server_write) = tokio::io::split(TokioIo::new(other));
    let (seen, watched) = mpsc::unbounded_channel();
    let watching = tokio::spawn(watch(watched, watcher));
    let there = pass(Side::Client, client_read, server_write, seen.clone());
    let back = pass(Side::Server, server_read, client_write, seen);
    tokio::select! {
        () = there => {}
        () = back => {}
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    // What was passed on is still told.
    let _ = watching.await;
}

type Half<T> = (Side, T);

async fn pass(
    side: Side,
    mut from: tokio::io::ReadHalf<TokioIo<Upgraded>>,
    mut to: tokio::io::WriteHalf<TokioIo<Upgraded>>,
    seen: mpsc::UnboundedSender<Half<Vec<u8>>>,
) {
    let mut piece = vec![0; PIECE];
    while let Ok(length) = from.read(&mut piece).await {
        if length == 0 || to.write_all(&piece[..length]).await.is_err() {
            break;
        }
        if to.flush().await.is_err() {
            break;
        }
        // It fails if nothing is watched.
        let _ = seen.send((side, piece[..length].to_vec()));
    }
    let _ = to.shutdown().await;
}

async fn watch(mut seen: mpsc::UnboundedReceiver<Half<Vec<u8>>>, watcher: Option<Watcher>) {
    let Some(mut watcher) = watcher else { return };
    let (mut client, mut server) = (Messages::default(), Messages::default());
    while let Some((side, bytes)) = seen.recv().await {
        let messages = if side == Side::Client { &mut client } else { &mut server };
        for message in messages.push(&bytes) {
            match side {
                Side::Client => watcher.request(&message),
                Side::Server => watcher.event(&message),
            }
        }
    }
}

/// Turns messages into calls.
struct Watcher {
    proxy: Arc<Proxy>,
    wire: Wire,
    context: Option<String>,
    conversation: Option<Conversation>,
    running: Option<Told>,
    /// Whether an event of the answer was told, so that what follows is told as an event, too.
    has_begun: bool,
}

impl Watcher {
    fn request(&mut self, message: &[u8]) {
        let Ok(Value::Object(mut object)) = parse(message) else { return };
        if object.get("type").and_then(Value::as_str) != Some("response.create") {
            return;
        }
        object.remove("type");
        // A call that is still running is canceled by a new one.
        drop(self.running.take());
        let mut told = self.proxy.next_call();
        told.tell(What::Sent(Box::new(Sent {
            wire: self.wire.clone(),
            context: self.context.clone(),
            conversation: self.conversation.clone(),
            encoding: None,
            body: Bytes::from(Value::Object(object).to_canonical()),
            prunes: false,
            at: now(),
        })));
        self.running = Some(told);
        self.has_begun = false;
    }

    fn event(&mut self, message: &[u8]) {
        let Some(told) = &mut self.running else { return };
        let Ok(event) = parse(message) else { return };
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "response.created" || kind == "error" {
            told.tell(What::Head(Head {
                status: 200,
                encoding: None,
                request_id: None,
                at: now(),
            }));
        }
        // As over HTTP: an event of a stream, or the document of an error.
        let data = match kind {
            "error" if !self.has_begun => message.to_vec(),
            _ => [b"data: ", message, b"\n\n"].concat(),
        };
        self.has_begun = true;
        told.tell(What::Data(data));
        let is_last = ["response.completed", "response.failed", "response.incomplete", "error"];
        if is_last.contains(&kind) {
            told.end(Ending::Complete);
            self.running = None;
        }
    }
}
