//! What a recording contains, compared with what the upstream received.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contextree_json::{Value, parse};
use contextree_testkit::upstream::{Received, Upstream};

use super::clients::{Client, KEYS};
use super::{Place, run};

/// The results of tools, as the formats write them.
const RESULTS: [&str; 4] =
    ["\"tool_result\"", "\"role\":\"tool\"", "\"function_call_output\"", "\"functionResponse\""];

/// What a recording contains.
pub(super) struct Counts {
    /// The calls that were sent.
    calls: usize,
    /// Those of them that were completed; their snapshots render to what was sent.
    pub(super) completed: usize,
    /// Those that sent the result of a tool.
    pub(super) with_results: usize,
    /// The others, by how they ended.
    others: BTreeMap<String, usize>,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { calls, completed, .. } = self;
        let others: Vec<String> =
            self.others.iter().map(|(status, count)| format!("{count} {status}")).collect();
        write!(
            out,
            "{calls} calls recorded, {completed} of {completed} snapshots render to the request that was sent ({})",
            others.join(", ")
        )
    }
}

/// A recording of one program.
pub(super) struct Recording {
    ctx: PathBuf,
    store: PathBuf,
    log: PathBuf,
}

impl Recording {
    /// Returns a recording with a store of its own. What an earlier run left is removed.
    pub(super) fn new(place: &Place, name: &str) -> Result<Recording, String> {
        let folder = place.packages.work.join(format!("{name}-store"));
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let ctx = place.ctx.clone();
        Ok(Recording { ctx, store: folder.join("record.db"), log: folder.join("calls.jsonl") })
    }

    /// Returns the folder of its own.
    pub(super) fn folder(&self) -> &Path {
        self.store.parent().unwrap_or(&self.store)
    }

    /// Returns the command that runs a client with the proxy between it and the upstream.
    pub(super) fn command(&self, upstream: &Upstream, client: &Client) -> Command {
        let at = upstream.address();
        let mut command = self.ctx();
        command.args(["--json", "record", "--log"]).arg(&self.log);
        for (name, path) in [("anthropic", ""), ("google", ""), ("openai", "/v1")] {
            command.arg("--upstream").arg(format!("{name}=http://{at}{path}"));
        }
        command.arg("--").args(&client.command);
        command
    }

    fn ctx(&self) -> Command {
        let mut command = Command::new(&self.ctx);
        command.arg("--store").arg(format!("sqlite:{}", self.store.display()));
        command
    }

    /// Compares the recording with the requests that arrived: each call has a line, and each snapshot renders to a request. No key of a
    /// client is kept.
    pub(super) fn check(&self, sent: &[Received]) -> Result<Counts, String> {
        let log = fs::read_to_string(&self.log).map_err(|error| format!("no call: {error}"))?;
        let mut left = Requests::of(sent)?;
        let mut counts =
            Counts { calls: left.count, completed: 0, with_results: 0, others: BTreeMap::new() };
        let mut contexts = BTreeSet::new();
        for line in log.lines() {
            let call = parse(line.as_bytes()).map_err(|_| format!("a warning: {line}"))?;
            let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
            contexts.insert(text("context").to_owned());
            let status = text("status").to_owned();
            if status != "completed" {
                *counts.others.entry(status).or_insert(0) += 1;
                continue;
            }
            let cycle = call.get("cycle").map(Value::to_canonical).unwrap_or_default();
            let at = format!("@c{}", String::from_utf8_lossy(&cycle));
            let rendered = run(self
                .ctx()
                .args(["-c", text("context"), "render", &at])
                .args(["--as", text("provider")]))?;
            let rendered = parse(rendered.as_bytes())
                .map_err(|_| format!("{} {at} renders to no JSON", text("context")))?;
            left.take(&rendered).map_err(|why| {
                format!(
                    "{} {at} does not render to a request that was sent: {why}",
                    text("context")
                )
            })?;
            counts.completed += 1;
        }
        let ended: usize = counts.others.values().sum();
        if left.count != ended {
            return Err(format!("{} requests were not recorded", left.count - ended));
        }
        run(self.ctx().args(["verify"]))?;
        self.check_keys(&contexts)?;
        let calls = sent.iter().filter(|request| is_call(request));
        let bodies = calls.map(|request| String::from_utf8_lossy(&request.body).replace(": ", ":"));
        let has_result = |body: &String| RESULTS.iter().any(|result| body.contains(result));
        counts.with_results = bodies.filter(has_result).count();
        Ok(counts)
    }

    /// Looks for the keys of the clients in the files of the store, in the log, and in what the store returns: rows may be compressed.
    fn check_keys(&self, contexts: &BTreeSet<String>) -> Result<(), String> {
        let found = |place: &str, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            match KEYS.into_iter().find(|key| text.contains(key)) {
                Some(key) => Err(format!("{place} contains the key `{key}`")),
                None => Ok(()),
            }
        };
        let files = fs::read_dir(self.folder()).map_err(|error| error.to_string())?;
        for file in files.flatten().map(|file| file.path()).filter(|path| path.is_file()) {
            let bytes = fs::read(&file).map_err(|error| error.to_string())?;
            found(&file.display().to_string(), &bytes)?;
        }
        for context in contexts {
            for words in
                [&["show", "--jsonl"][..], &["log", "--json"], &["attempt", "list", "--json"]]
            {
                let text = run(self.ctx().args(["-c", context]).args(words))?;
                found(&format!("{context}: ctx {}", words.join(" ")), text.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Requests as JSON, with how often each arrived.
struct Requests {
    bodies: BTreeMap<Vec<u8>, usize>,
    count: usize,
}

impl Requests {
    /// Reads the bodies of the requests that are model calls.
    fn of(sent: &[Received]) -> Result<Requests, String> {
        let mut requests = Requests { bodies: BTreeMap::new(), count: 0 };
        for request in sent.iter().filter(|request| is_call(request)) {
            let body = parse(&request.body).map_err(|_| format!("{}: not JSON", request.path))?;
            *requests.bodies.entry(sorted(&body).to_canonical()).or_default() += 1;
            requests.count += 1;
        }
        Ok(requests)
    }

    fn take(&mut self, rendered: &Value) -> Result<(), String> {
        let body = sorted(rendered).to_canonical();
        let count = self.bodies.get_mut(&body).filter(|count| **count > 0);
        let count = count.ok_or_else(|| String::from_utf8_lossy(&body).into_owned())?;
        *count -= 1;
        self.count -= 1;
        Ok(())
    }
}

fn is_call(request: &Received) -> bool {
    let path = request.path.split('?').next().unwrap_or_default();
    request.method == "POST"
        && ["/messages", "/chat/completions", "/responses", "enerateContent"]
            .iter()
            .any(|end| path.ends_with(end))
}

/// Returns a value with the names of its objects in order: the order of names has no meaning in JSON.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.iter().map(sorted).collect()),
        Value::Object(object) => {
            let mut pairs: Vec<_> =
                object.iter().map(|(name, value)| (name.to_string(), sorted(value))).collect();
            pairs.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(pairs.into_iter().collect())
        }
        other => other.clone(),
    }
}
