//! A client that reads streams, and a relay of bytes: the barest proxy there is.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

/// A connection that is kept for several requests.
pub(super) struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    path: &'static str,
}

/// A streamed answer.
pub(super) struct Streamed {
    /// The nanoseconds from the request to the first byte of the body.
    pub(super) first: f64,
    /// The body, without the marks of its chunks.
    pub(super) body: Vec<u8>,
}

impl Connection {
    pub(super) fn open(
        address: SocketAddr,
        path: &'static str,
    ) -> Result<Connection, Box<dyn std::error::Error>> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, address, path })
    }

    /// Sends a request, and reads its answer to the end.
    pub(super) fn stream(&mut self, body: &str) -> Result<Streamed, Box<dyn std::error::Error>> {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.path,
            self.address,
            body.len()
        );
        let started = Instant::now();
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
        let mut bytes = Vec::new();
        let mut first = None;
        let mut piece = [0; 16 << 10];
        while !bytes.ends_with(b"\r\n0\r\n\r\n") {
            let length = self.stream.read(&mut piece)?;
            if length == 0 {
                return Err("the stream broke off".into());
            }
            bytes.extend_from_slice(&piece[..length]);
            if first.is_none() && bytes.windows(5).any(|part| part == b"data:") {
                #[expect(clippy::cast_precision_loss, reason = "a benchmark's times are short")]
                let nanoseconds = started.elapsed().as_nanos() as f64;
                first = Some(nanoseconds);
            }
        }
        let first = first.ok_or("the answer has no event")?;
        Ok(Streamed { first, body: joined(&bytes)? })
    }
}

/// Returns the body of a response: a proxy may divide it into other chunks.
fn joined(response: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let find = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|it| it == mark);
    let head = find(response, b"\r\n\r\n").ok_or("the response has no head")?;
    let mut rest = &response[head + 4..];
    let mut body = Vec::with_capacity(rest.len());
    while let Some(end) = find(rest, b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end])?, 16)?;
        body.extend_from_slice(rest.get(end + 2..end + 2 + size).ok_or("a chunk is too short")?);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    Ok(body)
}

/// Starts a relay that passes bytes in both directions and looks at none of them. Returns where it listens.
pub(super) fn relay(upstream: SocketAddr) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(upstream) else { continue };
            for (from, into) in [(&client, &server), (&server, &client)] {
                if let (Ok(from), Ok(into)) = (from.try_clone(), into.try_clone()) {
                    // It fails if the runtime of the system refuses it; bytes pass anyway.
                    let _ = into.set_nodelay(true);
                    std::thread::spawn(move || pass(from, into));
                }
            }
        }
    });
    Ok(address)
}

fn pass(mut from: TcpStream, mut into: TcpStream) {
    let mut piece = [0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if into.write_all(&piece[..length]).is_err() {
            return;
        }
    }
}
