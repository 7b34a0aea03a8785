//! Measures the loop of model calls: begin and complete, durable and after a long history.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Instant;

use contextree::calls::{Request, complete_in};
use contextree::engine::{CallError, CallResponse, CallStart};
use contextree::provider::Provider;
use contextree::{
    CallOutcome, CommitOptions, Context, ContextSettings, Error, Hash, NewNode, Place,
};
use contextree_store::{Result, Session, Store, StoreOptions};

use crate::measure::{Row, compare};
use crate::store::{at, bare, folder, text};

/// Bytes of a message; a call adds a question and an answer.
const MESSAGE: usize = 500;

/// More bytes than a processor's cache has.
const ELSEWHERE: usize = 64 << 20;

fn request() -> Request {
    Request::new(Provider::OpenAiChat, "gpt-5")
}

fn response(number: u64) -> Vec<u8> {
    let said = text(number * 2 + 1, MESSAGE);
    format!(r#"{{"id":"r{number}","choices":[{{"message":{{"role":"assistant","content":"{said}"}}}}]}}"#)
        .into_bytes()
}

fn ask(context: &mut Context, number: u64) -> std::result::Result<String, Error> {
    context.add(Place::head(), NewNode::text(text(number * 2, MESSAGE)).role("user"))?;
    Ok(request().begin_in(context, &CommitOptions::default())?.attempt)
}

/// Returns a context in memory with this many completed calls.
fn after(calls: u64) -> Context {
    let mut context = Context::new();
    for number in 0..calls {
        let question = NewNode::text(text(number * 2, MESSAGE)).role("user");
        context.add(Place::head(), question).expect("it is allowed");
        // The copies of all requests together would be quadratic, so nothing is rendered.
        let start = CallStart {
            provider: Provider::OpenAiChat.name().to_owned(),
            model: "gpt-5".to_owned(),
            params: Hash([0; 32]),
            input: None,
            serves: None,
            options: String::new(),
        };
        context
            .begin_call(&CommitOptions::default(), |_| Ok::<_, CallError>((start, ())))
            .expect("the call begins");
        let running = context.running_call().expect("it is running");
        let attempt = running.attempt.attempt_id.clone();
        let answer = NewNode::text(text(number * 2 + 1, MESSAGE)).role("assistant");
        let response_id = Some(format!("response {number}"));
        let response = CallResponse { response_id, ..CallResponse::default() };
        let outcome = CallOutcome { response, ..CallOutcome::default() };
        context.complete_call(&attempt, vec![answer.into()], outcome).expect("it is completed");
    }
    context
}

/// Measures all rows.
///
/// # Errors
///
/// If the store fails.
///
/// # Panics
///
/// If the reference cannot be set up.
pub fn rows(rounds: usize, calls: usize) -> Result<[Row; 3]> {
    Ok([durable(rounds, calls)?, long_begin(rounds), long_complete(rounds)])
}

/// Measures begin and complete through SQLite, against two bare durable inserts of the same text.
fn durable(rounds: usize, calls: usize) -> Result<Row> {
    let folder = folder();
    let options = StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() };
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let store = Store::open_with(&url, options)?;
    let bare = bare(&folder.path().join("bare.db"));
    let (mut round, mut number) = (0_u64, 0_u64);
    Ok(compare(
        "call: begin and complete through SQLite, against two bare durable inserts of the text (p50)",
        1.6,
        rounds,
        || {
            round += 1;
            let settings = ContextSettings::default();
            let mut session = store.create(&round.to_string(), &settings).expect("a free name");
            let mut times: Vec<f64> = (0..calls as u64).map(|at| call(&mut session, at)).collect();
            times.sort_by(f64::total_cmp);
            at(&times, 0.5)
        },
        || {
            let mut times: Vec<f64> = (0..calls)
                .map(|_| {
                    number += 1;
                    let data = [0, 1].map(|index| text(number * 2 + index, MESSAGE).into_bytes());
                    let start = Instant::now();
                    for data in data {
                        bare.prepare_cached("INSERT INTO t(data) VALUES (?1)")
                            .and_then(|mut insert| insert.execute([data]))
                            .expect("SQLite works");
                    }
                    start.elapsed().as_nanos() as f64
                })
                .collect();
            times.sort_by(f64::total_cmp);
            at(&times, 0.5)
        },
    ))
}

/// Makes one durable call; returns its nanoseconds.
fn call(session: &mut Session, number: u64) -> f64 {
    let response = response(number);
    let start = Instant::now();
    let attempt = session.write(|context| ask(context, number)).expect("the call begins");
    session
        .write(|context| complete_in(context, &attempt, &response))
        .expect("the call is completed");
    start.elapsed().as_nanos() as f64
}

/// Measures begin after 10,000 calls (commit ahead, rendering, hash, lint), against a copy of its request.
fn long_begin(rounds: usize) -> Row {
    let mut context = after(10_000);
    let mut number = 10_000;
    let preview = request().preview(&context, &CommitOptions::default()).expect("it renders");
    let bytes = preview.bytes;
    compare(
        "call: begin after 10,000 calls, against a memcpy of its request",
        5.0,
        rounds,
        || {
            number += 1;
            let start = Instant::now();
            let attempt = ask(&mut context, number).expect("the call begins");
            let took = start.elapsed().as_nanos() as f64;
            complete_in(&mut context, &attempt, &response(number)).expect("it is completed");
            took
        },
        || {
            let start = Instant::now();
            black_box(black_box(&bytes).clone());
            start.elapsed().as_nanos() as f64
        },
    )
}

/// Measures complete after 10,000 calls, against complete after 100.
///
/// An answer arrives seconds after its request was made, and until then the processor does other things. So nothing is in its cache
/// when a call is completed, after 100 calls as after 10,000.
fn long_complete(rounds: usize) -> Row {
    let (mut long, mut short) = (after(10_000), after(100));
    let (mut of_long, mut of_short) = (10_000, 100);
    let elsewhere = RefCell::new(vec![0_u64; ELSEWHERE / size_of::<u64>()]);
    let complete = |context: &mut Context, number: &mut u64| {
        let mut times: Vec<f64> = (0..10)
            .map(|_| {
                *number += 1;
                let attempt = ask(context, *number).expect("it begins");
                elsewhere.borrow_mut().iter_mut().for_each(|word| *word = word.wrapping_add(1));
                black_box(&elsewhere);
                let response = response(*number);
                let start = Instant::now();
                complete_in(context, &attempt, &response).expect("it is completed");
                start.elapsed().as_nanos() as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        at(&times, 0.5)
    };
    compare(
        "call: complete after 10,000 calls, against complete after 100",
        1.5,
        rounds,
        || complete(&mut long, &mut of_long),
        || complete(&mut short, &mut of_short),
    )
}
