//! Measures the recording proxy: the time to the first byte of a stream against a relay of bytes, and the memory of many calls at once.
//!
//! `ctx` must be in the folder of this program. The upstream is the scripted one of the test kit, in this process. Times mean something on
//! an idle machine only; that nothing is lost or reordered, and the memory, hold on any.
#![expect(clippy::print_stdout, reason = "the program's output")]
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

mod client;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use contextree_json::{Value, parse};
use contextree_testkit::upstream::Upstream;
use tempfile::TempDir;

use super::Common;
use crate::measure::Row;
use crate::outcome::{finish, note};
use crate::table;
use client::{Connection, relay};

/// How many calls run at once, the size of each request, and the events of each answer.
const CALLS: usize = 200;
const REQUEST: usize = 200 << 10;
const EVENTS: usize = 2_000;

/// The bars: milliseconds more than a relay, and memory as a multiple of the bytes in flight.
const MEDIAN: f64 = 1e6;
const TAIL: f64 = 5e6;
const MEMORY: f64 = 4.0;

type Failure = Box<dyn std::error::Error>;

pub(crate) fn run(common: &Common) -> ExitCode {
    let done = measure(if common.quick { 200 } else { 2_000 });
    match done {
        Ok((rows, text)) => {
            println!("{}\n{text}", table::markdown(&rows));
            finish(common, &rows, &[note(&text)])
        }
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: usize) -> Result<(Vec<Row>, String), Failure> {
    let upstream = Upstream::start();
    let mut rows = first_bytes(&upstream, rounds)?.to_vec();
    let (memory, text) = many(&upstream)?;
    rows.extend(memory);
    Ok((rows, text))
}

/// The proxy, as a process of its own.
struct Proxy {
    process: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Proxy {
    fn start(upstream: &Upstream) -> Result<Proxy, Failure> {
        let folder = TempDir::new_in(".")?;
        let program = std::env::current_exe()?.with_file_name("ctx");
        let mut process = Command::new(&program)
            .args(["--json", "record", "--listen", "127.0.0.1:0", "--log", "calls.jsonl"])
            .arg("--upstream")
            .arg(format!("openai=http://{}/v1", upstream.address()))
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut line = String::new();
        if let Some(printed) = process.stdout.take() {
            BufReader::new(printed).read_line(&mut line)?;
        }
        let said = parse(line.as_bytes()).map_err(|_| "ctx record did not start")?;
        let url = said.get("url").and_then(Value::as_str).unwrap_or_default();
        let address = url.trim_start_matches("http://").parse()?;
        Ok(Proxy { process, address, folder })
    }

    /// Returns the calls that were recorded as completed so far.
    fn completed(&self) -> usize {
        let log = fs::read_to_string(self.folder.path().join("calls.jsonl")).unwrap_or_default();
        log.lines().filter(|line| line.contains(r#""status":"completed""#)).count()
    }

    /// Returns the most memory that it had, in bytes; `None` where the system does not say.
    fn memory(&self) -> Option<usize> {
        let file = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(Path::new(&file)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().trim_end_matches("kB").trim().parse::<usize>().ok()? * 1024)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It fails if the proxy has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures the time to the first byte of streams, one after the other, in turn through the proxy and through a relay.
fn first_bytes(upstream: &Upstream, rounds: usize) -> Result<[Row; 2], Failure> {
    let proxy = Proxy::start(upstream)?;
    let mut ours = Connection::open(proxy.address, "/openai/chat/completions")?;
    let mut bare = Connection::open(relay(upstream.address())?, "/v1/chat/completions")?;
    let mut times = (Vec::new(), Vec::new());
    for round in 0..rounds + 20 {
        let body = request(&format!("Round {round}: tell me something."), 0);
        let one = ours.stream(&body)?.first;
        let other = bare.stream(&body)?.first;
        // Connections and caches warm up.
        if round >= 20 {
            times.0.push(one);
            times.1.push(other);
        }
    }
    let more = |name: &str, share: f64, bar: f64| {
        let (ours, theirs) =
            (quantile(&mut times.0.clone(), share), quantile(&mut times.1.clone(), share));
        let ratio = (ours - theirs) / bar;
        let name = format!(
            "time to the first byte of a stream, {name}: what `ctx record` adds to a relay, against {} ms",
            bar / 1e6
        );
        Row {
            name,
            ratio,
            spread: (ratio, ratio),
            bar: 1.0,
            is_gain: false,
            nanoseconds: (ours, theirs),
        }
    };
    Ok([more("p50", 0.5, MEDIAN), more("p99", 0.99, TAIL)])
}

/// Makes many calls at once. Fails if an event is lost or out of place, or a call is not recorded.
fn many(upstream: &Upstream) -> Result<(Option<Row>, String), Failure> {
    let proxy = Proxy::start(upstream)?;
    let address = proxy.address;
    let call = move |number: usize| -> Result<usize, String> {
        let say = |error: Failure| error.to_string();
        let body = request(&format!("Call {number}: many events {EVENTS} "), REQUEST);
        let mut connection = Connection::open(address, "/openai/chat/completions").map_err(say)?;
        let answer = connection.stream(&body).map_err(say)?.body;
        check(&answer)?;
        Ok(body.len() + answer.len())
    };
    let threads: Vec<_> =
        (0..CALLS).map(|number| std::thread::spawn(move || call(number))).collect();
    let mut bytes = 0;
    for thread in threads {
        bytes += thread.join().map_err(|_| "a client panicked")??;
    }
    // The record follows the delivery; it ends, or the program is stopped.
    let started = std::time::Instant::now();
    while proxy.completed() < CALLS {
        if started.elapsed() > Duration::from_secs(300) {
            return Err(format!("{} of {CALLS} calls were recorded", proxy.completed()).into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let text = format!(
        "{CALLS} calls at once with {} KB each and {EVENTS} events: every event arrived in its place, every call is recorded; {} MB in flight",
        REQUEST >> 10,
        bytes >> 20
    );
    let Some(memory) = proxy.memory() else { return Ok((None, text)) };
    #[expect(clippy::cast_precision_loss, reason = "a benchmark's counts are small")]
    let (memory, bytes) = (memory as f64, bytes as f64);
    let ratio = memory / bytes;
    let name =
        format!("memory of `ctx record` with {CALLS} calls at once, against the bytes in flight");
    let row = Row {
        name,
        ratio,
        spread: (ratio, ratio),
        bar: MEMORY,
        is_gain: false,
        nanoseconds: (0.0, 0.0),
    };
    Ok((Some(row), format!("{text}, {:.0} MB of memory at most", memory / f64::from(1 << 20))))
}

/// Returns a streamed request with a first message of `size` bytes.
fn request(text: &str, size: usize) -> String {
    let filler = "All work and no play makes a dull document. ".repeat(size / 44);
    format!(
        r#"{{"model":"m","stream":true,"messages":[{{"role":"system","content":"{text}{filler}"}},{{"role":"user","content":"{text}"}}]}}"#
    )
}

/// Checks that the words of an answer are all there, in their order.
fn check(answer: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(answer);
    let mut rest = &*text;
    for number in 0..EVENTS {
        let word = format!("\"word {number} \"");
        let at =
            rest.find(&word).ok_or_else(|| format!("event {number} is missing or out of place"))?;
        rest = &rest[at + word.len()..];
    }
    let whole = text.matches("\"word ").count();
    if whole == EVENTS { Ok(()) } else { Err(format!("{whole} events instead of {EVENTS}")) }
}

/// Returns the value below which a share of the values are.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a benchmark's counts are small"
    )]
    let index = (values.len() as f64 * share) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}
