//! A client that speaks the protocol, and the context that it asks about.

use bytes::Bytes;
use contextree_app::catalog::{Command, Right};
use contextree_app::{Control, Names, Workspace};
use contextree_json::parse;
use contextree_mcp::{Caller, Http};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

/// A client of a store.
pub(crate) struct Client {
    http: Http,
    workspace: Workspace,
    caller: Caller,
    runtime: tokio::runtime::Runtime,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "calls with `json!` read better without references"
)]
impl Client {
    /// Returns a client of a new store in memory with a context of two calls; the document of the first one has expired.
    pub(crate) fn new(right: Right) -> Client {
        let store = contextree::open("memory:").expect("a store");
        let workspace = Workspace::over(store, "memory:").with_context("main");
        let http = Http::new(workspace.clone(), 1 << 20);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("a runtime");
        let client = Client { http, workspace, caller: Caller::with_right(right), runtime };
        client.app("new", json!({}));
        client.app("add", json!({"node": {"role": "user", "content": "Will it rain in Oslo?"}}));
        let document = json!({"kind": "document", "content": "Forecast: rain", "ttl": 1});
        client.app("add", json!({"node": document}));
        client.app("commit", json!({}));
        client.app("add", json!({"node": {"role": "assistant", "content": "Yes."}}));
        client.app("add", json!({"node": {"role": "user", "content": "And tomorrow?"}}));
        client.app("commit", json!({}));
        client
    }

    /// Limits what the client sees to names with a prefix.
    pub(crate) fn for_names(mut self, prefix: &str) -> Client {
        self.caller.names = Names::beginning_with([prefix.to_owned()]);
        self
    }

    /// Runs a command directly.
    pub(crate) fn app(&self, name: &str, request: Value) -> Value {
        let command = Command::named(name).expect("a command");
        let request = parse(request.to_string().as_bytes()).expect("JSON");
        let done = command.run(&self.workspace, request, &Control::default());
        done.expect("the command succeeds").into()
    }

    /// Sends a request of the protocol; returns the whole answer.
    pub(crate) fn send(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-06-18")
            .body(Full::new(Bytes::from(body.to_string())))
            .expect("a request");
        request.extensions_mut().insert(self.caller.clone());
        self.runtime.block_on(async {
            let response = self.http.answer(request).await;
            let status = response.status();
            let body = response.into_body().collect().await.expect("a body").to_bytes();
            let text = String::from_utf8_lossy(&body);
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}"))
        })
    }

    /// Calls a tool; returns its text, or the text of its error.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.send("tools/call", json!({"name": tool, "arguments": arguments}));
        let Some(result) = answer.get("result") else {
            return Err(answer["error"]["message"].as_str().unwrap_or_default().to_owned());
        };
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if result["isError"] == true { Err(text) } else { Ok(text) }
    }

    /// Calls a tool that succeeds.
    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).expect("the tool succeeds")
    }

    /// Returns the names of the tools.
    pub(crate) fn tools(&self) -> Vec<String> {
        let answer = self.send("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().expect("tools").clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect()
    }
}
