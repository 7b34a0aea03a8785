//! Just enough of HTTP/1.1 to read a request.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, as they were written.
    pub headers: Vec<(String, String)>,
    /// The body, as it arrived.
    pub body: Vec<u8>,
}

impl Received {
    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads the next request of a connection; `None` at its end.
pub(super) fn read(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Option<Received> {
    let head_end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at;
        }
        more(stream, buffer)?;
    };
    let head = String::from_utf8(buffer[..head_end].to_vec()).ok()?;
    buffer.drain(..head_end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut request = Received { method, path, headers, body: Vec::new() };
    if request.header("transfer-encoding").is_some_and(|it| it.contains("chunked")) {
        request.body = chunked(stream, buffer)?;
    } else if let Some(length) = request.header("content-length") {
        let length: usize = length.parse().ok()?;
        while buffer.len() < length {
            more(stream, buffer)?;
        }
        request.body = buffer.drain(..length).collect();
    }
    Some(request)
}

fn chunked(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            match find(buffer, b"\r\n") {
                Some(end) => break end,
                None => more(stream, buffer)?,
            }
        };
        let size = str::from_utf8(&buffer[..end]).ok()?.split(';').next()?.trim().to_owned();
        let size = usize::from_str_radix(&size, 16).ok()?;
        while buffer.len() < end + 2 + size + 2 {
            more(stream, buffer)?;
        }
        body.extend_from_slice(&buffer[end + 2..end + 2 + size]);
        buffer.drain(..end + 2 + size + 2);
        if size == 0 {
            return Some(body);
        }
    }
}

/// Reads more bytes; `None` at the end.
pub(super) fn more(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Option<()> {
    let mut piece = [0; 16 << 10];
    match stream.read(&mut piece) {
        Ok(length) if length > 0 => {
            buffer.extend_from_slice(&piece[..length]);
            Some(())
        }
        _ => None,
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Returns a hash of a body.
pub(super) fn hash(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}
