//! Agents from registries, unchanged: one in Python, two for Node.js.
//!
//! Each runs a task against the scripted upstream, started by `ctx record -- AGENT`, with a home folder and keys of its own. Whatever it
//! sends must be recorded, and each snapshot must render to the request that was sent. Each must use its tool and end without an error.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contextree_testkit::upstream::Upstream;

use super::clients::{Client, NO_KEY, node, python};
use super::recorded::Recording;
use super::{PACKAGES, Place, run_for};
use crate::test::say;

/// What every agent is asked. The upstream answers with a call of its shell, and then with what the command printed.
const TASK: &str = "Please use the tool once, then say goodbye.";

/// How long an agent may take.
const LONGEST: Duration = Duration::from_secs(180);

/// Runs the agents.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let place = Place::new(root, PACKAGES)?;
    let python = python(&place.packages, "agents-python")?.with_file_name("mini");
    let node = node(&place.packages, "agents-node")?.join("node_modules/.bin");
    let mut done = Vec::new();
    for agent in [mini(python), claude(&node), gemini(&node)] {
        say(&format!("record: {}", agent.name));
        done.push(record(&place, &agent)?);
    }
    Ok(done.join("\n"))
}

/// mini-swe-agent: runs the commands that a model writes.
fn mini(program: PathBuf) -> Client {
    let limits = ["-c", "mini.yaml", "-c", "agent.step_limit=3"];
    client(
        "mini",
        program,
        &[&["-m", "openai/gpt-5", "-y", "--exit-immediately", "-t", TASK], &limits[..]].concat(),
    )
}

/// Claude Code, not interactive.
fn claude(programs: &Path) -> Client {
    let arguments = ["-p", TASK, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"];
    client("claude", programs.join("claude"), &arguments)
}

/// Gemini CLI, not interactive.
fn gemini(programs: &Path) -> Client {
    let arguments = ["-p", TASK, "-m", "gemini-2.5-pro", "--approval-mode", "yolo"];
    client("gemini", programs.join("gemini"), &arguments)
}

fn client(name: &'static str, program: PathBuf, arguments: &[&str]) -> Client {
    let arguments = arguments.iter().map(OsString::from);
    Client { name, command: std::iter::once(program.into()).chain(arguments).collect() }
}

fn record(place: &Place, agent: &Client) -> Result<String, String> {
    let upstream = Upstream::start();
    let recording = Recording::new(place, agent.name)?;
    let home = recording.folder().join("home");
    let settings = home.join(".gemini");
    fs::create_dir_all(&settings).map_err(|error| error.to_string())?;
    // Gemini CLI asks its user once how to log in, and keeps the answer.
    let login = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
    fs::write(settings.join("settings.json"), login).map_err(|error| error.to_string())?;
    let mut command = recording.command(&upstream, agent);
    command.current_dir(&home).env("HOME", &home);
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
        command.env(name, NO_KEY);
    }
    // No other network: updates, telemetry, price lists.
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    command.env("MSWEA_CONFIGURED", "true").env("MSWEA_COST_TRACKING", "ignore_errors");
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("GEMINI_TELEMETRY_ENABLED", "false");
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    let (status, said) = run_for(&mut command, LONGEST)?;
    let explained = |why: String| format!("{}: {why}\n{said}", agent.name);
    let counts = recording.check(&upstream.received()).map_err(explained)?;
    if !status.success() {
        return Err(explained(format!("it ended with {status}")));
    }
    // The task takes a call that asks for the tool, and one that sends its result.
    if counts.completed < 2 || counts.with_results == 0 {
        let (completed, results) = (counts.completed, counts.with_results);
        return Err(explained(format!("{completed} completed calls, {results} with a result")));
    }
    Ok(format!("{}: {counts}", agent.name))
}
