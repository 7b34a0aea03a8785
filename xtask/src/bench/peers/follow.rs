//! Runs all systems on one conversation after the other.
#![expect(clippy::disallowed_methods, reason = "a run that takes too long is ended")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use contextree_json::{Object, Value, parse};

use super::cell::Cell;
use super::setup::Programs;
use super::systems::System;
use crate::bench::bars::say;
use crate::bench::plot::{bytes, duration};

/// The limits of a single run, and the number of repetitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The number of repetitions of a short run; long ones are repeated less often.
    pub(crate) repetitions: usize,
    /// Minutes: for a conversation up to [`LONG`] turns, for which there are bars, and for a longer
    /// one.
    pub(crate) minutes: (u64, u64),
    /// Bytes on disk or in memory.
    pub(crate) bytes: f64,
}

/// Conversations of more turns show how costs grow; their time limit is lower, so that the whole
/// run fits into two hours.
const LONG: u64 = 1_000;

impl Limits {
    fn longest(&self, length: u64) -> Duration {
        let minutes = if length > LONG { self.minutes.1 } else { self.minutes.0 };
        Duration::from_secs(60 * minutes)
    }
}

/// All measurements, by system, workload and length.
#[derive(Debug)]
pub(crate) struct Follow {
    programs: Programs,
    folder: PathBuf,
    server: String,
    limits: Limits,
    /// The costs of the last two lengths: seconds, bytes on disk, bytes in memory.
    costs: BTreeMap<&'static str, Vec<[f64; 3]>>,
    runs: BTreeMap<&'static str, Object>,
}

impl Follow {
    pub(crate) fn new(
        programs: Programs,
        folder: &Path,
        server: String,
        limits: Limits,
    ) -> Result<Follow, String> {
        let work = folder.join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(&work).map_err(|error| error.to_string())?;
        let (costs, runs) = (BTreeMap::new(), BTreeMap::new());
        Ok(Follow { programs, folder: work, server, limits, costs, runs })
    }

