//! Measures the HTTP server on loopback: a small read, heads of many contexts, and many who listen.

mod client;

use std::error::Error;
use std::net::SocketAddr;
use std::thread;

use axum::Router;
use axum::routing::get;
use contextree::{ContextSettings, NewNode, Place};
use contextree_app::catalog::Command;
use contextree_app::{Control, Workspace};
use contextree_json::{Object, Value};
use contextree_server::shell::{Limits, Tokens};
use contextree_server::{Config, start};
use contextree_store::{Store, StoreOptions};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::measure::{Row, compare, time};
use crate::work;
use client::Client;

/// The token of the only caller.
const TOKEN: &str = "ctx_bench_0123456789abcdef";

/// The bars of issue 19: a multiple of the same work without the server, a share of a bare handler, and bytes per client.
const SMALL_READ: f64 = 1.5;
const HEADS: f64 = 0.5;
const PER_CLIENT: f64 = 50.0 * 1024.0;

/// How many connections read heads at once.
const CONNECTIONS: usize = 8;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A server over a store on disk, on a runtime of its own. It ends with this value.
struct Served {
    address: SocketAddr,
    workspace: Workspace,
    runtime: Runtime,
    _folder: TempDir,
}

impl Served {
    /// Starts a server with contexts named `context-0`, `context-1` …, each with one commit.
    fn with(contexts: usize) -> Result<Served> {
        let folder = TempDir::new_in(".")?;
        let url = format!("sqlite:{}", folder.path().join("store.db").display());
        let store = Store::open_with(&url, StoreOptions::deterministic())?;
        for number in 0..contexts {
            let mut session = store.create(&name(number), &ContextSettings::default())?;
            session.write(|context| -> Result<()> {
                for turn in 0..4 {
                    let node = NewNode::text(work::text(turn, 200)).role("user");
                    context.add(Place::head(), node)?;
                }
                context.commit()?;
                Ok(())
            })?;
        }
        let workspace = Workspace::over(store, &url);
        let mut tokens = Tokens::new(false);
        tokens.add_owner(TOKEN, &Limits::default())?;
        let config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), tokens);
        let runtime = Runtime::new()?;
        let running = runtime.block_on(start(config, workspace.clone()))?;
        let address = running.address();
        // It runs for as long as the runtime.
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(running);
        });
        Ok(Served { address, workspace, runtime, _folder: folder })
    }

    fn client(&self) -> Result<Client> {
        Ok(Client::connect(self.address, TOKEN)?)
    }
}

fn name(number: usize) -> String {
    format!("context-{number:05}")
}

/// Reads a small snapshot over HTTP, against the same call in process followed by an empty request over HTTP.
///
/// # Errors
///
/// If the server cannot be started or does not answer.
pub fn small_read(rounds: usize, requests: usize) -> Result<Row> {
    let served = Served::with(1)?;
    let workspace = served.workspace.clone().with_context(name(0));
    let command = Command::named("show").ok_or("there is no command `show`")?;
    let request = Object::from_iter([("what", Value::from("@t0"))]);
    let path = format!("/v1/contexts/{}/show?what=@t0", name(0));
    let (mut ours, mut theirs) = (served.client()?, served.client()?);
    ours.get(&path)?;
    theirs.get("/health")?;
    Ok(compare(
        "server: reading a small snapshot over HTTP, against the call in process and an empty request",
        SMALL_READ,
        rounds,
        || {
            time(requests, || {
                for _ in 0..requests {
                    ours.get(&path).expect("it answered a moment ago");
                }
            })
        },
        || {
            time(requests, || {
                for _ in 0..requests {
                    let request = Value::Object(request.clone());
                    let value = command.run(&workspace, request, &Control::default());
                    std::hint::black_box(value.expect("it ran a moment ago").to_canonical());
                    theirs.get("/health").expect("it answered a moment ago");
                }
            })
        },
    ))
}

