//! A server for each test.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;

use contextree::Store;
use contextree_app::{Control, Workspace, command};
use contextree_server::shell::{Limits, Tokens};
use contextree_server::{Config, start};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::client::{Answer, Call};

/// The token that may do everything.
pub(crate) const OWNER: &str = "ctx_owner_0123456789abcdef";
/// May read contexts of `acme/`.
pub(crate) const READER: &str = "ctx_reader_0123456789abcdef";
/// May write contexts of `acme/`.
pub(crate) const WRITER: &str = "ctx_writer_0123456789abcdef";
/// May administer contexts of `acme/`.
pub(crate) const ADMIN: &str = "ctx_admin_0123456789abcdef";
/// May do everything with contexts of `other/`.
pub(crate) const OTHER: &str = "ctx_other_0123456789abcdef";

const TOKENS: &str = "
[owner]
token = 'ctx_owner_0123456789abcdef'
right = 'admin'
[reader]
token = 'ctx_reader_0123456789abcdef'
right = 'read'
contexts = ['acme/']
[writer]
token = 'ctx_writer_0123456789abcdef'
right = 'write'
contexts = ['acme/']
[admin]
token = 'ctx_admin_0123456789abcdef'
right = 'admin'
contexts = ['acme/']
[other]
token = 'ctx_other_0123456789abcdef'
right = 'admin'
contexts = ['other/']
";

/// A server on a thread of its own, with a store in memory unless told otherwise.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) workspace: Workspace,
    pub(crate) store: Store,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How a server of a test differs from the usual one.
pub(crate) struct Setup {
    pub(crate) url: String,
    pub(crate) limits: Limits,
    pub(crate) read_only: bool,
    pub(crate) change: fn(&mut Config),
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            url: "memory:".to_owned(),
            limits: Limits::default(),
            read_only: false,
            change: |_| {},
        }
    }
}

impl Served {
    /// Starts a server with two contexts of a tenant, and one of another.
    pub(crate) fn new() -> Served {
        let served = Served::with(&Setup::default());
        for name in ["acme/main", "acme/spare", "other/main"] {
            served.create(name);
        }
        served
    }

    pub(crate) fn with(setup: &Setup) -> Served {
        let store: Store = contextree::open(&setup.url).unwrap();
        let workspace = Workspace::over(store.clone(), &setup.url);
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let served = workspace.clone();
        let (read_only, limits, change) = (setup.read_only, setup.limits, setup.change);
        let thread = std::thread::spawn(move || {
            let mut tokens = Tokens::new(read_only);
            tokens.add_file("tokens", TOKENS, &limits).unwrap();
            let mut config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), tokens);
            config.limits = limits;
            change(&mut config);
            Runtime::new().unwrap().block_on(async {
                let running = start(config, served).await.unwrap();
                sender.send(running.address()).unwrap();
                let _ = stopped.await;
                running.stop().await;
            });
        });
        let address = receiver.recv().expect("the server starts");
        Served { address, workspace, store, stop: Some(stop), thread: Some(thread) }
    }

    /// Creates a context with one snapshot and something that is not committed.
    pub(crate) fn create(&self, name: &str) {
        let workspace = self.workspace.clone().with_context(name);
        let control = Control::default();
        command::new(&workspace, &Default::default(), &control).unwrap();
        for (text, commits) in [
            (
                r#"{"node":{"role":"system","content":"Be brief."},"place":{"parent":"^sys"}}"#,
                false,
            ),
            (r#"{"node":{"role":"user","content":"Will it rain?","ttl":2}}"#, true),
            (r#"{"node":{"role":"assistant","content":"Yes."}}"#, false),
        ] {
            let request = contextree_json::from_slice(text.as_bytes()).unwrap();
            command::add(&workspace, &request, &control).unwrap();
            if commits {
                command::commit(&workspace, &Default::default(), &control).unwrap();
            }
        }
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.address, method, path)
    }

    /// Sends a request of the Model Context Protocol.
    pub(crate) fn ask_mcp(&self, token: &str, method: &str, params: &str) -> Answer {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let call = self.call("POST", "/mcp").token(token).json(&body);
        let call = call.header("accept", "application/json, text/event-stream");
        call.header("mcp-protocol-version", "2025-06-18").send()
    }

    /// Calls a tool for models.
    pub(crate) fn tool(&self, token: &str, tool: &str, arguments: &str) -> Answer {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        self.ask_mcp(token, "tools/call", &params)
    }

    /// Gets a path as the owner.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.call("GET", path).token(OWNER).send()
    }

    /// Posts JSON to a path as the owner.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.call("POST", path).token(OWNER).json(body).send()
    }

    /// Ends the server and waits for it.
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

/// Returns a name as a part of a path.
pub(crate) fn encoded(name: &str) -> String {
    name.replace('/', "%2F")
}

/// Changes what a store has of a context, as a broken disk would.
pub(crate) fn damage(store: &Path, name: &str) {
    let connection = rusqlite::Connection::open(store).unwrap();
    let head = "UPDATE heads SET revision = revision + 40 WHERE context = (SELECT id FROM contexts WHERE name = ?1)";
    assert_eq!(connection.execute(head, [name]).unwrap(), 1);
}
