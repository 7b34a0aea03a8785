//! Kills processes in the middle of model calls, while another process works on the same context:
//! whatever is completed renders to exactly what was sent, also what a budget pruned.
//!
//! Each child is this test binary; environment variables make it run the loop. It prints a line for
//! every completed call. Some children die by themselves after a durable step, before they say so.

#![expect(clippy::disallowed_methods, reason = "a child is told by its environment")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use contextree::budget::Budget;
use contextree::calls::{Call, Request, sent};
use contextree::provider::{Provider, render};
use contextree::{AttemptStatus, ContextSettings, Error, Hash, NewNode, Place, SnapshotAddress};
use contextree_store::{Cycle, Session};
use contextree_testkit::Rng;

use crate::support::{Home, open};

const CHILD: &str = "CONTEXTREE_LOOP_CHILD";
const SEED: &str = "CONTEXTREE_LOOP_SEED";
const DIES: &str = "CONTEXTREE_LOOP_DIES";

/// What another process that was faster causes; the loop goes on with its state.
const RACES: [&str; 5] =
    ["E_CONFLICT", "E_ATTEMPT_RUNNING", "E_ATTEMPT_ENDED", "E_STORE_BUSY", "E_REQUEST_EMPTY"];

/// The most turns that a child takes.
const TURNS: u64 = 6;

fn request() -> Request {
    Request::new(Provider::OpenAiChat, "m").setting("seed", 7)
}

/// Returns a budget that has something to prune in most calls, and often cannot be met.
pub(crate) fn random_budget(random: &mut Rng) -> Budget {
    let mut budget = Budget::new().max_tokens(random.range(40, 400).unsigned_abs());
    if random.percent(30) {
        budget = budget.clear_at_least(1 + random.below(200));
    }
    if random.percent(50) {
        budget = budget.keep_results(random.below(2));
    }
    if random.percent(30) {
        budget = budget.max_turns(1 + random.below(4));
    }
    if random.percent(20) {
        budget = budget.keep_user(false);
    }
    budget
}

/// One process that runs the loop.
struct Agent {
    session: Session,
    random: Rng,
    seed: u64,
    steps: u64,
    /// After so many durable steps the process ends, without saying anything.
    dies: u64,
}

impl Agent {
    /// Notes a durable step.
    fn stored<T>(&mut self, done: Result<T, Error>) -> Result<T, Error> {
        self.steps += u64::from(done.is_ok());
        if done.is_ok() && self.steps == self.dies {
            std::process::abort();
        }
        done
    }

    fn add(&mut self, what: &str) -> Result<(), Error> {
        let (seed, step) = (self.seed, self.steps);
        let text = format!("{what} {seed}.{step} {}", "why? ".repeat(self.random.index(60)));
        let mut node = NewNode::text(&*text).role("user");
        if self.random.percent(25) {
            node = node.ttl(self.random.range(0, 3));
        }
        let added = self
            .session
            .update(|context| Ok::<_, Error>(context.add(Place::head(), node.clone())?));
        self.stored(added).map(drop)
    }

    /// Makes a call, or takes over one that is running. Returns its commit and hash if it was
    /// completed.
    fn turn(&mut self) -> Result<Option<(Cycle, Hash)>, Error> {
        self.add("Question")?;
        let call = match Call::running(&self.session)? {
            Some(call) if self.random.percent(60) => call,
            _ => {
                let begun = if self.random.percent(50) {
                    let budget = random_budget(&mut self.random);
                    request().begin_under(&mut self.session, &budget)
                } else {
                    request().begin(&mut self.session)
                };
                self.stored(begun)?
            }
        };
        if self.random.percent(30) {
            self.add("Meanwhile")?;
        }
        if self.random.percent(20) {
            let attached = call.attach(&mut self.session, "The begin");
            self.stored(attached)?;
        }
        let ended = match self.random.below(10) {
            0 => call.cancel(&mut self.session),
            1 => call.fail(&mut self.session, "overloaded"),
            _ => {
                let (seed, step) = (self.seed, self.steps);
                let answer = format!(
                    r#"{{"id":"r{seed}.{step}","choices":[{{"message":{{"role":"assistant","content":"Answer {step}."}}}}]}}"#
                );
                let completed = call.complete(&mut self.session, answer.as_bytes());
                self.stored(completed)?;
                return Ok(Some((call.snapshot.cycle(), call.hash)));
            }
        };
        self.stored(ended).map(|()| None)
    }
}

/// Not a test of its own: runs the loop until it is killed, if the environment asks for it.
#[test]
fn child_that_runs_the_loop() {
    let Ok(url) = std::env::var(CHILD) else { return };
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let (seed, dies) = (number(SEED), number(DIES));
    let store = open(&url);
    let session = store.session_or_new("main", &ContextSettings::default()).unwrap();
    let mut agent = Agent { session, random: Rng::new(seed), seed, steps: 0, dies };
    let mut out = std::io::stdout();
    // A child that is never killed ends, so that the context stays small.
    for _ in 0..TURNS {
        match agent.turn() {
            Ok(Some((cycle, hash))) => writeln!(out, "completed {cycle} {hash}").unwrap(),
            Ok(None) => writeln!(out, "ended").unwrap(),
            Err(error) if RACES.contains(&error.code().as_str()) => {
                writeln!(out, "raced").unwrap();
                agent.session = store.session("main").unwrap();
            }
            Err(error) => {
                writeln!(out, "unexpected {}: {error}", error.code()).unwrap();
                return;
            }
        }
        out.flush().unwrap();
    }
}

