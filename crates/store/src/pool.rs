//! The contexts that this process has open, and those it keeps open for the next one who asks.
//!
//! Everyone who uses a context shares one [`Slot`]: a second reader or writer loads nothing. A slot that no one uses any
//! more is *idle*. The idle ones that were used last stay as they are; small ones that were used before those are
//! *packed*: they take little more memory than their content, and unpacking takes less time than a disk needs to answer.
//! Together, idle and packed contexts stay below a bound; beyond it, those that were not used for longest are evicted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use contextree_engine::Resting;

use crate::checkpoint::Spacing;
use crate::error::{Result, StoreError};
use crate::rows::{ContextRow, Stretch};
use crate::settings::ContextSettings;
use crate::slot::{Lease, Slot, Writer};
use crate::state::{Newest, State};
use crate::store::Shared;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// How many small idle contexts stay unpacked.
const UNPACKED: usize = 64;

/// A context with more nodes than this is not packed: unpacking it would take too long.
const SMALL: usize = 2_000;

/// What the pool knows of a context.
enum Held {
    /// Someone uses it.
    InUse(Weak<Lease>),
    /// No one uses it, and it is as it was.
    Idle(Arc<Slot>),
    /// No one uses it, and it takes little memory.
    Packed(Box<Packed>),
}

/// A context in few bytes.
struct Packed {
    context: Resting,
    row: ContextRow,
    settings: Arc<ContextSettings>,
    lineage: Arc<[Stretch]>,
    spacing: Spacing,
}

impl Packed {
    /// Packs an idle context. Fails if something was done since its newest snapshot, or if it was only read.
    fn new(slot: &Slot) -> Option<Packed> {
        let state = slot.latest()?;
        let mut writer = slot.take_writer()?;
        if !writer.is_at(&state.row) {
            return None;
        }
        match writer.context.rest() {
            Ok(context) => Some(Packed {
                context,
                row: state.row.clone(),
                settings: Arc::clone(&state.settings),
                lineage: Arc::clone(state.lineage()),
                spacing: writer.spacing,
            }),
            Err(context) => {
                writer.context = *context;
                *slot.lock_writer() = Some(writer);
                None
            }
        }
    }

    fn unpack(self, shared: &Shared) -> Result<Slot> {
        let context = self.context.wake().map_err(|error| StoreError::Backend {
            message: format!("a context in memory is damaged: {error}"),
        })?;
        let tail = context.tail().ok_or_else(|| StoreError::Backend {
            message: "a context in memory has no snapshot".to_owned(),
        })?;
        let writer = Writer {
            context,
            id: self.row.id,
            revision: self.row.revision,
            spacing: self.spacing,
            journal: contextree_tree::Log::default(),
            is_stale: false,
        };
        let newest = Newest { tail: Arc::new(tail), spacing: self.spacing };
        let backend = Arc::clone(&shared.backend);
        let state = State::unpacked(self.row, self.settings, backend, self.lineage, newest);
        Ok(Slot::new(Some(Arc::new(state)), Some(Box::new(writer))))
    }

    fn weight(&self) -> u64 {
        2_048 + self.context.bytes() as u64
    }
}

/// About how many bytes an idle context takes: rows of nodes, and what was read.
fn weight_of(state: &State) -> u64 {
    state.loaded().map_or(4_096, |Newest { tail, spacing }| {
        4_096 + tail.node_count() as u64 * 320 + spacing.checkpoint + spacing.since
    })
}

/// True if an idle context may be packed.
fn is_small(state: &State) -> bool {
    state.loaded().is_some_and(|newest| newest.tail.node_count() <= SMALL)
}

struct Entry {
    age: u64,
    weight: u64,
    held: Held,
}

#[derive(Default)]
struct Entries {
    by_name: BTreeMap<String, Entry>,
    /// Names of those that no one uses, in the order of their last use.
    by_age: BTreeMap<u64, String>,
    /// Ages of those that may be packed.
    unpacked: BTreeSet<u64>,
    next: u64,
    bytes: u64,
}

impl Entries {
    fn take(&mut self, name: &str) -> Option<Entry> {
        let entry = self.by_name.remove(name)?;
        if !matches!(entry.held, Held::InUse(_)) {
            self.by_age.remove(&entry.age);
            self.unpacked.remove(&entry.age);
            self.bytes -= entry.weight;
        }
        Some(entry)
    }

    fn put(&mut self, name: &str, entry: Entry, may_pack: bool) {
        self.bytes += entry.weight;
        self.by_age.insert(entry.age, name.to_owned());
        if may_pack {
            self.unpacked.insert(entry.age);
        }
        self.by_name.insert(name.to_owned(), entry);
    }

    fn lease(&mut self, name: &str, lease: &Arc<Lease>) {
        let held = Held::InUse(Arc::downgrade(lease));
        self.by_name.insert(name.to_owned(), Entry { age: 0, weight: 0, held });
    }

