//! Compares durable steps on PostgreSQL with bare inserts over the same connection.
//!
//! The server is started for the purpose, or named by `CONTEXTREE_TEST_POSTGRES`. Both kinds of
//! work alternate; each is one round trip and one transaction that is on disk when it is
//! acknowledged.
#![expect(clippy::print_stdout, reason = "the program's output")]
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::process::ExitCode;
use std::time::Instant;

use contextree::Cycle;
use contextree_store::{Backend, Commit, Head, NewContext, Result, Step};
use contextree_store_postgres::Postgres;
use sha2::{Digest, Sha256};

use super::Common;
use crate::measure::{Row, median};
use crate::outcome::{finish, note};
use crate::table;

/// The maximum ratio of the medians.
const BAR: f64 = 1.5;

/// The size of a turn.
const BYTES: usize = 1024;

pub(crate) fn run(common: &Common) -> ExitCode {
    let (rounds, steps) = if common.quick { (3, 100) } else { (9, 500) };
    let server = contextree_testkit::postgres::shared();
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    println!("| what | ratio (median of p50) | spread | bar | |\n|---|--:|--:|--:|---|");
    let name = format!("commit of {BYTES} B on PostgreSQL, against one bare insert of them");
    for (name, parameters, bar) in [
        (name.as_str(), "", BAR),
        ("the same without notices to other processes", "&notify=off", f64::INFINITY),
    ] {
        let schema = format!("schema=bench_{}&pool_max=1{parameters}", std::process::id());
        match Postgres::open(&server.url_with(&schema)).and_then(|store| {
            let outcome = measure(&store, name, bar, rounds, steps);
            store.with_connection(async |client| {
                let schema = format!("DROP SCHEMA bench_{} CASCADE", std::process::id());
                client.batch_execute(&schema).await
            })?;
            outcome
        }) {
            Ok((row, details)) => {
                println!("{}", table::line(&row));
                println!("| {details} | | | | |");
                rows.push(row);
                notes.push(note(&format!("{name}: {details}")));
            }
            Err(error) => {
                println!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    finish(common, &rows, &notes)
}

/// Alternates steps and inserts.
fn measure(
    store: &Postgres,
    name: &str,
    bar: f64,
    rounds: usize,
    steps: u32,
) -> Result<(Row, String)> {
    let schema = format!("bench_{}", std::process::id());
    let insert = store.with_connection(async |client| {
        let table =
            format!("CREATE TABLE {schema}.bare (id bigint PRIMARY KEY, data bytea NOT NULL)");
        client.batch_execute(&table).await?;
        client.prepare(&format!("INSERT INTO {schema}.bare (id, data) VALUES ($1, $2)")).await
    })?;
    let mut context = store.create(&NewContext {
        name: "bench".to_owned(),
        created_ns: 1,
        settings: "{}".to_owned(),
        from: None,
        base: None,
        first: Step::default(),
    })?;
    let (mut ratios, mut all) = (Vec::new(), (Vec::new(), Vec::new()));
    let mut cycle = 0;
    for round in 0..=rounds {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for turn in 0..steps {
            cycle += 1;
            let data = noise(cycle);
            let number = i64::from(cycle);
            let mut bare = || -> Result<()> {
                let start = Instant::now();
                store.with_connection(async |client| {
                    client.execute(&insert, &[&number, &data]).await
                })?;
                theirs.push(nanoseconds(start));
                Ok(())
            };
            // The order alternates.
            if turn % 2 == 0 {
                bare()?;
            }
            let step = step(cycle, &data);
            let start = Instant::now();
            context = store.append(context.id, context.revision, &step)?;
            ours.push(nanoseconds(start));
            if turn % 2 == 1 {
                bare()?;
            }
        }
        // The first round is a warm-up.
        if round > 0 {
            ratios.push(median(ours.clone()) / median(theirs.clone()));
            all.0.extend(ours);
            all.1.extend(theirs);
        }
    }
    let spread = (
        ratios.iter().copied().fold(f64::INFINITY, f64::min),
        ratios.iter().copied().fold(0.0, f64::max),
    );
    let details = format!(
        "p50 {:.0} µs against {:.0} µs, p99 {:.0} µs against {:.0} µs, p99 ratio {:.2}×",
        percentile(&mut all.0, 50) / 1e3,
        percentile(&mut all.1, 50) / 1e3,
        percentile(&mut all.0, 99) / 1e3,
        percentile(&mut all.1, 99) / 1e3,
        percentile(&mut all.0, 99) / percentile(&mut all.1, 99),
    );
    let nanoseconds = (median(all.0), median(all.1));
    let row = Row {
        name: name.to_owned(),
        ratio: median(ratios),
        spread,
        bar,
        is_gain: false,
        nanoseconds,
    };
    Ok((row, details))
}

/// Returns one commit: a third of the bytes are effects, the rest is content.
fn step(cycle: u32, data: &[u8]) -> Step {
    let (effects, bodies) = data.split_at(data.len() / 3);
    let number = Cycle(cycle);
    let mut key = [1; 16];
    key[..4].copy_from_slice(&cycle.to_be_bytes());
    Step {
        now_ns: i64::from(cycle),
        key,
        commits: vec![Commit {
            cycle: number,
            effects: Some(effects.to_vec()),
            bodies: bodies.to_vec(),
        }],
        head: Some(Head { cycle: number, digest: [7; 32] }),
        ..Step::default()
    }
}

/// Returns incompressible bytes, the same for the same number.
fn noise(number: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES);
    let mut block = 0_u32;
    while bytes.len() < BYTES {
        let mut hash = Sha256::new();
        hash.update(number.to_be_bytes());
        hash.update(block.to_be_bytes());
        bytes.extend_from_slice(&hash.finalize());
        block += 1;
    }
    bytes
}

#[expect(clippy::cast_precision_loss, reason = "a benchmark's times are short")]
fn nanoseconds(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() * percent / 100).copied().unwrap_or(f64::NAN)
}