    /// Runs every system on one conversation, several times.
    pub(crate) fn round(
        &mut self,
        systems: &[&'static System],
        kind: &str,
        length: u64,
    ) -> Result<(), String> {
        let file = self.folder.join("conversation.jsonl");
        let mut write = self.programs.command(super::systems::Program::Ours);
        write.arg("conversation").args([kind, &length.to_string()]).arg(&file);
        let written = write.output().map_err(|error| error.to_string())?;
        if !written.status.success() {
            return Err(String::from_utf8_lossy(&written.stdout).into_owned());
        }
        let mut cells: Vec<Cell> = systems.iter().map(|_| Cell::default()).collect();
        let mut left: Vec<usize> = systems
            .iter()
            .map(|system| self.reason(system, kind, length))
            .zip(&mut cells)
            .map(|(reason, cell)| match reason {
                Some(reason) => {
                    cell.refuse(&reason);
                    0
                }
                None => self.limits.repetitions,
            })
            .collect();
        for round in 0..self.limits.repetitions {
            for turn in 0..systems.len() {
                // The order rotates, so that no system always follows the same one.
                let index = (turn + round) % systems.len();
                if left[index] == 0 {
                    continue;
                }
                let system = systems[index];
                say(&format!("{kind} {length}, round {}: {}", round + 1, system.name));
                let start = Instant::now();
                match self.follow(system, kind, length) {
                    Ok(answer) => cells[index].add(&answer, kind, length)?,
                    Err(message) => {
                        say(&format!("failed: {message}"));
                        cells[index].refuse(&format!("failed: {message}"));
                        left[index] = 1;
                    }
                }
                let seconds = start.elapsed().as_secs_f64();
                let most = match seconds {
                    ..10.0 => self.limits.repetitions,
                    10.0..120.0 => 3,
                    _ => 1,
                };
                left[index] = (left[index] - 1).min(most.saturating_sub(round + 1));
            }
        }
        for (system, cell) in systems.iter().zip(cells) {
            if kind == "chat"
                && let Some(cost) = cell.cost()
            {
                self.costs.entry(system.name).or_default().push(cost);
            }
            let of_kind = self.runs.entry(system.name).or_default();
            if of_kind.get(kind).is_none() {
                of_kind.insert(kind, Value::Object(Object::new()));
            }
            if let Some(Value::Object(lengths)) = of_kind.get_mut(kind) {
                lengths.insert(length.to_string(), cell.into_value());
            }
        }
        Ok(())
    }

    /// Returns why a system is not run at a length: the extrapolated cost exceeds a limit.
    fn reason(&self, system: &System, kind: &str, length: u64) -> Option<String> {
        let costs = self.costs.get(system.name).filter(|_| kind == "chat");
        if kind == "chat" && length > 10 && costs.is_none() {
            return Some(format!("not run: it did not get to {} turns", length / 10));
        }
        let costs = costs?;
        if costs.len() < (length as f64).log10() as usize - 1 {
            return Some(format!("not run: it did not get to {} turns", length / 10));
        }
        let last = costs.last()?;
        let growth = |index: usize| {
            let before = costs.len().checked_sub(2).and_then(|place| costs.get(place));
            // A factor of a hundred is quadratic growth. If the growth is unknown, assume something
            // in between.
            before.map_or(30.0, |before| (last[index] / before[index].max(1e-9)).clamp(10.0, 300.0))
        };
        let next =
            [last[0] * growth(0), last[1] * growth(1).min(100.0), last[2] * growth(2).min(100.0)];
        let turns = length / 10;
        if next[0] > self.limits.longest(length).as_secs_f64() {
            let (took, would) = (duration(last[0] * 1e9), duration(next[0] * 1e9));
            return Some(format!(
                "not run: {turns} turns took {took}, ten times as many would take about {would}"
            ));
        }
        if next[1].max(next[2]) > self.limits.bytes {
            let index = if next[1] > next[2] { 1 } else { 2 };
            let (took, would) = (bytes(last[index]), bytes(next[index]));
            return Some(format!(
                "not run: {turns} turns took {took}, ten times as many would take about {would}"
            ));
        }
        None
    }

    fn follow(&self, system: &System, kind: &str, length: u64) -> Result<Value, String> {
        let place = self.folder.join("place");
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).map_err(|error| error.to_string())?;
        let mut command = self.programs.command(system.program);
        command
            .args([system.argument, kind, &length.to_string()])
            .arg(self.folder.join("conversation.jsonl"))
            .arg(&place)
            .env("PEERS_POSTGRES", &self.server)
            .stdin(Stdio::null());
        let output = patiently(&mut command, self.limits.longest(length))?;
        let _ = fs::remove_dir_all(&place);
        let line = output.lines().last().unwrap_or_default();
        parse(line.as_bytes()).map_err(|_| format!("unexpected output: {line}"))
    }

    /// Returns all measurements.
    pub(crate) fn into_value(self) -> Value {
        let _ = fs::remove_dir_all(&self.folder);
        let mut all = Object::new();
        for (name, object) in self.runs {
            all.insert(name, Value::Object(object));
        }
        Value::Object(all)
    }
}

/// Runs a program and returns its output, with a time limit.
fn patiently(command: &mut Command, longest: Duration) -> Result<String, String> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // Both pipes are drained while we wait, so that the program never blocks.
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let status = wait(&mut child, longest)?;
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    if status {
        Ok(out)
    } else {
        let said = if err.trim().is_empty() { &out } else { &err };
        Err(said.trim().lines().last().unwrap_or("no output").to_owned())
    }
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn wait(child: &mut Child, longest: Duration) -> Result<bool, String> {
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(status.success()),
            None if start.elapsed() > longest => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it took longer than {} minutes", longest.as_secs() / 60));
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
}