    fn in_use(&self, name: &str) -> Option<Arc<Lease>> {
        match &self.by_name.get(name)?.held {
            Held::InUse(lease) => lease.upgrade(),
            _ => None,
        }
    }

    /// Takes out the context to be packed next, if too many are unpacked.
    fn pack_candidate(&mut self) -> Option<(String, Entry)> {
        if self.unpacked.len() <= UNPACKED {
            return None;
        }
        let name = self.by_age.get(self.unpacked.first()?)?.clone();
        let entry = self.take(&name)?;
        Some((name, entry))
    }

    /// Takes out the context to be evicted next, if all together are too large.
    fn evict_candidate(&mut self, bound: u64) -> Option<Entry> {
        if self.bytes <= bound {
            return None;
        }
        let name = self.by_age.first_key_value()?.1.clone();
        self.take(&name)
    }

    /// Fails if what is counted is not what there is.
    #[cfg(test)]
    fn check(&self) {
        let mut ages = BTreeMap::new();
        let mut bytes = 0;
        for (name, entry) in &self.by_name {
            if !matches!(entry.held, Held::InUse(_)) {
                ages.insert(entry.age, name.clone());
                bytes += entry.weight;
            }
        }
        assert_eq!((&ages, bytes), (&self.by_age, self.bytes), "idle contexts are counted");
        assert!(self.unpacked.iter().all(|age| ages.contains_key(age)), "so are unpacked ones");
    }
}

/// The contexts that this process has in memory.
pub(crate) struct Pool {
    bound: u64,
    entries: Mutex<Entries>,
}

impl Pool {
    pub(crate) fn new(bound: u64) -> Self {
        Pool { bound, entries: Mutex::default() }
    }

    /// Returns about how many bytes contexts may take that no one uses.
    pub(crate) fn bound(&self) -> u64 {
        self.bound
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if what is counted is not what there is.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        self.entries().check();
    }

    /// Returns the lease that everyone who uses a context shares.
    pub(crate) fn lease(&self, shared: &Arc<Shared>, name: &str) -> Result<Arc<Lease>> {
        let lease = |slot: Arc<Slot>| {
            Arc::new(Lease { shared: Arc::clone(shared), name: name.to_owned(), slot })
        };
        let mut entries = self.entries();
        if let Some(lease) = entries.in_use(name) {
            return Ok(lease);
        }
        let slot = match entries.take(name).map(|entry| entry.held) {
            Some(Held::Idle(slot)) => slot,
            Some(Held::Packed(packed)) => {
                // Unpacking takes a while: others should not wait for it.
                drop(entries);
                let slot = Arc::new(packed.unpack(shared)?);
                entries = self.entries();
                if let Some(lease) = entries.in_use(name) {
                    return Ok(lease);
                }
                // Another thread used it meanwhile and put it back: that one is newer, and counted.
                match entries.take(name).map(|entry| entry.held) {
                    Some(Held::Idle(newer)) => newer,
                    _ => slot,
                }
            }
            // A lease that cannot be upgraded is just being dropped.
            Some(Held::InUse(_)) | None => Arc::default(),
        };
        let lease = lease(slot);
        entries.lease(name, &lease);
        Ok(lease)
    }

    /// Keeps a context whose last lease was dropped for the next one who asks.
    pub(crate) fn release(&self, name: &str, slot: &Arc<Slot>) {
        let (state, cached) = slot.put_away().unzip();
        let weight = state.as_ref().map(|state| weight_of(state) + cached.unwrap_or_default());
        let mut entries = self.entries();
        if entries.in_use(name).is_some() {
            // Another thread opened the context again before this one got here.
            return;
        }
        let mut evicted = vec![entries.take(name)];
        let (Some(state), Some(weight)) = (state, weight.filter(|weight| *weight <= self.bound))
        else {
            return;
        };
        let age = entries.next;
        entries.next += 1;
        let held = Held::Idle(Arc::clone(slot));
        entries.put(name, Entry { age, weight, held }, is_small(&state));
        let candidate = entries.pack_candidate();
        while let Some(entry) = entries.evict_candidate(self.bound) {
            evicted.push(Some(entry));
        }
        drop(entries);
        // Dropping and packing take a while: others should not wait for it.
        drop(evicted);
        if let Some((name, Entry { age, weight, held: Held::Idle(slot) })) = candidate {
            let (weight, held) = match Packed::new(&slot) {
                Some(packed) => (packed.weight(), Held::Packed(Box::new(packed))),
                None => (weight, Held::Idle(slot)),
            };
            let mut entries = self.entries();
            // If the context was opened meanwhile, that one is newer.
            if !entries.by_name.contains_key(&name) {
                entries.put(&name, Entry { age, weight, held }, false);
            }
        }
    }
}
