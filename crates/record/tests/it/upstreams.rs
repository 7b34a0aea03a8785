//! What upstreams do with a connection: compressed bodies, trailers, known lengths, and connections that end.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use contextree_record::{Outcome, Report};
use contextree_testkit::suite::faulty::{Faulty, When};
use contextree_testkit::upstream::Upstream;

use crate::fixture::{Fixture, read, request};

const ANSWER: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;

/// Returns an upstream that answers every request with the same bytes and closes the connection.
fn canned(reply: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut seen = Vec::new();
            // The request of these tests ends with its messages.
            while !seen.ends_with(b"}]}") && !seen.ends_with(br#""system":"s"}"#) {
                let mut piece = [0; 4096];
                match stream.read(&mut piece) {
                    Ok(length) if length > 0 => seen.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
            // The proxy may be gone.
            let _ = stream.write_all(&reply);
        }
    });
    address
}

fn in_front_of(address: SocketAddr) -> Fixture {
    Fixture::with(|config| {
        config.upstreams.set(&format!("anthropic=http://{address}")).expect("it is a URL");
    })
}

fn with_length(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn compressed_responses_pass_unchanged_and_are_decoded_for_the_record() {
    let (level, bytes) = (flate2::Compression::fast(), ANSWER.as_bytes());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    gzip.write_all(bytes).expect("it is in memory");
    let gzip = gzip.finish().expect("it is in memory");
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), level);
    zlib.write_all(bytes).expect("it is in memory");
    let zlib = zlib.finish().expect("it is in memory");
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), level);
    raw.write_all(bytes).expect("it is in memory");
    let raw = raw.finish().expect("it is in memory");
    let cases = [("gzip", gzip), ("deflate", zlib), ("deflate", raw), ("br", stored_as_brotli())];
    for (encoding, packed) in cases {
        let mut fixture = in_front_of(canned(with_length(encoding, &packed)));
        let answer = fixture.post("/v1/messages", &[], &request("s", &["one"], &[]));
        assert_eq!(answer.body, packed, "{encoding}");
        let lines = fixture.stop();
        assert!(matches!(lines[0].outcome, Outcome::Completed(_)), "{encoding}: {lines:?}");
    }
}

/// Returns the answer as a Brotli stream of one block that is not compressed (RFC 7932): there is no encoder here.
fn stored_as_brotli() -> Vec<u8> {
    let length = u32::try_from(ANSWER.len() - 1).expect("it is short");
    // A window of 16 bits (`0`), not the last block (`0`), a length of four digits (`00`), less one, not compressed (`1`).
    let head = (length << 4) | (1 << 20);
    let mut out = head.to_le_bytes()[..3].to_vec();
    out.extend(ANSWER.as_bytes());
    // The last block, which is empty.
    out.push(0b11);
    out
}

#[test]
fn response_with_trailers_is_complete() {
    let reply = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: x-check\r\n\r\n{:x}\r\n{ANSWER}\r\n0\r\nx-check: 1\r\n\r\n",
        ANSWER.len()
    );
    let mut fixture = in_front_of(canned(reply.into_bytes()));
    let headers = [("te", "trailers"), ("connection", "close")];
    let answer = fixture.post("/v1/messages", &headers, &request("s", &["one"], &[]));
    assert_eq!(answer.body, ANSWER.as_bytes());
    let lines = fixture.stop();
    assert!(matches!(lines[0].outcome, Outcome::Completed(_)), "{lines:?}");
}

#[test]
fn upstream_that_closes_before_its_head_is_reported() {
    for reply in ["", "HTTP/1.1 200 OK\r\nContent-Le"] {
        let mut fixture = in_front_of(canned(reply.into()));
        let answer = fixture.post("/v1/messages", &[], &request("s", &["one"], &[]));
        assert_eq!(answer.status, 502, "{reply:?}");
        let lines = fixture.stop();
        assert!(
            matches!(&lines[0].outcome, Outcome::Failed(why) if why.contains("not reached")),
            "{lines:?}"
        );
    }
}

#[test]
fn strict_call_whose_end_cannot_be_stored_fails_whatever_form_its_response_has() {
    for (is_stream, name) in [(false, "a length"), (true, "chunks")] {
        let faulty = std::sync::Arc::new(Faulty::new(contextree::store::Memory::default()));
        let store = contextree::store::Store::over(faulty.clone(), Default::default());
        let fixture = Fixture::over(store, Upstream::start(), |config| config.strict = true);
        let path = "/p/main/v1/messages";
        fixture.post(path, &[], &request("s", &["one"], &[]));
        let more = [("stream", is_stream.into())];
        let body = request("s", &["one", "You said: one", "two"], &more);
        // The first write begins the call, the second ends it, and the third says why it could not.
        let failure = contextree::store::StoreError::Busy { message: "full".to_owned() };
        faulty.fail_once(2, When::Before, failure);
        let close = [("connection", "close")];
        let mut stream = crate::fixture::open(fixture.address(), path, &close, body.as_bytes());
        let whole = rest_of(&mut stream);
        let is_cut = match is_stream {
            true => !whole.ends_with("0\r\n\r\n"),
            false => !whole.contains("You said: two"),
        };
        assert!(is_cut, "{name}: {whole}");
        let reports = fixture.reports.lock().expect("no test panics with it").clone();
        assert!(reports.iter().any(|it| matches!(it, Report::NotRecorded(_))), "{reports:?}");
    }
}

/// Reads until the connection is closed.
fn rest_of(stream: &mut TcpStream) -> String {
    let mut whole = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(length) = stream.read(&mut piece) {
        if length == 0 || whole.ends_with(b"0\r\n\r\n") {
            break;
        }
        whole.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&whole).into_owned()
}

#[test]
fn strict_response_of_known_length_ends_when_it_is_recorded() {
    let fixture = Fixture::with(|config| config.strict = true);
    let body = request("s", &["one"], &[]);
    let mut stream = crate::fixture::open(fixture.address(), "/v1/messages", &[], body.as_bytes());
    let answer = read(&mut stream);
    assert!(answer.head.to_ascii_lowercase().contains("content-length"), "{}", answer.head);
    let reports = fixture.reports.lock().expect("no test panics with it").len();
    assert_eq!(reports, 1, "it was recorded before the last byte was sent");
}

#[test]
fn strict_response_without_a_body_is_recorded_first() {
    let reply = b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n".to_vec();
    let address = canned(reply);
    let fixture = Fixture::with(|config| {
        config.strict = true;
        config.upstreams.set(&format!("anthropic=http://{address}")).expect("it is a URL");
    });
    assert_eq!(fixture.post("/v1/messages", &[], &request("s", &["one"], &[])).status, 500);
    assert_eq!(fixture.reports.lock().expect("no test panics with it").len(), 1);
}
