//! Whether the snapshots of an imported request log render to its requests.

use std::collections::BTreeMap;

use contextree::{Attempt, AttemptStatus, Cycle, Snapshot, SnapshotAddress};
use contextree_import::{Format, ImportOptions, import};
use contextree_provider::{KeyOrder, Provider, RenderOptions, render};
use contextree_store::Session;
use serde_json::Value;

use super::oracle::styles::keys;

/// How many requests of a log were rendered exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) equal: u64,
    pub(crate) all: u64,
}

/// Imports a log and renders the snapshot of each call.
pub(crate) fn compare(log: &[u8], requests: &[Value]) -> Result<Exact, String> {
    let imported = import(log, Format::Auto, ImportOptions::default());
    let context = imported.map_err(|error| error.to_string())?.context;
    let snapshots: BTreeMap<Cycle, &Snapshot> =
        context.history().iter().map(|snapshot| (snapshot.cycle(), snapshot)).collect();
    let calls = context.attempts().iter().filter(|attempt| is_call(attempt));
    let mut rendered = calls.map(|attempt| {
        let (provider, options) = sent_as(attempt)?;
        let sent = render(snapshots.get(&attempt.cycle_id)?.view(), provider, &options).ok()?;
        serde_json::from_slice::<Value>(&sent.bytes).ok()
    });
    let equal = requests.iter().filter(|it| rendered.next().flatten().as_ref() == Some(*it));
    Ok(Exact { equal: equal.count() as u64, all: requests.len() as u64 })
}

/// Imports a log of requests, and compares values and the order of keys.
pub(crate) fn compare_texts(lines: &[String]) -> Result<Exact, String> {
    let log = lines.join("\n");
    let imported = import(log.as_bytes(), Format::Auto, ImportOptions::default());
    let context = imported.map_err(|error| error.to_string())?.context;
    let snapshots: BTreeMap<Cycle, &Snapshot> =
        context.history().iter().map(|snapshot| (snapshot.cycle(), snapshot)).collect();
    let calls = context.attempts().iter().filter(|attempt| is_call(attempt));
    let mut rendered = calls.map(|attempt| {
        let (provider, options) = sent_as(attempt)?;
        let sent = render(snapshots.get(&attempt.cycle_id)?.view(), provider, &options).ok()?;
        let order = KeyOrder::from_options(&attempt.request.as_ref()?.options);
        Some(order.map_or_else(|| sent.bytes.clone(), |order| order.apply(&sent).0))
    });
    let is_same = |line: &&String| {
        let Some(sent) = rendered.next().flatten() else { return false };
        let value = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
        value(&sent) == value(line.as_bytes()) && keys(&sent) == keys(line.as_bytes())
    };
    Ok(Exact { equal: lines.iter().filter(is_same).count() as u64, all: lines.len() as u64 })
}

/// The length of a request log that is made of the requests of a session.
const LONGEST: usize = 4 << 20;

/// Returns the first requests of a session as a request log.
pub(crate) fn log_of(session: &Session) -> Result<Vec<u8>, String> {
    let mut log = Vec::new();
    for attempt in session.attempts().map_err(|error| error.to_string())? {
        let Some((provider, options)) = sent_as(attempt).filter(|_| is_call(attempt)) else {
            continue;
        };
        let address = SnapshotAddress::from(attempt.cycle_id);
        let snapshot = session.snapshot(address).map_err(|error| error.to_string())?;
        let Ok(sent) = render(snapshot.view(), provider, &options) else { continue };
        if log.len() + sent.bytes.len() > LONGEST {
            break;
        }
        log.extend_from_slice(&sent.bytes);
        log.push(b'\n');
    }
    Ok(log)
}

fn is_call(attempt: &Attempt) -> bool {
    attempt.status == AttemptStatus::Completed && attempt.request.is_some()
}

fn sent_as(attempt: &Attempt) -> Option<(Provider, RenderOptions)> {
    RenderOptions::from_text(&attempt.request.as_ref()?.options)
}
