//! A scripted provider of models, for tests of what is between a client and a provider.
//!
//! It answers the calls of all four formats by what the last message says (`script`), the same request always with the same bytes.
//! Threads and blocking sockets: it has nothing in common with what it tests.

mod http;
mod script;
mod wires;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use http::Received;
pub use script::Reply;

/// A scripted provider that runs until the process ends.
#[derive(Clone, Debug)]
pub struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    received: Mutex<Vec<Received>>,
    /// How often each body arrived, by its hash.
    seen: Mutex<BTreeMap<u64, u32>>,
}

impl Upstream {
    /// Starts it on a free port.
    ///
    /// # Panics
    ///
    /// If this machine has no free port.
    #[must_use]
    pub fn start() -> Upstream {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared::default());
        let upstream = Upstream { address, shared };
        let own = upstream.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                std::thread::spawn(move || own.serve(stream));
            }
        });
        upstream
    }

    /// Returns where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests that arrived, in their order.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn serve(&self, mut stream: TcpStream) {
        // A client that waits for more would wait for the acknowledgement of what it has.
        let _ = stream.set_nodelay(true);
        let mut buffer = Vec::new();
        while let Some(request) = http::read(&mut stream, &mut buffer) {
            if request.header("upgrade").is_some() {
                self.note(&request);
                script::socket(&mut stream, &request);
                return;
            }
            let count = self.note(&request);
            let reply = script::reply(&request, count);
            if !send(&mut stream, &reply) {
                return;
            }
        }
    }

    /// Notes a request, and returns how often its body arrived before.
    fn note(&self, request: &Received) -> u32 {
        let mut received = self.shared.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.push(request.clone());
        drop(received);
        let mut seen = self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.entry(http::hash(&request.body)).or_default();
        *count += 1;
        *count - 1
    }
}

/// Sends a reply. Returns whether the connection can be used again.
fn send(stream: &mut TcpStream, reply: &Reply) -> bool {
    let mut head = format!("HTTP/1.1 {} X\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_stream = reply.pieces.len() > 1 || reply.breaks_off;
    match is_stream {
        true => head.push_str("Transfer-Encoding: chunked\r\n\r\n"),
        false => {
            let length = reply.pieces.first().map_or(0, |(piece, _)| piece.len());
            head.push_str(&format!("Content-Length: {length}\r\n\r\n"));
        }
    }
    if stream.write_all(head.as_bytes()).is_err() {
        return false;
    }
    for (piece, pause) in &reply.pieces {
        if *pause > 0 {
            std::thread::sleep(Duration::from_millis(*pause));
        }
        let written = match is_stream {
            true => {
                let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
                stream.write_all(&chunk)
            }
            false => stream.write_all(piece),
        };
        if written.is_err() {
            return false;
        }
    }
    if reply.breaks_off {
        return false;
    }
    !is_stream || stream.write_all(b"0\r\n\r\n").is_ok()
}
