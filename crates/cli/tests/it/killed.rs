//! `ctx record`, when the proxy or the agent is killed in the middle of a stream.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use contextree::json::{Value, parse};
use contextree_testkit::upstream::Upstream;

use crate::transcript::Folder;

/// Set for the process that plays the agent.
const AGENT: &str = "CONTEXTREE_TEST_AGENT";

/// A proxy with a process of its own.
struct Proxy {
    process: Child,
    address: String,
}

impl Proxy {
    fn start(folder: &Folder, upstream: &Upstream) -> Proxy {
        Self::with(folder, upstream, &["--strict"])
    }

    fn with(folder: &Folder, upstream: &Upstream, options: &[&str]) -> Proxy {
        let mut process = record(folder, upstream)
            .args(options)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let printed = process.stdout.take().expect("it is a pipe");
        let mut line = String::new();
        BufReader::new(printed).read_line(&mut line).expect("it says where it listens");
        let said = parse(line.as_bytes()).expect("it is JSON");
        let url = said.get("url").and_then(Value::as_str).expect("it has a URL");
        let address = url.strip_prefix("http://").expect("it is a URL").to_owned();
        Proxy { process, address }
    }

    fn send(&self, messages: &[&str], is_stream: bool) -> TcpStream {
        send(&self.address, "/p/main/v1/messages", messages, is_stream)
    }

    /// Ends it at once, as a crash or the kernel would.
    fn kill(mut self) {
        self.process.kill().expect("it is running");
        self.process.wait().expect("it ends");
    }
}

fn record(folder: &Folder, upstream: &Upstream) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    command.args(["--json", "record", "--upstream"]);
    command.arg(format!("anthropic=http://{}", upstream.address()));
    command.current_dir(folder.path()).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Sends messages of user and assistant in turn; returns the connection.
fn send(address: &str, path: &str, messages: &[&str], is_stream: bool) -> TcpStream {
    let message = |(index, text): (usize, &&str)| {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        format!(r#"{{"role":"{role}","content":"{text}"}}"#)
    };
    let messages: Vec<String> = messages.iter().enumerate().map(message).collect();
    let body = format!(
        r#"{{"model":"m","max_tokens":9,"stream":{is_stream},"messages":[{}]}}"#,
        messages.join(",")
    );
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).expect("it is read");
    stream
}

/// Reads until a text has arrived.
fn read_until(stream: &mut TcpStream, text: &str) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(text) {
        let mut piece = [0; 512];
        let length = stream.read(&mut piece).expect("it streams");
        assert!(length > 0, "it ended before `{text}`");
        seen.extend_from_slice(&piece[..length]);
    }
}

/// A question whose answer takes several seconds.
fn long_question() -> String {
    let words: Vec<String> = (0..100).map(|number| format!("word{number}")).collect();
    format!("slowly: {}", words.join(" "))
}

fn attempts(folder: &Folder, context: &str) -> Vec<Value> {
    let (printed, code) = folder.run(&format!("ctx --json -c {context} attempt list"));
    assert_eq!(code, 0, "{printed}");
    let list = parse(printed.as_bytes()).expect("it is JSON");
    list.as_array().expect("it is a list").to_vec()
}

