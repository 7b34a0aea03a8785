//! The library's side of `benches/bars.py`: the same work in Rust, timed in the same run. Prints one line of JSON.

#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::path::PathBuf;
use std::time::Instant;

use contextree::calls::{self, Request};
use contextree::provider::Provider;
use contextree::{Answer, ContextSettings, Error, NewNode, Place, user};

const BLOCKS: usize = 100_000;

#[expect(clippy::print_stdout, reason = "the result of a program")]
fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let turns: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(300);
    let turn = turn(&folder.join("rust.db").to_string_lossy(), turns)?;
    let (select, found) = select()?;
    println!("{{\"turn_ns\":{turn},\"select_ns\":{select},\"found\":{found}}}");
    Ok(())
}

/// Returns the median time of a turn, in nanoseconds.
fn turn(path: &str, turns: usize) -> Result<u128, Error> {
    let store = contextree::open(path)?;
    let mut session = store.session_or_new("bench", &ContextSettings::default())?;
    let request = Request::new(Provider::Anthropic, "claude-x");
    let mut times = Vec::with_capacity(turns);
    for number in 0..turns {
        session.update(|context| {
            context.add(Place::head(), user(format!("Question {number}")))?;
            Ok::<_, Error>(())
        })?;
        let answer = format!(
            "{{\"id\":\"msg_{number}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"Answer {number}\"}}],\"stop_reason\":\"end_turn\",\
             \"usage\":{{\"input_tokens\":10,\"output_tokens\":5}}}}"
        );
        let start = Instant::now();
        let call = request.begin(&mut session)?;
        calls::complete(&mut session, &call.attempt, answer.as_bytes())?;
        times.push(start.elapsed().as_nanos());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Returns the best time of a selection, in nanoseconds, and how many nodes it has.
fn select() -> Result<(u128, usize), Error> {
    let store = contextree::open("memory:")?;
    let mut session = store.session_or_new("bench", &ContextSettings::default())?;
    session.update(|context| {
        for number in 0..BLOCKS {
            let role = if number % 100 < 24 { "user" } else { "assistant" };
            context.add(Place::head(), NewNode::text("x").role(role))?;
        }
        context.commit()?;
        Ok::<_, Error>(())
    })?;
    let (mut best, mut found) = (u128::MAX, 0);
    for _ in 0..15 {
        let start = Instant::now();
        let reader = store.reader("bench")?;
        let ids: Vec<String> = match reader.select("@t0 ?? { role='user' }")? {
            Answer::Nodes(nodes) => nodes.nodes.iter().map(|node| node.id().to_owned()).collect(),
            Answer::Range(_) => Vec::new(),
        };
        best = best.min(start.elapsed().as_nanos());
        found = ids.len();
    }
    Ok((best, found))
}