/// A child, and what it says.
struct Started {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Started {
    fn new(url: &str, seed: u64, dies: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["killed::child_that_runs_the_loop", "--exact", "--nocapture"])
            .envs([(CHILD, url), (SEED, &seed.to_string()), (DIES, &dies.to_string())])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Started { child, lines }
    }

    /// Waits for a number of turns, or until the child has died, and notes what was completed.
    fn listen(&mut self, mut turns: u64, completed: &mut BTreeMap<Cycle, String>) {
        while turns > 0 {
            let Some(Ok(line)) = self.lines.next() else { return };
            assert!(!line.contains("unexpected"), "{line}");
            let told = line.rsplit_once("completed ").and_then(|(_, rest)| rest.split_once(' '));
            if let Some((cycle, hash)) = told {
                let other = completed.insert(Cycle(cycle.parse().unwrap()), hash.to_owned());
                assert_eq!(other, None, "two processes completed {cycle}");
            }
            let is_turn = ["completed ", "ended", "raced"].iter().any(|it| line.contains(it));
            turns -= u64::from(is_turn);
        }
    }

    /// Kills the child, and notes what it said before.
    fn kill(mut self, completed: &mut BTreeMap<Cycle, String>) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.listen(u64::MAX, completed);
    }
}

/// Checks every attempt against an independent rendering of its snapshot.
fn check(home: &Home, told: &BTreeMap<Cycle, String>) -> usize {
    let store = home.open();
    let session = store.session("main").unwrap();
    let attempts = session.attempts().unwrap().to_vec();
    let count = |status| attempts.iter().filter(|attempt| attempt.status == status).count();
    assert!(count(AttemptStatus::Running) <= 1);
    let mut stored = BTreeMap::new();
    for attempt in attempts.iter().filter(|it| it.status == AttemptStatus::Completed) {
        let address = SnapshotAddress::Cycle(u64::from(attempt.cycle_id));
        let snapshot = session.snapshot(address).unwrap();
        let rendered = render(snapshot.view(), Provider::OpenAiChat, &request().options).unwrap();
        assert_eq!(Some(Hash::of(&rendered.bytes)), attempt.input, "{}", attempt.attempt_id);
        let again = sent(&session, address).unwrap();
        assert_eq!((again.bytes, Some(again.hash)), (rendered.bytes, attempt.input));
        stored.insert(attempt.cycle_id, rendered_hash(attempt.input));
    }
    let mut pruned = 0;
    let (first, last) = (Cycle::ZERO, Cycle::MAX);
    session
        .reports(first, last, &mut |_, _, report| {
            pruned += report.map_or(0, |report| report.pruned.len());
            Ok(())
        })
        .unwrap();
    assert!(pruned > 0, "a budget prunes something");
    for (cycle, hash) in told {
        assert_eq!(stored.get(cycle), Some(hash), "what was acknowledged is stored");
    }
    assert_eq!(session.snapshot_count(), stored.len(), "only completed calls are sealed");
    let verified = store.verify(&mut |_, _| {}).unwrap();
    assert!(verified.is_clean(), "{verified:?}");
    stored.len()
}

fn rendered_hash(hash: Option<Hash>) -> String {
    hash.map(|hash| hash.to_string()).unwrap_or_default()
}

fn kill_two_processes_again_and_again(home: &Home, rounds: u64, seed: u64) {
    let mut random = Rng::new(seed);
    let mut told = BTreeMap::new();
    for round in 0..rounds {
        // Every other child dies by itself, each time after one more step: a turn has up to five.
        let dies = if round % 2 == 1 { 1 + round / 2 } else { 0 };
        let mut first = Started::new(&home.url, seed * 1000 + round * 2, dies);
        let mut second = Started::new(&home.url, seed * 1000 + round * 2 + 1, 0);
        first.listen(1 + random.below(4), &mut told);
        for _ in 0..random.below(200_000) {
            std::hint::spin_loop();
        }
        first.kill(&mut told);
        second.listen(1 + random.below(3), &mut told);
        second.kill(&mut told);
    }
    let completed = check(home, &told);
    assert!(completed as u64 > rounds / 2, "calls are completed: {completed}");
}

#[test]
fn completed_calls_of_killed_processes_render_to_what_was_sent_in_a_file() {
    kill_two_processes_again_and_again(&Home::file(), 16, 1);
}

#[test]
fn completed_calls_of_killed_processes_render_to_what_was_sent_on_a_server() {
    kill_two_processes_again_and_again(&Home::server(), 12, 2);
}
