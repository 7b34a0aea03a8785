//! As much of an HTTP client as the tests need, by hand: they also send what no client would.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use contextree_json::{Value, parse};

/// A test fails rather than waiting longer than this for the server.
const PATIENCE: Duration = Duration::from_secs(60);

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns a header; its name is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        parse(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Returns the code of a problem.
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem.get("status").and_then(Value::as_u64), Some(self.status.into()));
        problem.get("code").and_then(Value::as_str).unwrap().to_owned()
    }
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    address: SocketAddr,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Call {
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str) -> Call {
        let headers = vec![("host".to_owned(), address.to_string())];
        Call { address, method: method.to_owned(), path: path.to_owned(), headers, body: vec![] }
    }

    /// Sets a header; an empty value removes it.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Call {
        self.headers.retain(|(key, _)| key != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(crate) fn token(self, token: &str) -> Call {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: &str) -> Call {
        self.header("content-type", "application/json").bytes(body.as_bytes())
    }

    pub(crate) fn bytes(mut self, body: &[u8]) -> Call {
        self.body = body.to_vec();
        let length = body.len().to_string();
        self.header("content-length", &length)
    }

    /// Returns the bytes of the request.
    pub(crate) fn head(&self) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text
    }

    /// Opens a connection and sends the request.
    pub(crate) fn open(&self) -> Connection {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = Connection(BufReader::new(stream));
        // The server may refuse before it has read everything.
        let _ = connection.0.get_mut().write_all(self.head().as_bytes());
        let _ = connection.0.get_mut().write_all(&self.body);
        connection
    }

    /// Sends the request and reads the whole response.
    pub(crate) fn send(self) -> Answer {
        let is_head = self.method == "HEAD";
        self.header("connection", "close").open().answer(is_head)
    }
}

/// A connection whose response has not been read yet.
pub(crate) struct Connection(pub(crate) BufReader<TcpStream>);

impl Connection {
    /// Reads status and headers.
    pub(crate) fn read_head(&mut self) -> Answer {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status: {line:?}"));
        let mut answer = Answer { status: status.parse().unwrap(), headers: vec![], body: vec![] };
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            answer.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        answer
    }

    /// Reads one piece of a body that is sent in pieces; empty at its end.
    pub(crate) fn read_chunk(&mut self) -> Vec<u8> {
        let mut line = String::new();
        if self.0.read_line(&mut line).unwrap_or(0) == 0 {
            return Vec::new();
        }
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.0.read_exact(&mut chunk).unwrap();
        chunk.truncate(length);
        chunk
    }

    fn answer(mut self, is_head: bool) -> Answer {
        let mut answer = self.read_head();
        if is_head || matches!(answer.status, 204 | 304) {
            return answer;
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let chunk = self.read_chunk();
                if chunk.is_empty() {
                    return answer;
                }
                answer.body.extend(chunk);
            }
        }
        let length = answer.header("content-length").unwrap_or("0").parse().unwrap();
        answer.body = vec![0; length];
        self.0.read_exact(&mut answer.body).unwrap();
        answer
    }
}
