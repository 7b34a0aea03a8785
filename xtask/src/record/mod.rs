//! `cargo xtask record`: unmodified clients, through the recording proxy.
//!
//! The official SDKs of OpenAI, Anthropic and Google, in Python and TypeScript, hold the same conversations twice: with the scripted
//! upstream of the test kit, and with the proxy in between. What they receive must be the same, and each snapshot must render to the
//! request that was sent. The packages are installed in pinned versions under `target/record`.

pub(crate) mod agents;
mod clients;
mod recorded;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use contextree_testkit::upstream::Upstream;

use crate::programs;
use crate::test::say;
use clients::Client;
pub(crate) use clients::{node, python};

/// Runs the conversations of the SDKs.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let place = Place::new(root, PACKAGES)?;
    let python = python(&place.packages, "python")?;
    let node = node(&place.packages, "node")?;
    let folder = place.packages.clients.clone();
    let all = [
        Client {
            name: "python",
            command: vec![python.into(), folder.join("python/clients.py").into()],
        },
        Client {
            name: "typescript",
            command: vec!["node".into(), node.join("clients.mjs").into()],
        },
    ];
    let mut done = Vec::new();
    for client in &all {
        say(&format!("record: the SDKs for {}, with and without the proxy", client.name));
        done.push(converse(&place, client)?);
    }
    Ok(done.join("\n"))
}

/// The sources of the clients, and the folder of `target` that their packages are installed in.
pub(crate) const PACKAGES: (&str, &str) = ("crates/record/tests/clients", "record");

/// Where clients and their packages are.
pub(crate) struct Packages {
    /// The sources of the clients.
    pub(crate) clients: PathBuf,
    /// Where packages are installed, and stores are written.
    pub(crate) work: PathBuf,
}

impl Packages {
    /// Makes a folder of `target` for clients.
    pub(crate) fn new(root: &Path, (clients, name): (&str, &str)) -> Result<Packages, String> {
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        let work = root.join("target").join(name);
        std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
        Ok(Packages { clients: root.join(clients), work })
    }
}

/// Where everything is.
pub(crate) struct Place {
    /// The program.
    pub(crate) ctx: PathBuf,
    pub(crate) packages: Packages,
}

impl Place {
    /// Builds the program, and makes a folder of `target` for clients.
    pub(crate) fn new(root: &Path, packages: (&str, &str)) -> Result<Place, String> {
        Ok(Place { ctx: programs::binary(root, "ctx")?, packages: Packages::new(root, packages)? })
    }
}

/// Lets a client hold its conversations without the proxy and with it, and compares.
fn converse(place: &Place, client: &Client) -> Result<String, String> {
    let upstream = Upstream::start();
    let direct = client.direct(&upstream)?;
    let before = upstream.received().len();
    let recording = recorded::Recording::new(place, client.name)?;
    let through = client.run(&mut recording.command(&upstream, client))?;
    same(client.name, &direct, &through)?;
    let sent = upstream.received().split_off(before);
    let counts = recording.check(&sent)?;
    let lines = direct.lines().count();
    Ok(format!(
        "{}: {lines} results are the same with and without the proxy; {counts}",
        client.name
    ))
}

/// Compares what was received.
fn same(name: &str, direct: &str, through: &str) -> Result<(), String> {
    if direct == through {
        return Ok(());
    }
    let pairs = direct.lines().zip(through.lines());
    let different = pairs.enumerate().find(|(_, (direct, through))| direct != through);
    Err(match different {
        Some((index, (direct, through))) => format!(
            "{name}: result {} differs\nwithout the proxy: {direct}\nwith the proxy:    {through}",
            index + 1
        ),
        None => format!(
            "{name}: {} results without the proxy, {} with it",
            direct.lines().count(),
            through.lines().count()
        ),
    })
}

/// Runs a command; its output is shown if it fails.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("failed: {command:?}\n{}", said.trim()))
}

/// Runs a command that may end with any code, and is stopped after some time. Returns how it ended and what it printed.
#[expect(clippy::disallowed_methods, reason = "a chore may look at the clock")]
fn run_for(command: &mut Command, longest: Duration) -> Result<(ExitStatus, String), String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if started.elapsed() > longest {
            // It fails if the program has just ended.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("still running after {} s: {command:?}", longest.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    Ok((status, out.join().unwrap_or_default() + &err.join().unwrap_or_default()))
}

/// Reads a pipe to its end.
fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What cannot be read is not shown.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
