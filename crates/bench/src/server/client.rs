//! A client for one connection: it sends requests and reads responses, and nothing else, so that little of its own time is measured.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a response may take before the measurement is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection that stays open.
#[derive(Debug)]
pub(super) struct Client {
    stream: TcpStream,
    /// What every request has after its first line.
    headers: String,
    received: Vec<u8>,
}

impl Client {
    pub(super) fn connect(address: SocketAddr, token: &str) -> io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let headers = format!(" HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n");
        Ok(Client { stream, headers, received: Vec::new() })
    }

    /// Gets a path; returns the number of bytes of the body.
    pub(super) fn get(&mut self, path: &str) -> io::Result<usize> {
        self.send("GET", path, "")?;
        let head = self.read_until(b"\r\n\r\n")?;
        let length = body_length(&self.received[..head])?;
        while self.received.len() < head + length {
            self.read_more()?;
        }
        self.received.clear();
        Ok(length)
    }

    /// Posts JSON and waits for the response.
    pub(super) fn post(&mut self, path: &str, body: &str) -> io::Result<()> {
        self.send("POST", path, body)?;
        let head = self.read_until(b"\r\n\r\n")?;
        let length = body_length(&self.received[..head])?;
        while self.received.len() < head + length {
            self.read_more()?;
        }
        self.received.clear();
        Ok(())
    }

    /// Begins to listen to a stream of events, and waits for the first.
    pub(super) fn subscribe(&mut self, path: &str) -> io::Result<()> {
        self.send("GET", path, "")?;
        self.read_until(b"\r\n\r\n")?;
        self.next_event()
    }

    /// Waits for the next event of the stream.
    pub(super) fn next_event(&mut self) -> io::Result<()> {
        let end = self.read_until(b"data: ")?;
        self.received.drain(..end);
        let end = self.read_until(b"\n\n")?;
        self.received.drain(..end);
        // A client that waits holds nothing.
        self.received.shrink_to_fit();
        Ok(())
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> io::Result<()> {
        let headers = &self.headers;
        let more = match body {
            "" => String::new(),
            body => {
                format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len())
            }
        };
        self.stream.write_all(format!("{method} {path}{headers}{more}\r\n{body}").as_bytes())
    }

    /// Reads until a mark has been received; returns where it ends.
    fn read_until(&mut self, mark: &[u8]) -> io::Result<usize> {
        loop {
            let found = self.received.windows(mark.len()).position(|window| window == mark);
            match found {
                Some(start) => return Ok(start + mark.len()),
                None => self.read_more()?,
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let length = self.stream.read(&mut buffer)?;
        if length == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server ended"));
        }
        self.received.extend_from_slice(&buffer[..length]);
        Ok(())
    }
}

/// Returns the length of the body of a response, which must have succeeded.
fn body_length(head: &[u8]) -> io::Result<usize> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    if !head.starts_with("http/1.1 200") {
        return Err(io::Error::other(format!("the response is not 200: {head}")));
    }
    let line = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = line.and_then(|length| length.trim().parse().ok());
    length.ok_or_else(|| io::Error::other(format!("the response has no length: {head}")))
}
