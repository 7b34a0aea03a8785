//! Takes connections, passes requests on and watches their bodies.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contextree::json::{Object, Value};
use contextree_server::shell::Site;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::client::{OutBody, Outgoing};
use crate::headers::{conversation, encoding, of_another_body, pass_on, request_id, set_host};
use crate::route::{Route, Upstreams};
use crate::socket;
use crate::watch::{Broken, Told, Watched, now};
use crate::writer::{Ending, Head, Queue, Sent, What};

/// The longest request that is recorded. No provider takes one that is as long.
const LONGEST: usize = 512 << 20;

/// The longest head of a request.
const HEAD: usize = 512 << 10;

/// The body of a response.
pub(crate) type InBody = BoxBody<Bytes, Broken>;

/// What every connection shares.
pub(crate) struct Proxy {
    site: Site,
    pub(crate) client: Outgoing,
    upstreams: Upstreams,
    events: Queue,
    pub(crate) rules: Rules,
    calls: AtomicU64,
    /// Sockets that are relayed.
    pub(crate) sockets: Mutex<JoinSet<()>>,
    /// True when the proxy is about to end.
    pub(crate) stopping: watch::Sender<bool>,
}

/// What calls wait for.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Whether they wait until they are recorded, and fail if they cannot be.
    pub(crate) strict: bool,
    /// Whether they wait for a request that is pruned to a budget.
    pub(crate) prunes: bool,
}

impl Proxy {
    pub(crate) fn new(
        address: SocketAddr,
        client: Outgoing,
        upstreams: Upstreams,
        events: Queue,
        rules: Rules,
    ) -> Proxy {
        let calls = AtomicU64::new(1);
        let (site, stopping) = (Site::at(address), watch::Sender::new(false));
        let sockets = Mutex::default();
        Proxy { site, client, upstreams, events, rules, calls, sockets, stopping }
    }

    /// Returns what tells the writer about the next call.
    pub(crate) fn next_call(&self) -> Told {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        Told::new(call, self.events.clone())
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<InBody> {
        if self.site.check(request.uri(), request.headers()).is_err() {
            return refuse(
                StatusCode::FORBIDDEN,
                "this proxy answers programs on this machine only",
            );
        }
        let Some(route) = self.upstreams.route(request.uri(), request.headers()) else {
            return refuse(StatusCode::NOT_FOUND, "no upstream takes this path");
        };
        if socket::is_upgrade(request.headers()) {
            return socket::relay(self, route, request).await;
        }
        match &route.wire {
            Some(_) if request.method() == Method::POST => self.call(route, request).await,
            _ => self.pass(&route, request).await,
        }
    }

    /// Passes on a request that is not a model call.
    async fn pass(&self, route: &Route, request: Request<Incoming>) -> Response<InBody> {
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, BodyExt::boxed(body));
        match self.client.request(outgoing(route, request)).await {
            Ok(response) => incoming(response, None, false),
            Err(error) => unreachable(&route.target, &error),
        }
    }

    /// Passes on a model call, and records it.
    async fn call(&self, route: Route, request: Request<Incoming>) -> Response<InBody> {
        let (mut parts, body) = request.into_parts();
        let mut body = match Limited::new(body, LONGEST).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return refuse(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "the request is too long to be recorded",
                );
            }
            // The client is gone.
            Err(_) => return refuse(StatusCode::BAD_REQUEST, "the request broke off"),
        };
        let Some(wire) = route.wire.clone() else {
            return refuse(StatusCode::NOT_FOUND, "not a model call");
        };
        let sent = Sent {
            wire,
            context: route.context.clone(),
            conversation: conversation(&parts.headers),
            encoding: encoding(&parts.headers),
            body: body.clone(),
            prunes: self.rules.prunes,
            at: now(),
        };
        let mut told = self.next_call();
        let sent = What::Sent(Box::new(sent));
        let Rules { strict, prunes } = self.rules;
        if strict || prunes {
            let recorded = told.ask(sent).await.unwrap_or_else(|_| Err("the writer ended".into()));
            match recorded {
                Ok(Some(pruned)) => {
                    of_another_body(&mut parts.headers);
                    body = pruned;
                }
                Err(why) if strict => {
                    told.end(Ending::Failed(why.clone()));
                    return not_recorded(&why);
                }
                // Without a record the request cannot be pruned; it is passed on unchanged.
                Ok(None) | Err(_) => {}
            }
        } else {
            told.tell(sent);
        }
        let full = Full::new(body).map_err(|never: Infallible| match never {});
        let request = Request::from_parts(parts, BodyExt::boxed(full));
        match self.client.request(outgoing(&route, request)).await {
            Ok(response) => {
                told.tell(What::Head(Head {
                    status: response.status().as_u16(),
                    encoding: encoding(response.headers()),
                    request_id: request_id(response.headers()),
                    at: now(),
                }));
                // The connection asks for nothing of a body that is empty.
                if strict && response.body().is_end_stream() {
                    return match told.ask_end().await {
                        Ok(Ok(_)) => incoming(response, None, strict),
                        Ok(Err(why)) => not_recorded(&why),
                        Err(_) => not_recorded("the writer ended"),
                    };
                }
                incoming(response, Some(told), strict)
            }
            Err(error) => {
                told.end(Ending::Failed(format!(
                    "the upstream was not reached: {}",
                    chain(&error)
                )));
                unreachable(&route.target, &error)
            }
        }
    }
}

