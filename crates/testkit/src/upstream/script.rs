//! What the provider answers.
//!
//! | the last text contains | the answer |
//! |---|---|
//! | `use the tool` | a call of the shell or else of the first tool, unless its result is the last message |
//! | `fail once` | status 529 or 500 when a body arrives for the first time, an answer when it arrives again |
//! | `bad request` | status 400 |
//! | `limit` | status 429, with `retry-after` |
//! | `break off` | half a stream, then the connection ends |
//! | `slowly` | a stream whose events are 50 ms apart |
//! | `pause` | a stream that pauses for half a minute in its middle |
//! | `many events N` | a stream of N events |
//! | `keep alive` | for Responses, a stream with events that are not part of the answer |
//! | anything else | `You said: …`, word by word if it is streamed |

use std::io::Write as _;
use std::net::TcpStream;

use contextree_json::{Value, parse};

use super::http::{Received, hash, more};
use super::wires::{Said, Wire};

/// A reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, without those of the length.
    pub headers: Vec<(String, String)>,
    /// The pieces of the body, each with the milliseconds before it. Several are sent as chunks.
    pub pieces: Vec<(Vec<u8>, u64)>,
    /// Whether the connection ends before the body does.
    pub breaks_off: bool,
}

/// Returns the reply to a request whose body arrived `count` times before.
pub(super) fn reply(request: &Received, count: u32) -> Reply {
    let Some(wire) = Wire::of(&request.path) else {
        let body = br#"{"object":"list","data":[]}"#.to_vec();
        return json(200, body);
    };
    let body = plain(request);
    let Ok(document) = parse(&body) else {
        return json(400, wire.error(400, "invalid_request_error", "not JSON"));
    };
    let said = wire.last_text(&document);
    let text = said.text.as_str();
    let number = hash(&body) % 1_000_000;
    if text.contains("bad request") {
        return json(400, wire.error(400, "invalid_request_error", "the request is bad"));
    }
    if text.contains("limit") {
        let mut reply = json(429, wire.error(429, "rate_limit_error", "slow down"));
        reply.headers.push(("Retry-After".to_owned(), "0".to_owned()));
        return reply;
    }
    // Retries alternate, so that the same conversation can be held twice.
    if text.contains("fail once") && count.is_multiple_of(2) {
        let mut reply = json(500, wire.error(500, "api_error", "try again"));
        reply.headers.push(("Retry-After".to_owned(), "0".to_owned()));
        reply.headers.push(("retry-after-ms".to_owned(), "1".to_owned()));
        return reply;
    }
    let is_stream = request.path.contains("streamGenerateContent")
        || document.get("stream").is_some_and(|it| *it == Value::Bool(true));
    let calls_tool = text.contains("use the tool") && !said.is_result;
    if !is_stream {
        let mut reply = json(200, wire.document(&document, &said, number, calls_tool));
        reply.headers.push(("Request-Id".to_owned(), format!("req_{number}")));
        return compressed(reply, text);
    }
    let words = match text.split_once("many events ") {
        Some((_, rest)) => {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let many = digits.parse().unwrap_or(10);
            (0..many).map(|index| format!("word {index} ")).collect()
        }
        None => wire.words(&said),
    };
    let mut events = wire.events(&document, &said, number, calls_tool, &words);
    let pause = if text.contains("slowly") { 50 } else { 0 };
    let breaks_off = text.contains("break off");
    if breaks_off {
        events.truncate(events.len() / 2);
    }
    let headers = vec![
        ("Content-Type".to_owned(), "text/event-stream; charset=utf-8".to_owned()),
        ("Request-Id".to_owned(), format!("req_{number}")),
    ];
    let middle = if text.contains("pause") { Some(events.len() / 2) } else { None };
    let piece = |(index, event): (usize, String)| {
        let pause = if middle == Some(index) { 30_000 } else { pause };
        (event.into_bytes(), pause)
    };
    let pieces = events.into_iter().enumerate().map(piece).collect();
    Reply { status: 200, headers, pieces, breaks_off }
}

fn json(status: u16, body: Vec<u8>) -> Reply {
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    Reply { status, headers, pieces: vec![(body, 0)], breaks_off: false }
}

/// Nothing here compresses; a test that asks for it gets a body that is marked as plain.
fn compressed(mut reply: Reply, text: &str) -> Reply {
    if text.contains("identity") {
        reply.headers.push(("Content-Encoding".to_owned(), "identity".to_owned()));
    }
    reply
}

/// Returns the body of a request. Compressed bodies carry a copy in a header of the tests.
fn plain(request: &Received) -> Vec<u8> {
    match request.header("x-test-plain") {
        Some(text) => text.as_bytes().to_vec(),
        None => request.body.clone(),
    }
}

/// Answers messages of a WebSocket until it ends.
pub(super) fn socket(stream: &mut TcpStream, request: &Received) {
    let key = request.header("x-test-accept").unwrap_or("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {key}\r\n\r\n"
    );
    if stream.write_all(head.as_bytes()).is_err() {
        return;
    }
    let mut buffer = Vec::new();
    loop {
        while let Some(message) = take_message(&mut buffer) {
            let Ok(document) = parse(&message) else { return };
            let wire = Wire::Responses;
            let said: Said = wire.last_text(&document);
            let number = hash(&message) % 1_000_000;
            let words = wire.words(&said);
            for event in wire.events(&document, &said, number, false, &words) {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                if let Some(data) = data.filter(|data| data.starts_with('{'))
                    && stream.write_all(&frame(data.as_bytes())).is_err()
                {
                    return;
                }
            }
        }
        if more(stream, &mut buffer).is_none() {
            return;
        }
    }
}

/// Takes a masked text frame of a client.
fn take_message(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let second = *buffer.get(1)?;
    let (length, start) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes(buffer.get(2..4)?.try_into().ok()?)), 4),
        127 => (usize::try_from(u64::from_be_bytes(buffer.get(2..10)?.try_into().ok()?)).ok()?, 10),
        short => (usize::from(short), 2),
    };
    let mask: [u8; 4] = buffer.get(start..start + 4)?.try_into().ok()?;
    let payload = buffer.get(start + 4..start + 4 + length)?;
    let plain = payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
    buffer.drain(..start + 4 + length);
    Some(plain)
}

fn frame(payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x81];
    match payload.len() {
        short @ 0..126 => out.push(short as u8),
        long => {
            out.push(127);
            out.extend((long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    out
}
