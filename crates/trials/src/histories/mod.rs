//! Histories of many processes: clients read, write, compare and set, collect garbage and verify; some are killed. The history of what they
//! saw is checked for linearizability, context by context.
//!
//! - [`client`]: one process; it prints what it does.
//! - [`check`]: the checker.

pub mod check;
pub mod client;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use contextree::ContextSettings;
use contextree_testkit::Rng;

use self::check::Seen;
use crate::script::{Failure, check_all, open};

/// The contexts that clients share.
pub const NAMES: [&str; 2] = ["one", "other"];

/// What a trial did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Operations that ended.
    pub operations: u64,
    /// Those of them that wrote.
    pub writes: u64,
    /// Processes that were killed.
    pub kills: u64,
    /// Runs of `verify` beside writers.
    pub verifies: u64,
    /// Operations whose end is unknown.
    pub unknown: u64,
    /// How often the server was killed and started again.
    pub restarts: u64,
}

impl Report {
    /// Adds another one.
    pub fn add(&mut self, other: &Report) {
        self.operations += other.operations;
        self.writes += other.writes;
        self.kills += other.kills;
        self.verifies += other.verifies;
        self.unknown += other.unknown;
        self.restarts += other.restarts;
    }
}

/// A client, and where it says what it does.
struct Client {
    child: Child,
    pid: usize,
}

fn start(
    program: &Path,
    url: &str,
    seed: u64,
    pid: usize,
    sender: &Sender<(usize, Option<String>)>,
) -> std::io::Result<Client> {
    let mut child = Command::new(program)
        .args(["client", "--url", url, "--seed", &seed.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let lines = child.stdout.take().map(BufReader::new);
    let sender = sender.clone();
    thread::spawn(move || listen(lines, pid, &sender));
    Ok(Client { child, pid })
}

fn listen(
    lines: Option<BufReader<ChildStdout>>,
    pid: usize,
    sender: &Sender<(usize, Option<String>)>,
) {
    for line in lines.into_iter().flat_map(|lines| lines.lines().map_while(Result::ok)) {
        if sender.send((pid, Some(line))).is_err() {
            return;
        }
    }
    sender.send((pid, None)).ok();
}

/// Runs clients until they have ended `operations` operations, and checks their history. `program` is `contextree-trials`.
///
/// # Errors
///
/// If the history is not linearizable, a client saw an error, or the store is damaged.
pub fn run(
    program: &Path,
    url: &str,
    clients: usize,
    operations: u64,
    seed: u64,
) -> Result<Report, Failure> {
    run_with(program, url, clients, operations, seed, None)
}

/// How many kills of clients there are for each restart of the server.
const KILLS_PER_RESTART: u64 = 10;

/// Like [`run`], but after some kills `restart` is called, which kills the server and starts it again.
///
/// # Errors
///
/// Like [`run`], or if the server does not come back.
pub fn run_with(
    program: &Path,
    url: &str,
    clients: usize,
    operations: u64,
    seed: u64,
    restart: Option<&dyn Fn() -> Result<(), Failure>>,
) -> Result<Report, Failure> {
    let store = open(url).map_err(|error| error.to_string())?;
    for name in NAMES {
        let made = store.session_or_new(name, &ContextSettings::default());
        made.map_err(|error| error.to_string())?;
    }
    let mut random = Rng::new(seed);
    let (sender, receiver) = channel();
    let mut next = 0;
    let mut running = Vec::new();
    let mut report = Report::default();
    let mut seen: Vec<Seen> = Vec::new();
    let mut until_kill = 5;
    while report.operations < operations {
        while running.len() < clients {
            let started = start(program, url, seed * 10_000 + next as u64, next, &sender);
            running.push(started.map_err(|error| error.to_string())?);
            seen.push(Seen::default());
            next += 1;
        }
        let (pid, line) = receiver.recv().map_err(|error| error.to_string())?;
        let Some(line) = line else {
            end(&mut running, pid);
            continue;
        };
        report.operations += u64::from(seen[pid].line(&line)?);
        until_kill -= 1;
        if until_kill == 0 {
            until_kill = 1 + random.index(60);
            let victim = running.swap_remove(random.index(running.len()));
            kill(victim)?;
            report.kills += 1;
            if let Some(restart) = restart
                && report.kills.is_multiple_of(KILLS_PER_RESTART)
            {
                restart()?;
                report.restarts += 1;
            }
        }
    }
    for client in running.drain(..) {
        kill(client)?;
        report.kills += 1;
    }
    drop(sender);
    drain(&receiver, &mut seen)?;
    for name in NAMES {
        let last = open(url).and_then(|store| store.find(name)).map_err(|it| it.to_string())?;
        let last = last.map_or(0, |row| row.revision.get());
        check::linearizable(&seen, name, last)
            .map_err(|failure| format!("seed {seed}, {name}: {failure}"))?;
    }
    for one in &seen {
        report.writes += one.writes();
        report.verifies += one.verifies;
        report.unknown += u64::from(one.is_open());
    }
    check_all(&store)?;
    Ok(report)
}

fn drain(receiver: &Receiver<(usize, Option<String>)>, seen: &mut [Seen]) -> Result<(), Failure> {
    // What was said before the kill counts.
    while let Ok((pid, line)) = receiver.recv() {
        if let Some(line) = line {
            seen[pid].line(&line)?;
        }
    }
    Ok(())
}

fn end(running: &mut Vec<Client>, pid: usize) {
    if let Some(index) = running.iter().position(|client| client.pid == pid) {
        running.swap_remove(index).child.wait().ok();
    }
}

fn kill(mut client: Client) -> Result<(), Failure> {
    client.child.kill().map_err(|error| error.to_string())?;
    client.child.wait().map(drop).map_err(|error| error.to_string())
}
