//! Compressed bodies, WebSockets, and who may call.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use contextree::provider::Provider;
use contextree_record::{Outcome, Report};

use crate::fixture::{Fixture, json, post, read, request};

#[test]
fn compressed_requests_pass_unchanged_and_are_decoded_for_the_record() {
    let mut fixture = Fixture::new();
    let body = request("s", &["one"], &[]);
    let packed = zstd::encode_all(body.as_bytes(), 1).expect("it is in memory");
    let headers = [("content-encoding", "zstd"), ("x-test-plain", body.as_str())];
    assert_eq!(post(fixture.address(), "/v1/messages", &headers, &packed).status, 200);
    assert_eq!(fixture.upstream.received()[0].body, packed);
    assert_eq!(fixture.stop().len(), 1);
    assert_eq!(fixture.sent("agent-1", 1, Provider::Anthropic), json(&body));
}

#[test]
fn websocket_is_relayed_and_each_response_is_a_call() {
    let mut fixture = Fixture::new();
    let mut stream = TcpStream::connect(fixture.address()).expect("it listens");
    let head = format!(
        "GET /openai/responses HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\nsession_id: 6f1e4c0a-8f3b-4d2e-9a57-000012345678\r\n\r\n",
        fixture.address()
    );
    stream.write_all(head.as_bytes()).expect("it is read");
    let mut seen = Vec::new();
    until(&mut stream, &mut seen, b"\r\n\r\n");
    assert!(seen.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&seen));
    for text in ["one", "keep alive"] {
        let message = format!(
            r#"{{"type":"response.create","model":"m","input":[{{"role":"user","content":"{text}"}}]}}"#
        );
        stream.write_all(&masked(message.as_bytes())).expect("it is read");
        seen.clear();
        until(&mut stream, &mut seen, b"response.completed");
        until(&mut stream, &mut seen, br#""metadata":{}}}"#);
    }
    drop(stream);
    let received = fixture.upstream.received();
    assert_eq!(received[0].header("sec-websocket-extensions"), None, "frames stay readable");
    let lines = fixture.stop();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| matches!(line.outcome, Outcome::Completed(_))), "{lines:?}");
    let sent = fixture.sent("agent-12345678", 1, Provider::OpenAiResponses);
    assert_eq!(sent, json(r#"{"model":"m","input":[{"role":"user","content":"one"}]}"#));
}

/// Reads until something was seen.
fn until(stream: &mut TcpStream, seen: &mut Vec<u8>, wanted: &[u8]) {
    let mut piece = [0; 4096];
    while !seen.windows(wanted.len()).any(|it| it == wanted) {
        let length = stream.read(&mut piece).expect("it answers");
        assert!(length > 0, "{}", String::from_utf8_lossy(seen));
        seen.extend_from_slice(&piece[..length]);
    }
}

fn masked(payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x81, 0x80 | 126];
    out.extend(u16::try_from(payload.len()).expect("it is short").to_be_bytes());
    let mask = [3, 1, 4, 1];
    out.extend(mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

#[test]
fn events_beside_the_answer_pass_and_do_not_lose_it() {
    let mut fixture = Fixture::new();
    let body = r#"{"model":"m","stream":true,"input":[{"role":"user","content":"keep alive"}]}"#;
    let answer = fixture.post("/openai/responses", &[], body);
    let passed = String::from_utf8(answer.body).expect("it is text");
    let first = passed.find("codex.rate_limits").expect("it passes");
    assert!(first < passed.find("response.created").expect("it passes"), "{passed}");
    assert!(passed.contains(r#""type":"keepalive""#), "{passed}");
    let lines = fixture.stop();
    assert!(matches!(lines[0].outcome, Outcome::Completed(_)), "{lines:?}");
    assert_eq!(fixture.snapshots("agent-1"), 1);
}

#[test]
fn other_hosts_and_pages_are_refused() {
    let mut fixture = Fixture::new();
    let body = request("s", &["one"], &[]);
    let foreign = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: evil.example\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(fixture.address()).expect("it listens");
    stream.write_all(foreign.as_bytes()).expect("it is read");
    assert_eq!(read(&mut stream).status, 403);
    let page = [("origin", "https://evil.example")];
    assert_eq!(fixture.post("/v1/messages", &page, &body).status, 403);
    assert!(fixture.upstream.received().is_empty());
    assert!(fixture.stop().is_empty());
}

#[test]
fn upstream_that_is_not_there_is_reported() {
    let mut fixture = Fixture::with(|config| {
        config.upstreams.set("openai=http://127.0.0.1:1/v1").expect("it is a URL");
    });
    let answer = fixture.post(
        "/openai/chat/completions",
        &[],
        r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#,
    );
    assert_eq!(answer.status, 502);
    let lines = fixture.stop();
    assert!(matches!(&lines[0].outcome, Outcome::Failed(why) if why.contains("not reached")));
}

#[test]
fn request_that_cannot_be_recorded_passes_unless_the_proxy_is_strict() {
    let body = r#"{"model":"m","messages":"bad request"}"#;
    let fixture = Fixture::new();
    assert_eq!(fixture.post("/v1/messages", &[], body).status, 400, "the upstream's answer");
    assert_eq!(fixture.upstream.received().len(), 1);
    let strict = Fixture::with(|config| config.strict = true);
    let answer = strict.post("/v1/messages", &[], body);
    assert_eq!(answer.status, 503);
    assert!(strict.upstream.received().is_empty(), "nothing was sent");
    let reports = strict.reports.lock().expect("no test panics with it").clone();
    assert!(matches!(&reports[0], Report::NotRecorded(why) if why.contains("messages")));
}

#[test]
fn strict_call_is_recorded_when_its_answer_ends() {
    let mut fixture = Fixture::with(|config| config.strict = true);
    let body = request("s", &["one"], &[("stream", true.into())]);
    assert_eq!(fixture.post("/v1/messages", &[], &body).status, 200);
    let reports = fixture.reports.lock().expect("no test panics with it").len();
    assert_eq!(reports, 1, "it was recorded before the response ended");
    fixture.stop();
}
