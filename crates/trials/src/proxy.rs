//! A proxy in front of PostgreSQL: at the N-th message of a session the connection is cut, the message is cut off, or it is late.
//!
//! Whatever happens on the way, no acknowledged step is lost, none is stored twice, and the next connection works.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use contextree::ContextSettings;
use contextree_store::StoreError;
use contextree_testkit::postgres::Server;

use crate::script::{Failure, Script, advance, check_named, open};

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The connection ends before it.
    Cut,
    /// The connection ends in the middle of it.
    Truncate,
    /// It is late.
    Delay,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 3] = [Mode::Cut, Mode::Truncate, Mode::Delay];
}

/// How late a message is: longer than an answer usually takes.
const LATE: Duration = Duration::from_millis(20);

/// Errors that a lost connection may cause.
const TOLD: [&str; 2] = ["E_STORE_UNAVAILABLE", "E_STORE_BUSY"];

struct Plan {
    messages: AtomicU64,
    at: u64,
    mode: Mode,
    is_over: AtomicBool,
}

/// Forwards connections to a server. Ends when it is dropped.
struct Proxy {
    port: u16,
    plan: Arc<Plan>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.plan.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Proxy {
    fn new(server: u16, at: u64, mode: Mode) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let (messages, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        let plan = Arc::new(Plan { messages, at, mode, is_over });
        let shared = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let pair = client.and_then(|client| {
                    let server = TcpStream::connect(("127.0.0.1", server))?;
                    client.set_nodelay(true)?;
                    server.set_nodelay(true)?;
                    Ok((client.try_clone()?, server.try_clone()?, client, server))
                });
                let Ok((from_client, to_server, to_client, from_server)) = pair else { continue };
                let plan = Arc::clone(&shared);
                thread::spawn(move || pump(from_client, to_server, true, &plan));
                let plan = Arc::clone(&shared);
                thread::spawn(move || pump(from_server, to_client, false, &plan));
            }
        });
        Ok(Proxy { port, plan })
    }
}

/// Forwards messages in one direction until one side ends the connection.
fn pump(mut from: TcpStream, mut to: TcpStream, mut is_first: bool, plan: &Plan) {
    while let Ok(message) = read(&mut from, is_first) {
        is_first = false;
        let number = plan.messages.fetch_add(1, Ordering::SeqCst);
        if number == plan.at {
            match plan.mode {
                Mode::Cut => break,
                Mode::Truncate => {
                    to.write_all(&message[..message.len() / 2]).ok();
                    break;
                }
                Mode::Delay => thread::sleep(LATE),
            }
        }
        if to.write_all(&message).is_err() {
            break;
        }
    }
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}

/// Reads one message: a byte that says what it is, except in the first of a client, its length, its content.
fn read(from: &mut TcpStream, is_first: bool) -> std::io::Result<Vec<u8>> {
    let head = if is_first { 4 } else { 5 };
    let mut message = vec![0; head];
    from.read_exact(&mut message)?;
    let length = message.last_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let rest = usize::try_from(length).unwrap_or(4).saturating_sub(4);
    message.resize(head + rest, 0);
    from.read_exact(&mut message[head..])?;
    Ok(message)
}

/// What a trial did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Sessions with a fault.
    pub faults: u64,
    /// Messages in a session without a fault.
    pub messages: u64,
    /// Errors that callers saw, by code.
    pub errors: BTreeMap<String, u64>,
}

/// Disturbs every `stride`-th message of a session of `steps` steps, in each mode.
///
/// # Errors
///
/// The first broken promise, with the message and the mode.
pub fn run(server: &Server, steps: u64, first: u64, stride: u64) -> Result<Report, Failure> {
    let url = server.url_with(&format!("schema=proxy_{}&sslmode=disable", std::process::id()));
    // The tables are made once, without a fault.
    open(&url).map_err(|error| error.to_string())?;
    let messages = one(&url, steps, u64::MAX, Mode::Delay, &mut BTreeMap::new())?;
    let mut report = Report { messages, ..Report::default() };
    let mut at = first;
    while at < report.messages {
        for mode in Mode::ALL {
            // Late messages are all alike, and cost time.
            if mode == Mode::Delay && !at.is_multiple_of(10) {
                continue;
            }
            one(&url, steps, at, mode, &mut report.errors)
                .map_err(|failure| format!("message {at} of {steps} steps, {mode:?}: {failure}"))?;
            report.faults += 1;
        }
        at += stride;
    }
    Ok(report)
}

/// Runs a session with one fault. Returns the number of messages.
fn one(
    url: &str,
    steps: u64,
    at: u64,
    mode: Mode,
    errors: &mut BTreeMap<String, u64>,
) -> Result<u64, Failure> {
    let (before, after) =
        url.split_once("127.0.0.1:").ok_or("the server is not on this machine")?;
    let digits = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
    let port: u16 = after[..digits].parse().map_err(|_| "the URL has no port".to_owned())?;
    let proxy = Proxy::new(port, at, mode).map_err(|error| error.to_string())?;
    let through = format!("{before}127.0.0.1:{}{}", proxy.port, &after[digits..]);
    let name = format!("message {at} {mode:?}");
    let (mut acknowledged, mut told) = (0, Vec::new());
    if let Err(error) = work(&through, &name, steps, &mut acknowledged, &mut told) {
        told.push(error);
        // The caller comes back.
        if let Err(error) = work(&through, &name, steps, &mut acknowledged, &mut told) {
            told.push(error);
        }
    }
    for error in told {
        if !TOLD.contains(&error.code()) {
            return Err(format!("the caller was told {}: {error}", error.code()));
        }
        *errors.entry(error.code().to_owned()).or_default() += 1;
    }
    let messages = proxy.plan.messages.load(Ordering::SeqCst);
    drop(proxy);
    let describe = |error: StoreError| format!("later: {}: {error}", error.code());
    let store = open(url).map_err(describe)?;
    let found = check_named(&store, &name, &mut Script::default())?;
    if found != acknowledged && found != acknowledged + 1 {
        return Err(format!("{acknowledged} was acknowledged, {found} is there"));
    }
    store.delete(&name).map_err(describe)?;
    Ok(messages)
}

fn work(
    url: &str,
    name: &str,
    steps: u64,
    acknowledged: &mut u64,
    told: &mut Vec<StoreError>,
) -> Result<(), StoreError> {
    let store = open(url)?;
    let mut session = store.session_or_new(name, &ContextSettings::default())?;
    *acknowledged = (*acknowledged).max(session.row().revision.get());
    while session.row().revision.get() < steps {
        match advance(&mut session) {
            Ok(revision) => *acknowledged = revision,
            Err(error) => {
                told.push(error);
                session.refresh()?;
            }
        }
    }
    Ok(())
}
