//! Contexts that nobody uses at the moment, kept open for the next one who asks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::checkpoint::Spacing;
use crate::rows::ContextRow;
use crate::settings::ContextSettings;
use crate::timeline::Loaded;

/// An open context without a session.
pub(crate) struct Parked {
    pub(crate) row: ContextRow,
    pub(crate) settings: ContextSettings,
    pub(crate) loaded: Loaded,
    pub(crate) spacing: Spacing,
}

impl Parked {
    /// About how many bytes it takes: rows of nodes, and what was read.
    fn weight(&self) -> u64 {
        let nodes = self.loaded.context.working().node_count() as u64;
        4_096 + nodes * 320 + self.spacing.checkpoint + self.spacing.since
    }
}

/// The contexts that were used last, as long as they are not too large together.
pub(crate) struct Pool {
    bound: u64,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_name: BTreeMap<String, (u64, u64, Parked)>,
    /// Names in the order of their last use.
    by_age: BTreeMap<u64, String>,
    next: u64,
    bytes: u64,
}

impl Entries {
    fn take(&mut self, name: &str) -> Option<Parked> {
        let (age, weight, parked) = self.by_name.remove(name)?;
        self.by_age.remove(&age);
        self.bytes -= weight;
        Some(parked)
    }
}

impl Pool {
    pub(crate) fn new(bound: u64) -> Self {
        Pool { bound, entries: Mutex::default() }
    }

    pub(crate) fn take(&self, name: &str) -> Option<Parked> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).take(name)
    }

    pub(crate) fn put(&self, parked: Parked) {
        let weight = parked.weight();
        if weight > self.bound {
            return;
        }
        let mut out = Vec::new();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let name = parked.row.name.clone();
        out.extend(entries.take(&name));
        let age = entries.next;
        entries.next += 1;
        entries.bytes += weight;
        entries.by_age.insert(age, name.clone());
        entries.by_name.insert(name, (age, weight, parked));
        while entries.bytes > self.bound {
            let Some((_, oldest)) = entries.by_age.pop_first() else { break };
            out.extend(entries.take(&oldest));
        }
        drop(entries);
        // What went is taken apart here, without keeping others waiting.
        drop(out);
    }
}