fn text<'a>(attempt: &'a Value, name: &str) -> &'a str {
    attempt.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn proxy_killed_in_a_stream_loses_nothing_that_was_acknowledged() {
    let (folder, upstream) = (Folder::new(), Upstream::start());
    let proxy = Proxy::start(&folder, &upstream);
    let mut whole = String::new();
    proxy.send(&["one"], false).read_to_string(&mut whole).expect("it ends");
    assert!(whole.contains("You said: one"), "{whole}");
    let question = long_question();
    let messages = ["one", "You said: one", &question];
    let mut stream = proxy.send(&messages, true);
    read_until(&mut stream, "word5 ");
    // What has arrived is stored about once a second; the answer takes five.
    let stored = loop {
        let attempts = attempts(&folder, "main");
        assert_eq!(text(&attempts[1], "status"), "running", "the answer ended too early");
        let partial = text(&attempts[1], "partial").to_owned();
        if !partial.is_empty() {
            break partial;
        }
    };
    proxy.kill();
    let after = attempts(&folder, "main");
    let words: Vec<&str> = after.iter().map(|attempt| text(attempt, "status")).collect();
    assert_eq!(words, ["completed", "running"]);
    assert!(text(&after[1], "partial").starts_with(&stored), "what was stored stays");
    assert_eq!(folder.run("ctx verify").1, 0);

    let again = Proxy::start(&folder, &upstream);
    whole.clear();
    again
        .send(&["one", "You said: one", "two"], false)
        .read_to_string(&mut whole)
        .expect("it ends");
    // The answer is recorded after it was delivered.
    let after = loop {
        let after = attempts(&folder, "main");
        if after.len() == 3 && text(&after[2], "status") != "running" {
            break after;
        }
    };
    again.kill();
    let words: Vec<&str> = after.iter().map(|attempt| text(attempt, "status")).collect();
    assert_eq!(words, ["completed", "error", "completed"]);
    let said = String::from_utf8_lossy(&after[1].to_canonical()).into_owned();
    assert!(said.contains("interrupted: the recorder ended"), "{said}");
    assert!(text(&after[1], "partial").starts_with(&stored), "what was stored stays");
    // What the interrupted call had sent stays readable: the next request differs, so it is a new state.
    let (sent, _) = folder.run("ctx render @c2 --as anthropic");
    assert!(sent.contains("slowly: word0"), "{sent}");
    let (sent, _) = folder.run("ctx render @c3 --as anthropic");
    assert!(sent.contains(r#""content":"two""#), "{sent}");
}

#[test]
fn proxy_killed_while_the_upstream_pauses_has_stored_what_arrived_before() {
    let (folder, upstream) = (Folder::new(), Upstream::start());
    let proxy = Proxy::with(&folder, &upstream, &[]);
    // The upstream pauses after half of its events, and nothing more arrives.
    let mut stream = proxy.send(&["pause in the middle of a long answer"], true);
    read_until(&mut stream, "pause ");
    let stored = loop {
        // The request is recorded after it was passed on: first there is a context, then its attempt.
        if !folder.run("ctx contexts").0.contains("main") {
            continue;
        }
        let attempts = attempts(&folder, "main");
        let Some(attempt) = attempts.first() else { continue };
        assert_eq!(text(attempt, "status"), "running", "the pause is over");
        let partial = text(attempt, "partial");
        if partial.starts_with("You said: pause ") {
            break partial.to_owned();
        }
    };
    proxy.kill();
    let after = attempts(&folder, "main");
    assert_eq!(text(&after[0], "partial"), stored);
    assert_eq!(folder.run("ctx verify").1, 0);
}

#[test]
fn agent_killed_in_a_stream_leaves_a_canceled_attempt_with_what_arrived() {
    let (folder, upstream) = (Folder::new(), Upstream::start());
    let own = std::env::current_exe().expect("it runs");
    let status = record(&folder, &upstream)
        .args(["--into", "main", "--"])
        .arg(own)
        .args(["killed::this_process_is_the_agent", "--exact"])
        .env(AGENT, "1")
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    assert_eq!(status.code(), Some(134), "the agent aborted: 128 and the number of SIGABRT");
    let attempts = attempts(&folder, "main");
    assert_eq!(attempts.len(), 1);
    assert_eq!(text(&attempts[0], "status"), "canceled");
    assert!(text(&attempts[0], "partial").starts_with("You said: slowly: word0 "));
    assert_eq!(folder.run("ctx verify").1, 0);
}

/// Does nothing unless another test starts it as an agent, which ends in the middle of a stream.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test is an edge, too")]
fn this_process_is_the_agent() {
    if std::env::var_os(AGENT).is_none() {
        return;
    }
    let url = std::env::var("ANTHROPIC_BASE_URL").expect("the proxy sets it");
    let rest = url.strip_prefix("http://").expect("it is a URL");
    let (address, path) = rest.split_once('/').expect("it has a path");
    let path = format!("/{path}/v1/messages");
    let mut stream = send(address, &path, &[&long_question()], true);
    read_until(&mut stream, "word5 ");
    std::process::abort();
}
