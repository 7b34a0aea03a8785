//! A client that cancels its requests, over two streams as on standard input.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contextree_app::Workspace;
use contextree_app::catalog::Right;
use contextree_mcp::{Caller, Done, Runner, Work, serve};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a runner tells.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Began(Right),
    Dropped,
}

/// A runner whose works do not end until they are let go.
#[derive(Debug)]
struct Held {
    told: UnboundedSender<Told>,
    is_released: Arc<AtomicBool>,
}

/// A work that waits.
struct Waiting {
    told: UnboundedSender<Told>,
    work: Option<Work>,
    is_released: Arc<AtomicBool>,
}

impl Runner for Held {
    fn run(&self, right: Right, work: Work) -> Done {
        let _ = self.told.send(Told::Began(right));
        let told = self.told.clone();
        let is_released = Arc::clone(&self.is_released);
        Box::pin(Waiting { told, work: Some(work), is_released })
    }
}

impl Future for Waiting {
    type Output = Result<(), contextree_app::Error>;

    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        if !self.is_released.load(Ordering::Relaxed) {
            context.waker().wake_by_ref();
            return std::task::Poll::Pending;
        }
        let work = self.work.take().expect("it is polled once more only");
        std::task::Poll::Ready(work(contextree_app::Cancel::default()))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.work.is_some() {
            let _ = self.told.send(Told::Dropped);
        }
    }
}

struct Client {
    read: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    told: UnboundedReceiver<Told>,
    is_released: Arc<AtomicBool>,
}

impl Client {
    async fn start() -> Client {
        let store = contextree::open("memory:").expect("a store");
        store.create("main", &Default::default()).expect("it is new");
        let workspace = Workspace::over(store, "memory:").with_context("main");
        let (told, waits) = unbounded_channel();
        let is_released = Arc::new(AtomicBool::new(false));
        let mut caller = Caller::with_right(Right::Write);
        caller.runner = Arc::new(Held { told, is_released: Arc::clone(&is_released) });
        let (own, other) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(other);
        tokio::spawn(serve(workspace, caller, read, write));
        let (read, write) = tokio::io::split(own);
        let read = BufReader::new(read).lines();
        let mut client = Client { read, write, told: waits, is_released };
        let about = json!({"name": "test", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
        client.send(json!({"id": 1, "method": "initialize", "params": hello})).await;
        client.answer(1).await;
        client.send(json!({"method": "notifications/initialized"})).await;
        client
    }

    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.write.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }

    /// Returns the answer to a request, which is the next message.
    async fn answer(&mut self, id: u64) -> Value {
        let line = self.read.next_line().await.expect("it answers").expect("it has not ended");
        let answer: Value = serde_json::from_str(&line).expect("it is JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(json!({"id": id, "method": "tools/call", "params": params})).await;
    }

    async fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "too slow"});
        self.send(json!({"method": "notifications/cancelled", "params": params})).await;
    }
}

#[tokio::test]
async fn canceled_request_that_reads_ends_and_one_that_writes_is_finished() {
    let mut client = Client::start().await;
    client.call(2, "show", json!({})).await;
    assert_eq!(client.told.recv().await, Some(Told::Began(Right::Read)));
    client.cancel(2).await;
    assert_eq!(client.told.recv().await, Some(Told::Dropped));
    client.call(3, "note", json!({"text": "metric units"})).await;
    assert_eq!(client.told.recv().await, Some(Told::Began(Right::Write)));
    client.cancel(3).await;
    // Messages are handled in their order: when this is answered, the cancellation was seen.
    client.send(json!({"id": 4, "method": "ping"})).await;
    client.answer(4).await;
    client.is_released.store(true, Ordering::Relaxed);
    for id in 5.. {
        client.call(id, "show", json!({})).await;
        // Anything else would say that the note was dropped.
        assert_eq!(client.told.recv().await, Some(Told::Began(Right::Read)));
        let shown = client.answer(id).await["result"]["content"][0]["text"].to_string();
        if shown.contains("metric units") {
            break;
        }
    }
}