/// Reads the heads of many contexts, one per request, against a bare handler that returns the same bytes. The ratio is that of requests
/// per second.
///
/// # Errors
///
/// If a server cannot be started or does not answer.
pub fn heads(rounds: usize, contexts: usize) -> Result<Row> {
    let served = Served::with(contexts)?;
    // The first context after a name is the one that follows it.
    let paths: Vec<String> = (0..contexts)
        .map(|number| match number {
            0 => "/v1/contexts?limit=1".to_owned(),
            _ => format!("/v1/contexts?limit=1&after={}", name(number - 1)),
        })
        .collect();
    let length = served.client()?.get(&paths[0])?;
    let bytes = "x".repeat(length);
    let bare = Router::new().route("/v1/contexts", get(async move || bytes.clone()));
    let listener = served.runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let bare_address = listener.local_addr()?;
    served.runtime.spawn(async move {
        use axum::serve::ListenerExt as _;
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        // It ends with the runtime.
        drop(axum::serve(listener, bare).await);
    });
    let mut ours = connections(served.address)?;
    let mut theirs = connections(bare_address)?;
    let row = compare(
        &format!("server: heads of {contexts} contexts per second, against a bare axum handler"),
        HEADS,
        rounds,
        || time(contexts, || read_all(&mut ours, &paths)),
        || time(contexts, || read_all(&mut theirs, &paths)),
    );
    let (least, most) = row.spread;
    let spread = (most.recip(), least.recip());
    Ok(Row { ratio: row.ratio.recip(), spread, is_gain: true, ..row })
}

fn connections(address: SocketAddr) -> Result<Vec<Client>> {
    (0..CONNECTIONS).map(|_| Ok(Client::connect(address, TOKEN)?)).collect()
}

/// Gets every path once, on all connections at once.
fn read_all(clients: &mut [Client], paths: &[String]) {
    thread::scope(|scope| {
        for (client, part) in
            clients.iter_mut().zip(paths.chunks(paths.len().div_ceil(CONNECTIONS)))
        {
            scope.spawn(move || {
                for path in part {
                    client.get(path).expect("it answered a moment ago");
                }
            });
        }
    });
}

/// Subscribes many clients to one context, commits once, and waits until all have the event. The ratio is the memory per client against
/// its limit; the nanoseconds are the time until the last client has the event.
///
/// # Errors
///
/// If the server does not answer, or a client gets no event.
pub fn subscribers(clients: usize) -> Result<Row> {
    let served = Served::with(1)?;
    let path = format!("/v1/contexts/{}/events", name(0));
    // One of each, so that what is there for any number of clients is there already.
    let mut first = served.client()?;
    first.subscribe(&path)?;
    let before = resident();
    let mut listening = Vec::with_capacity(clients);
    for _ in 0..clients {
        let mut client = served.client()?;
        client.subscribe(&path)?;
        listening.push(client);
    }
    let after = resident();
    let mut writer = served.client()?;
    let mut failed = None;
    let took = time(1, || {
        let done = (|| -> std::io::Result<()> {
            writer.post(&format!("/v1/contexts/{}/commit", name(0)), "{}")?;
            listening.iter_mut().try_for_each(Client::next_event)
        })();
        failed = done.err();
    });
    if let Some(error) = failed {
        return Err(format!("one commit did not reach all {clients} clients: {error}").into());
    }
    #[expect(clippy::cast_precision_loss, reason = "a benchmark's counts are small")]
    let each = after.saturating_sub(before) as f64 / clients as f64;
    let ratio = each / PER_CLIENT;
    Ok(Row {
        name: format!(
            "server: memory of each of {clients} clients subscribed to one context, against 50 KB ({:.1} KB); one commit reached all",
            each / 1024.0
        ),
        ratio,
        spread: (ratio, ratio),
        bar: 1.0,
        is_gain: false,
        nanoseconds: (took, took),
    })
}

/// Returns the memory of this process in bytes; 0 where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kilobytes.unwrap_or(0_u64) * 1024
}