/// Turns a request into the one that is sent to the upstream. Everything passes but what belongs to the connection.
pub(crate) fn outgoing(route: &Route, mut request: Request<OutBody>) -> Request<OutBody> {
    *request.uri_mut() = route.target.clone();
    pass_on(request.headers_mut());
    set_host(request.headers_mut(), route.upstream.host());
    request
}

/// Turns a response of the upstream into the one of the proxy.
fn incoming(response: Response<Incoming>, told: Option<Told>, strict: bool) -> Response<InBody> {
    let (mut parts, body) = response.into_parts();
    pass_on(&mut parts.headers);
    Response::from_parts(parts, BodyExt::boxed(Watched::new(body, told, strict)))
}

/// Returns the response of the proxy itself, in the form that clients expect errors in.
pub(crate) fn refuse(status: StatusCode, message: &str) -> Response<InBody> {
    let error = [("type", Value::from("contextree_record")), ("message", Value::from(message))];
    let document =
        [("type", Value::from("error")), ("error", Value::Object(Object::from_iter(error)))];
    let bytes = Value::Object(Object::from_iter(document)).to_canonical();
    let full = Full::new(Bytes::from(bytes)).map_err(|never: Infallible| match never {});
    let mut response = Response::new(BodyExt::boxed(full));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the response of a strict proxy for a call that could not be recorded.
fn not_recorded(why: &str) -> Response<InBody> {
    refuse(StatusCode::SERVICE_UNAVAILABLE, &format!("not recorded: {why}"))
}

/// Returns the response for an upstream that was not reached.
pub(crate) fn unreachable(
    target: &hyper::Uri,
    error: &hyper_util::client::legacy::Error,
) -> Response<InBody> {
    let host = target.authority().map_or("", |authority| authority.as_str());
    refuse(StatusCode::BAD_GATEWAY, &format!("{host} was not reached: {}", chain(error)))
}

/// Returns an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Takes connections until it is told to stop. Then those that are open end with their response, within the grace period.
pub(crate) async fn serve(
    proxy: Arc<Proxy>,
    listener: TcpListener,
    mut stopped: oneshot::Receiver<()>,
    grace: Duration,
) {
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            Some(_) = connections.join_next() => continue,
            _ = &mut stopped => break,
        };
        connections.spawn(connection(Arc::clone(&proxy), stream, proxy.stopping.subscribe()));
    }
    drop(listener);
    proxy.stopping.send_replace(true);
    let mut sockets =
        std::mem::take(&mut *proxy.sockets.lock().unwrap_or_else(PoisonError::into_inner));
    let all = async {
        while connections.join_next().await.is_some() {}
        // What passed through them is told before the writer ends.
        while sockets.join_next().await.is_some() {}
    };
    if tokio::time::timeout(grace, all).await.is_err() {
        // Bodies that are dropped say so, and the record has what arrived of them.
        connections.shutdown().await;
    }
}

async fn connection(proxy: Arc<Proxy>, stream: TcpStream, mut stopping: watch::Receiver<bool>) {
    // Events are written at once; waiting for more would cost tens of milliseconds.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    let service = service_fn(move |request| {
        let proxy = Arc::clone(&proxy);
        async move { Ok::<_, Infallible>(proxy.answer(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .preserve_header_case(true)
        // What the upstream did not send is not added.
        .auto_date_header(false)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let stop = async move { drop(stopping.wait_for(|stopping| *stopping).await) };
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = stop => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}
