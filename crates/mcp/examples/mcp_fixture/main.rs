//! A server of the tools, prompts and resources that the official conformance suite of the protocol asks for.
//!
//! `cargo xtask mcp` runs the suite against Contextree and against this server: a scenario that asks for a tool which only the suite
//! needs passes here. Both are mounted by the same code. This one keeps sessions, because its tools ask the client for something in
//! the middle of a call, which earlier versions of the protocol do over a session.
//!
//! It prints its address and runs until it is killed.
#![expect(clippy::print_stdout, reason = "the program's output")]

mod content;
mod handler;
mod input;
#[path = "../../src/mount.rs"]
mod mount;
mod task;

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use handler::Fixture;
use mount::mount;

/// The longest request.
const BODY: usize = 1 << 20;

fn main() -> std::io::Result<()> {
    Runtime::new()?.block_on(serve())
}

async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let fixture = Fixture::default();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = Arc::new(mount(move || fixture.clone(), sessions, true, BODY));
    loop {
        let (stream, _) = listener.accept().await?;
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
            });
            // It fails if the client disconnects.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}
