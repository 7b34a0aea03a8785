//! A proxy in front of the scripted upstream, and a client of sockets and bytes.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contextree::json::{Object, Value, parse};
use contextree::provider::{Provider, RenderOptions, render};
use contextree::store::Store;
use contextree::{Attempt, SnapshotAddress};
use contextree_app::Workspace;
use contextree_record::{CallLine, Config, Report, Running, start};
use contextree_testkit::upstream::Upstream;
use tokio::runtime::Runtime;

/// A proxy in front of the scripted upstream.
pub(crate) struct Fixture {
    pub(crate) upstream: Upstream,
    pub(crate) store: Store,
    pub(crate) reports: Arc<Mutex<Vec<Report>>>,
    runtime: Runtime,
    running: Option<Running>,
    address: SocketAddr,
}

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Fixture {
        let store = contextree::open("memory:").expect("it is in memory");
        Self::over(store, Upstream::start(), change)
    }

    pub(crate) fn over(
        store: Store,
        upstream: Upstream,
        change: impl FnOnce(&mut Config),
    ) -> Fixture {
        let mut config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), "agent");
        let at = upstream.address();
        for name in ["anthropic", "google"] {
            config.upstreams.set(&format!("{name}=http://{at}")).expect("it is a URL");
        }
        config.upstreams.set(&format!("openai=http://{at}/v1")).expect("it is a URL");
        config.grace = Duration::from_millis(200);
        change(&mut config);
        let reports = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&reports);
        let runtime = Runtime::new().expect("threads can be started");
        let workspace = Workspace::over(store.clone(), "memory:");
        let report = move |report| told.lock().expect("no test panics with it").push(report);
        let running = runtime.block_on(start(config, &workspace, report)).expect("a port is free");
        let address = running.address();
        Fixture { upstream, store, reports, runtime, running: Some(running), address }
    }

    /// Sends a request as a client does that is led to the proxy.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        post(self.address, path, headers, body.as_bytes())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the proxy, so that everything is recorded. Returns the calls.
    pub(crate) fn stop(&mut self) -> Vec<CallLine> {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
        let reports = self.reports.lock().expect("no test panics with it");
        let lines = reports.iter().map(|report| match report {
            Report::Call(line) => CallLine::clone(line),
            other => panic!("{other:?}"),
        });
        lines.collect()
    }

    /// Ends the proxy, so that everything is recorded. Returns all that it told.
    pub(crate) fn finish(&mut self) -> Vec<Report> {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
        self.reports.lock().expect("no test panics with it").clone()
    }

    /// Like [`Fixture::stop`], where the proxy has warned.
    pub(crate) fn stop_quietly(&mut self) -> Vec<CallLine> {
        let lines = self.finish().into_iter().filter_map(|report| match report {
            Report::Call(line) => Some(*line),
            _ => None,
        });
        lines.collect()
    }

    /// Returns the request that a completed attempt sent; `None` if it was not completed.
    pub(crate) fn sent_by(
        &self,
        context: &str,
        attempt: &str,
        provider: Provider,
    ) -> Option<Value> {
        let attempts = self.attempts(context);
        let attempt = attempts.iter().find(|it| it.attempt_id == attempt).expect("it is stored");
        let is_completed = attempt.status == contextree::AttemptStatus::Completed;
        is_completed.then(|| self.sent(context, attempt.cycle_id.get(), provider))
    }

    /// Returns the request of a snapshot.
    pub(crate) fn sent(&self, context: &str, cycle: u32, provider: Provider) -> Value {
        let address = SnapshotAddress::Cycle(u64::from(cycle));
        let snapshot = self.store.snapshot(context, address).expect("it was recorded");
        let rendered = render(snapshot.view(), provider, &RenderOptions::default());
        rendered.expect("it has messages").value()
    }

    pub(crate) fn attempts(&self, context: &str) -> Vec<Attempt> {
        let reader = self.store.reader(context).expect("it was recorded");
        reader.attempts().expect("it can be read").to_vec()
    }

    pub(crate) fn snapshots(&self, context: &str) -> usize {
        self.store.reader(context).expect("it was recorded").snapshot_count()
    }

    pub(crate) fn contexts(&self) -> Vec<String> {
        let rows = self.store.contexts(None, 100).expect("it can be read");
        rows.into_iter().map(|row| row.name).collect()
    }
}

/// Sends a request and reads the whole response.
pub(crate) fn post(at: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = open(at, path, headers, body);
    read(&mut stream)
}

/// Sends a request, and returns the connection.
pub(crate) fn open(at: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(at).expect("it listens");
    let mut head =
        format!("POST {path} HTTP/1.1\r\nHost: {at}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).expect("it is read");
    stream
}

/// Reads a response: its chunks are joined.
pub(crate) fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break at;
        }
        let length = stream.read(&mut piece).expect("it answers");
        assert!(length > 0, "the response has no head");
        bytes.extend_from_slice(&piece[..length]);
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).expect("it is text");
    let mut rest = bytes.split_off(head_end + 4);
    let lower = head.to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("it has a status");
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: Option<usize> = length.and_then(|it| it.trim().parse().ok());
    loop {
        let is_whole = match length {
            Some(length) => rest.len() >= length,
            None => rest.ends_with(b"0\r\n\r\n"),
        };
        if is_whole {
            break;
        }
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => rest.extend_from_slice(&piece[..length]),
            _ => break,
        }
    }
    let body = if length.is_some() { rest } else { joined(&rest) };
    Answer { status, head, body }
}

/// Joins chunks.
fn joined(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|it| it == b"\r\n") {
        let size = str::from_utf8(&bytes[..end]).expect("it is text");
        let size = usize::from_str_radix(size, 16).expect("it is a size");
        // Trailers may follow.
        if size == 0 {
            break;
        }
        let Some(data) = bytes.get(end + 2..end + 2 + size) else { break };
        out.extend_from_slice(data);
        bytes = bytes.get(end + 4 + size..).unwrap_or_default();
    }
    out
}

/// Returns JSON as a value.
pub(crate) fn json(text: &str) -> Value {
    parse(text.as_bytes()).expect("it is JSON")
}

/// Returns an Anthropic request with these messages, user and assistant in turn.
pub(crate) fn request(system: &str, messages: &[&str], more: &[(&str, Value)]) -> String {
    let message = |(index, text): (usize, &&str)| {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        let fields = [("role", Value::from(role)), ("content", Value::from(*text))];
        Value::Object(Object::from_iter(fields))
    };
    let messages = messages.iter().enumerate().map(message).collect();
    let mut object = Object::from_iter([
        ("model", Value::from("claude-sonnet-4-5")),
        ("max_tokens", Value::from(100)),
        ("system", Value::from(system)),
        ("messages", Value::Array(messages)),
    ]);
    more.iter().for_each(|(name, value)| drop(object.insert(name, value.clone())));
    String::from_utf8(Value::Object(object).to_canonical()).expect("it is ASCII")
}
