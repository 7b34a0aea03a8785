//! Contexts that nobody uses at the moment, kept open for the next one who asks.
//!
//! The few that were used last are kept as they are. Small ones that were used before those rest: they take little more than what they say,
//! and wake up in less time than a disk needs to answer. All together stay below a bound; beyond it the oldest are closed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::checkpoint::Spacing;
use crate::rows::ContextRow;
use crate::settings::ContextSettings;
use crate::timeline::{Loaded, Resting};

/// So many small contexts are kept as they are.
const AWAKE: usize = 64;

/// A context with more nodes than this does not rest: waking it up would take too long.
const SMALL: usize = 2_000;

/// An open context without a session.
pub(crate) struct Parked {
    pub(crate) row: ContextRow,
    pub(crate) settings: ContextSettings,
    pub(crate) state: State,
    pub(crate) spacing: Spacing,
}

pub(crate) enum State {
    Awake(Box<Loaded>),
    Resting(Box<Resting>),
}

impl Parked {
    /// About how many bytes it takes: rows of nodes, and what was read.
    fn weight(&self) -> u64 {
        match &self.state {
            State::Awake(loaded) => {
                let nodes = loaded.context.working().node_count() as u64;
                4_096 + nodes * 320 + self.spacing.checkpoint + self.spacing.since
            }
            State::Resting(resting) => 2_048 + resting.bytes() as u64,
        }
    }

    fn may_rest(&self) -> bool {
        match &self.state {
            State::Awake(loaded) => loaded.context.working().node_count() <= SMALL,
            State::Resting(_) => false,
        }
    }

    fn rest(self) -> Self {
        let state = match self.state {
            State::Awake(loaded) => loaded.rest(),
            resting => resting,
        };
        Parked { state, ..self }
    }
}

/// The contexts that were used last, as long as they are not too large together.
pub(crate) struct Pool {
    bound: u64,
    entries: Mutex<Entries>,
}

struct Entry {
    age: u64,
    weight: u64,
    parked: Parked,
}

#[derive(Default)]
struct Entries {
    by_name: BTreeMap<String, Entry>,
    /// Names in the order of their last use.
    by_age: BTreeMap<u64, String>,
    /// Ages of those that are awake and may rest.
    awake: BTreeSet<u64>,
    next: u64,
    bytes: u64,
}

impl Entries {
    fn take(&mut self, name: &str) -> Option<(u64, Parked)> {
        let Entry { age, weight, parked } = self.by_name.remove(name)?;
        self.by_age.remove(&age);
        self.awake.remove(&age);
        self.bytes -= weight;
        Some((age, parked))
    }

    fn put(&mut self, age: u64, parked: Parked, may_rest: bool) {
        let (name, weight) = (parked.row.name.clone(), parked.weight());
        self.bytes += weight;
        self.by_age.insert(age, name.clone());
        if may_rest {
            self.awake.insert(age);
        }
        self.by_name.insert(name, Entry { age, weight, parked });
    }

    /// Takes the oldest out that is awake, if there are too many.
    fn tired(&mut self) -> Option<(u64, Parked)> {
        if self.awake.len() <= AWAKE {
            return None;
        }
        let age = self.awake.first()?;
        let name = self.by_age.get(age)?.clone();
        self.take(&name)
    }
}

impl Pool {
    pub(crate) fn new(bound: u64) -> Self {
        Pool { bound, entries: Mutex::default() }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self, name: &str) -> Option<Parked> {
        self.entries().take(name).map(|(_, parked)| parked)
    }

    pub(crate) fn put(&self, parked: Parked) {
        if parked.weight() > self.bound {
            return;
        }
        let mut out = Vec::new();
        let may_rest = parked.may_rest();
        let mut entries = self.entries();
        out.extend(entries.take(&parked.row.name));
        let age = entries.next;
        entries.next += 1;
        entries.put(age, parked, may_rest);
        let tired = entries.tired();
        while entries.bytes > self.bound {
            let Some(oldest) = entries.by_age.first_key_value() else { break };
            let oldest = oldest.1.clone();
            out.extend(entries.take(&oldest));
        }
        drop(entries);
        // What went is taken apart here, and what rests is laid down, without keeping others waiting.
        drop(out);
        if let Some((age, tired)) = tired {
            let resting = tired.rest();
            let mut entries = self.entries();
            // Somebody may have opened and parked it meanwhile: that one is newer.
            if !entries.by_name.contains_key(&resting.row.name) {
                entries.put(age, resting, false);
            }
        }
    }
}
