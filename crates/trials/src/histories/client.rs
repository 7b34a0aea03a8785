//! One client process. It prints a line when it begins an operation, and another one when that ends.
//!
//! ```text
//! begin NAME START
//! read START END REVISION HASH      what it read
//! wrote START END REVISION HASH     what it wrote, and how the context is afterwards
//! found                             compare and set was refused
//! collected                         retention removed something, which counts as a write
//! verified                          the store is sound
//! unknown                           the answer was lost
//! failed WHY
//! ```
//!
//! Times are those of the system's clock, which all processes of a machine share.

use std::io::Write;
use std::time::SystemTime;

use contextree::{Hash, NewNode, Place};
use contextree_store::{Retention, Session, Store, StoreError};
use contextree_testkit::Rng;

use super::NAMES;
use crate::script::{check_all, open};

/// The most operations of one client.
const OPERATIONS: u64 = 60;

/// Runs a client.
///
/// # Errors
///
/// If nothing can be printed.
pub fn run(url: &str, seed: u64, out: &mut dyn Write) -> std::io::Result<()> {
    let mut random = Rng::new(seed);
    let store = match open(url) {
        Ok(store) => store,
        // The server is being started again.
        Err(StoreError::Unavailable { .. }) => return Ok(()),
        Err(error) => return say(out, &failed(&error)),
    };
    let mut kept: Vec<Option<Session>> = vec![None, None];
    for number in 0..OPERATIONS {
        let index = random.index(NAMES.len());
        let name = NAMES[index];
        say(out, &format!("begin {name} {}", now()))?;
        let text = format!("client {seed}, operation {number}");
        let line = match random.below(20) {
            0..=7 => read(&store, name),
            8..=14 => {
                let session = kept[index].take().map_or_else(|| store.session(name), Ok);
                match session {
                    Ok(mut session) => {
                        let line = compare_and_set(&mut session, &text, random.percent(20));
                        kept[index] = Some(session);
                        line
                    }
                    Err(error) => failed(&error),
                }
            }
            15..=16 => update(&store, name, &text),
            17..=18 => collect(&store, name),
            _ => match check_all(&store) {
                Ok(()) => "verified".to_owned(),
                // The connection was lost, which is no answer.
                Err(failure)
                    if failure.contains("E_STORE_UNAVAILABLE")
                        || failure.contains("Unavailable") =>
                {
                    "kept".to_owned()
                }
                Err(failure) => format!("failed {failure}"),
            },
        };
        say(out, &line)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the history of a client has times")]
fn now() -> u128 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

fn say(out: &mut dyn Write, line: &str) -> std::io::Result<()> {
    writeln!(out, "{}", line.replace('\n', " "))?;
    out.flush()
}

fn failed(error: &StoreError) -> String {
    match error {
        StoreError::Unavailable { .. } => "unknown".to_owned(),
        other => format!("failed {}: {other}", other.code()),
    }
}

fn read(store: &Store, name: &str) -> String {
    let start = now();
    let read = store.reader(name).and_then(|reader| {
        let hash = Hash::of(&reader.working()?.export());
        Ok((reader.row().revision.get(), hash))
    });
    match read {
        Ok((revision, hash)) => format!("read {start} {} {revision} {hash}", now()),
        // What it was about to read has been collected; it would read again.
        Err(StoreError::Conflict { .. }) => "found".to_owned(),
        Err(error) => failed(&error),
    }
}

fn add(context: &mut contextree::Context, text: &str) -> Result<(), StoreError> {
    let node = NewNode::text(text).role("user").ttl(3);
    let added = context.add(Place::head(), node);
    added.map_err(|error| StoreError::Backend { message: error.to_string() })?;
    if text.ends_with(['0', '3', '7']) {
        let done = context.commit();
        done.map_err(|error| StoreError::Backend { message: error.to_string() })?;
    }
    Ok(())
}

fn compare_and_set(session: &mut Session, text: &str, refresh: bool) -> String {
    if refresh && let Err(error) = session.refresh() {
        return failed(&error);
    }
    let start = now();
    match session.write(|context| add(context, text)) {
        Ok(()) => wrote(session, start),
        Err(StoreError::Conflict { .. }) => match session.refresh() {
            Ok(_) => "found".to_owned(),
            Err(error) => failed(&error),
        },
        Err(error) => failed(&error),
    }
}

fn wrote(session: &Session, start: u128) -> String {
    let end = now();
    match session.working() {
        Ok(working) => {
            let hash = Hash::of(&working.export());
            format!("wrote {start} {end} {} {hash}", session.row().revision.get())
        }
        Err(error) => failed(&error),
    }
}

fn update(store: &Store, name: &str, text: &str) -> String {
    let start = now();
    let done = store.session(name).and_then(|mut session| {
        session.update(|context| add(context, text))?;
        Ok(session)
    });
    match done {
        Ok(session) => wrote(&session, start),
        Err(error) => failed(&error),
    }
}

fn collect(store: &Store, name: &str) -> String {
    let retention = Retention { keep_newest: Some(5), ..Retention::default() };
    match store.retain(name, &retention, false) {
        Ok(retained) if retained.dropped > 0 => "collected".to_owned(),
        Ok(_) => "kept".to_owned(),
        Err(error) => failed(&error),
    }
}
