//! `cargo xtask mcp`: clients by the authors of the Model Context Protocol.
//!
//! The official Python client uses every tool over both transports, and sends hostile arguments. Then the official conformance suite
//! judges `ctx serve`: everything passes but the scenarios that ask for tools, prompts or resources of their own, which are listed in
//! `expected-*.yml`. Those pass on the fixture, `crates/mcp/examples/mcp_fixture`, which the same code mounts: no scenario may fail on
//! both. The packages are installed in pinned versions under `target/mcp`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use contextree_json::{Value, parse};

use crate::programs;
use crate::record::{Place, node, python, run};
use crate::test::say;

/// The revisions of the protocol whose requirements are checked.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The sources of the clients, and the folder of `target` that their packages are installed in.
pub(crate) const PACKAGES: (&str, &str) = ("crates/mcp/tests/clients", "mcp");

/// Runs the client and the suite.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let place = Place::new(root, PACKAGES)?;
    let server = Server::start(&place)?;
    let interpreter = python(&place.packages, "python")?;
    say("mcp: the official client, every tool");
    let client = place.packages.clients.join("python/client.py");
    let mut command = Command::new(interpreter);
    command.arg(client).arg(&place.ctx).args([&server.store, &server.url, &server.token]);
    let used = run(&mut command)?;
    let suite = node(&place.packages, "suite")?;
    let fixture = Fixture::start(root)?;
    let mut done = vec![used.trim().to_owned()];
    for revision in REVISIONS {
        say(&format!("mcp: the official conformance suite, {revision}"));
        let ours = judge(&suite, "ctx", &server.url, &server.token, revision)?;
        let theirs = judge(&suite, "fixture", &fixture.url, "", revision)?;
        done.push(together(revision, &ours, &theirs)?);
    }
    Ok(done.join("\n"))
}

/// Requires that each scenario passes on one of the servers. Returns the counts.
fn together(revision: &str, ours: &Judged, fixture: &Judged) -> Result<String, String> {
    let left: Vec<&str> = ours.failed.difference(&fixture.passed).map(String::as_str).collect();
    if !left.is_empty() {
        return Err(format!("conformance {revision}: passed by no server: {}", left.join(", ")));
    }
    let empty: Vec<&str> = ours.empty.difference(&fixture.passed).map(String::as_str).collect();
    let untried = match empty.is_empty() {
        true => String::new(),
        false => format!("; not checked by the suite on either: {}", empty.join(", ")),
    };
    Ok(format!(
        "conformance {revision}: {} checks of {} scenarios pass on `ctx serve`; {} scenarios ask for things that only a fixture has, and pass there ({} of its {} scenarios pass){untried}",
        ours.checks,
        ours.passed.len(),
        ours.failed.len(),
        fixture.passed.len(),
        fixture.passed.len() + fixture.failed.len(),
    ))
}

/// The fixture of the suite.
struct Fixture {
    child: Child,
    url: String,
}

impl Fixture {
    fn start(root: &Path) -> Result<Fixture, String> {
        let program = programs::example(root, "mcp_fixture")?;
        let mut child = Command::new(&program)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut line = String::new();
        if let Some(printed) = child.stdout.take() {
            BufReader::new(printed).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        Ok(Fixture { child, url: line.trim().to_owned() })
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // It fails if the server has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
        let folder = place.packages.work.join("store");
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

/// Runs the suite for one revision against a server. Returns what passed.
fn judge(
    suite: &Path,
    name: &str,
    url: &str,
    token: &str,
    revision: &str,
) -> Result<Judged, String> {
    let results = suite.join(format!("results-{name}-{revision}"));
    if results.exists() {
        fs::remove_dir_all(&results).map_err(|error| error.to_string())?;
    }
    let mut command = Command::new(suite.join("node_modules/.bin/node"));
    command.args(["--import", "./token.mjs", "node_modules/.bin/conformance", "server"]);
    command.args(["--url", url, "--requirements", revision, "--output-dir"]).arg(&results);
    command.args(["--expected-failures", &format!("expected-{name}-{revision}.yml")]);
    command.env("CONTEXTREE_TOKEN", token).current_dir(suite);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let judged = Judged::read(&results)?;
    if output.status.success() {
        return Ok(judged);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let end = said.rfind("=== SUMMARY").map_or(&*said, |at| &said[at..]);
    let failed: Vec<&str> = judged.failed.iter().map(String::as_str).collect();
    Err(format!("conformance {revision}, {name}: failed: {}\n{end}", failed.join(", ")))
}

/// The scenarios of a run, by name, and how many checks passed.
#[derive(Default)]
struct Judged {
    checks: usize,
    passed: BTreeSet<String>,
    failed: BTreeSet<String>,
    /// Those that checked nothing.
    empty: BTreeSet<String>,
}

impl Judged {
    fn read(results: &Path) -> Result<Judged, String> {
        let mut judged = Judged::default();
        let entries = fs::read_dir(results).map_err(|error| format!("no results: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| error.to_string())?;
            let file = entry.path().join("checks.json");
            let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let checks = parse(&bytes).map_err(|error| format!("{}: {error}", file.display()))?;
            let count = |wanted: &str| {
                let checks = checks.as_array().unwrap_or_default().iter();
                checks.filter(|it| it.get("status").and_then(Value::as_str) == Some(wanted)).count()
            };
            let (passed, failed) = (count("SUCCESS"), count("FAILURE"));
            judged.checks += passed;
            let scenario = scenario(&entry.file_name().to_string_lossy());
            judged.note(scenario, passed, failed);
        }
        Ok(judged)
    }

    /// Notes a scenario. One without a check that succeeded or failed has shown nothing.
    fn note(&mut self, scenario: String, passed: usize, failed: usize) {
        let list = match (passed, failed) {
            (0, 0) => &mut self.empty,
            (_, 0) => &mut self.passed,
            _ => &mut self.failed,
        };
        list.insert(scenario);
    }
}

/// Returns the name of a scenario from the name of its folder, which ends with the time of the run.
fn scenario(folder: &str) -> String {
    let is_time = |it: char| it.is_ascii_digit() || "-TZ:.".contains(it);
    folder.trim_end_matches(is_time).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_without_a_success_has_not_passed() {
        let mut judged = Judged::default();
        for (name, passed, failed) in [("good", 2, 0), ("bad", 2, 1), ("empty", 0, 0)] {
            judged.note(name.to_owned(), passed, failed);
        }
        assert_eq!(judged.passed.iter().collect::<Vec<_>>(), ["good"]);
        assert_eq!(judged.failed.iter().collect::<Vec<_>>(), ["bad"]);
        assert_eq!(judged.empty.iter().collect::<Vec<_>>(), ["empty"]);
    }
}
