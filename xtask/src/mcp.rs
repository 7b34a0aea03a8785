//! `cargo xtask mcp`: clients by the authors of the Model Context Protocol.
//!
//! The official Python client uses every tool over both transports, and sends hostile arguments. Then the official conformance suite
//! judges `ctx serve`: everything passes but the scenarios that ask for tools, prompts or resources of their own, which are listed in
//! `expected-*.yml`. The packages are installed in pinned versions under `target/mcp`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use contextree_json::{Value, parse};

use crate::record::{Place, node, python, run};
use crate::test::say;

/// The revisions of the protocol whose requirements are checked.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Runs the client and the suite.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let place = Place::new(root, "crates/mcp/tests/clients", "mcp")?;
    let server = Server::start(&place)?;
    let interpreter = python(&place, "python")?;
    say("mcp: the official client, every tool");
    let client = place.clients.join("python/client.py");
    let mut command = Command::new(interpreter);
    command.arg(client).arg(&place.ctx).args([&server.store, &server.url, &server.token]);
    let used = run(&mut command)?;
    let suite = node(&place, "suite")?;
    let mut done = vec![used.trim().to_owned()];
    for revision in REVISIONS {
        say(&format!("mcp: the official conformance suite, {revision}"));
        done.push(judge(&suite, &server, revision)?);
    }
    Ok(done.join("\n"))
}

/// A server of a new store.
struct Server {
    child: Child,
    store: String,
    url: String,
    token: String,
}

impl Server {
    fn start(place: &Place) -> Result<Server, String> {
        let folder = place.work.join("store");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let store = format!("sqlite:{}", folder.join("agent.db").display());
        run(Command::new(&place.ctx).args(["--store", &store, "new"]))?;
        let file = folder.join("token");
        let mut child = Command::new(&place.ctx)
            .args(["--store", &store, "serve", "--listen", "127.0.0.1:0", "--token-file"])
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", place.ctx.display()))?;
        let mut line = String::new();
        if let Some(printed) = child.stdout.take() {
            BufReader::new(printed).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let mut server = Server { child, store, url: String::new(), token: String::new() };
        let url = line.split_whitespace().find(|word| word.starts_with("http"));
        server.url = format!("{}mcp", url.ok_or("the server did not start")?);
        let token = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        token.trim().clone_into(&mut server.token);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It fails if the server has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the suite for one revision. Returns what passed.
fn judge(suite: &Path, server: &Server, revision: &str) -> Result<String, String> {
    let results = suite.join(format!("results-{revision}"));
    if results.exists() {
        fs::remove_dir_all(&results).map_err(|error| error.to_string())?;
    }
    let mut command = Command::new(suite.join("node_modules/.bin/node"));
    command.args(["--import", "./token.mjs", "node_modules/.bin/conformance", "server"]);
    command.args(["--url", &server.url, "--requirements", revision, "--output-dir"]).arg(&results);
    command.args(["--expected-failures", &format!("expected-{revision}.yml")]);
    command.env("CONTEXTREE_TOKEN", &server.token).current_dir(suite);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let counts = Counts::read(&results)?;
    if output.status.success() {
        return Ok(format!("conformance {revision}: {counts}"));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let end = said.rfind("=== SUMMARY").map_or(&*said, |at| &said[at..]);
    Err(format!("conformance {revision}: {counts}\n{end}"))
}

/// How many checks of scenarios there were.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    scenarios: BTreeMap<bool, usize>,
}

impl Counts {
    fn read(results: &Path) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let entries = fs::read_dir(results).map_err(|error| format!("no results: {error}"))?;
        for entry in entries {
            let file = entry.map_err(|error| error.to_string())?.path().join("checks.json");
            let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let checks = parse(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
            let count = |wanted: &str| {
                let checks = checks.as_array().unwrap_or_default().iter();
                checks.filter(|it| it.get("status").and_then(Value::as_str) == Some(wanted)).count()
            };
            let (passed, failed) = (count("SUCCESS"), count("FAILURE"));
            counts.passed += passed;
            counts.failed += failed;
            *counts.scenarios.entry(failed == 0).or_default() += 1;
        }
        Ok(counts)
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scenarios = |passed| self.scenarios.get(&passed).copied().unwrap_or_default();
        write!(
            out,
            "{} checks of {} scenarios passed; {} scenarios ({} checks) ask for things that only a fixture has",
            self.passed,
            scenarios(true),
            scenarios(false),
            self.failed
        )
    }
}
