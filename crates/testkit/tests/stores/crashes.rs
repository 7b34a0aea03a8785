//! Kills processes while they write: everything acknowledged is stored, byte for byte.
//!
//! The child is this test binary; an environment variable makes it write and print a line after
//! every acknowledged step. The effect of a step is a function of its number, so the parent knows
//! what must be stored.

#![expect(clippy::disallowed_methods, reason = "a child is told by its environment")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use contextree::{Context, Edit, NewNode, Place};
use contextree_store::{ContextSettings, StoreError};
use contextree_testkit::Rng;

use crate::support::{Home, open, utf8};

const CHILD: &str = "CONTEXTREE_CRASH_CHILD";
const ROUNDS: &str = "CONTEXTREE_CRASH_ROUNDS";

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Runs the step that leads to a revision. Some steps are one operation, some a batch with its
/// commit; contents are short and long.
fn step(context: &mut Context, revision: u64) -> Outcome {
    let text =
        format!("step {revision} says {}", "something ".repeat((revision % 7 * 40) as usize));
    let node = NewNode::text(&*text).id(format!("n{revision}")).role("user");
    match revision % 5 {
        0 => {
            context.add(Place::head(), node)?;
            context.commit()?;
        }
        1 => {
            context.add(Place::head(), node.ttl(2))?;
        }
        2 => {
            context.add(Place::at("^ah", 1), node)?;
        }
        3 => {
            // The node that the previous step added.
            let edit = Edit { content: Some("changed".into()), ..Edit::default() };
            context.edit(&format!("n{}", revision - 1), edit)?;
        }
        _ => {
            context.commit()?;
        }
    }
    Ok(())
}

/// Not a test of its own: writes until it is killed, if the environment asks for it.
#[test]
fn child_that_writes() {
    let Ok(url) = std::env::var(CHILD) else { return };
    let store = open(&url);
    let mut session = store.session_or_new("main", &ContextSettings::default()).unwrap();
    let mut out = std::io::stdout();
    loop {
        let next = session.row().revision.next().get();
        if let Err(error) = session.write(|context| step(context, next)) {
            // The last step of the process that was killed can land after this one has read the context.
            let conflict = matches!(error.downcast_ref(), Some(StoreError::Conflict { .. }));
            assert!(conflict, "{error}");
            session = store.session("main").unwrap();
            continue;
        }
        writeln!(out, "acknowledged {next}").unwrap();
        out.flush().unwrap();
    }
}

/// Starts a child, kills it after a number of answers, and returns the last one.
fn run_and_kill(url: &str, answers: u64, spins: u64) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["crashes::child_that_writes", "--exact", "--nocapture"])
        .env(CHILD, url)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = None;
    let number = |line: &str| line.rsplit_once("acknowledged ")?.1.parse::<u64>().ok();
    let mut seen = 0;
    while seen < answers {
        let line = lines.next().expect("the child writes until it is killed").unwrap();
        if let Some(answer) = number(&line) {
            (last, seen) = (Some(answer), seen + 1);
        }
    }
    for _ in 0..spins {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Answers before the kill count too.
    for line in lines.map_while(Result::ok) {
        last = number(&line).or(last);
    }
    last
}

fn kill_again_and_again(home: &Home, rounds: u64, seed: u64) {
    let mut random = Rng::new(seed);
    let mut expected = Context::new();
    // Creating the context is revision 1 and not a step.
    let mut done = 1;
    for round in 0..rounds {
        let (answers, spins) = (1 + random.below(12), random.below(200_000));
        let acknowledged = run_and_kill(&home.url, answers, spins).unwrap();
        let store = home.open();
        let session = store.session("main").unwrap();
        let found = session.row().revision.get();
        assert!(
            (acknowledged..=acknowledged + 1).contains(&found),
            "round {round}: {acknowledged} was acknowledged, {found} is there"
        );
        while done < found {
            done += 1;
            step(&mut expected, done).unwrap();
        }
        assert_eq!(utf8(&session.working().unwrap().export()), utf8(&expected.export_working()));
        assert_eq!(session.history_digest().unwrap(), expected.history_digest(), "round {round}");
        if round % 25 == 24 || round + 1 == rounds {
            let check = store.verify(&mut |_, _| {}).unwrap();
            assert!(check.is_clean(), "round {round}: {check:?}");
        }
    }
}

/// Returns how often a child is killed: 200 times, or as often as the environment says.
fn rounds() -> u64 {
    std::env::var(ROUNDS).ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

#[test]
fn nothing_acknowledged_is_lost_when_a_writer_of_a_file_is_killed() {
    kill_again_and_again(&Home::file(), rounds(), 1);
}

#[test]
fn nothing_acknowledged_is_lost_when_a_writer_on_a_server_is_killed() {
    kill_again_and_again(&Home::server(), rounds(), 2);
}
