//! The working state and everything that an operation or a commit needs of its context.

use std::sync::Arc;

use contextree_canon::Limits;
use contextree_selector::Edition;
use contextree_tree::{Body, Draft, NodeData, NodeKey, Region, Tree, Vocabulary};

use crate::call::RunningCall;
use crate::clock::{Clock, IdRequest, IdRole, IdSource};
use crate::place::core_of;
use crate::report::{Operation, Warning};

/// What a context counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// The latest creation stamp that was ever given.
    pub(crate) last_ns: i64,
    /// The creation index that the next node gets.
    pub(crate) next_index: u32,
    /// What was done since the last commit.
    pub(crate) operations: Vec<Operation>,
    pub(crate) warnings: Vec<Warning>,
}

/// Where counters stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountersMark {
    last_ns: i64,
    next_index: u32,
    operations: usize,
    warnings: usize,
}

impl Counters {
    /// Returns where they stand. Until a commit succeeds, its last step, what they list only grows.
    pub(crate) fn mark(&self) -> CountersMark {
        CountersMark {
            last_ns: self.last_ns,
            next_index: self.next_index,
            operations: self.operations.len(),
            warnings: self.warnings.len(),
        }
    }

    /// Goes back to where they stood.
    pub(crate) fn roll_back(&mut self, mark: CountersMark) {
        self.last_ns = mark.last_ns;
        self.next_index = mark.next_index;
        self.operations.truncate(mark.operations);
        self.warnings.truncate(mark.warnings);
    }
}

/// What a context was opened with.
pub(crate) struct Settings {
    pub(crate) edition: Edition,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

/// The longest ttl that a node can be given; together with the highest cycle it can still be counted.
pub(crate) const MAX_TTL: i64 = 1 << 30;
/// The highest number of a commit.
pub(crate) const MAX_CYCLE: u32 = 1 << 31;

/// A draft, on which one operation or one commit is carried out.
pub(crate) struct Work<'a> {
    pub(crate) draft: &'a mut Draft,
    pub(crate) counters: &'a mut Counters,
    pub(crate) settings: &'a Settings,
    pub(crate) last: Option<&'a Tree>,
    /// The clock's answer, where it was asked once for all.
    pub(crate) now: Option<i64>,
    /// The stamp of every node that is created, where it was reserved ahead.
    pub(crate) reserved: Option<i64>,
    /// The call that is running, whose request must stay as it is.
    pub(crate) running: Option<&'a RunningCall>,
}

/// When a node was created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) nanoseconds: i64,
    pub(crate) index: u32,
}

impl Stamp {
    pub(crate) fn put<T, B>(self, data: &mut NodeData<T, B>, cycle: u32) {
        data.cycle = cycle;
        data.created_at_ns = self.nanoseconds;
        data.creation_index = self.index;
    }
}

impl Work<'_> {
    /// The number of the coming commit.
    pub(crate) fn cycle(&self) -> u32 {
        self.draft.view().next_cycle()
    }

    pub(crate) fn next_index(&self) -> u32 {
        self.counters.next_index
    }

    pub(crate) fn node_count(&self) -> usize {
        self.draft.view().node_count()
    }

    /// Returns the stamp of the next node.
    pub(crate) fn stamp(&mut self) -> Stamp {
        let now = self.now.unwrap_or_else(|| self.settings.clock.now_ns());
        let next = || now.max(self.counters.last_ns.saturating_add(1));
        let nanoseconds = self.reserved.unwrap_or_else(next);
        let index = self.counters.next_index;
        self.counters.last_ns = nanoseconds.max(self.counters.last_ns);
        self.counters.next_index += 1;
        Stamp { nanoseconds, index }
    }

    /// The commit at which a node that is created now expires.
    pub(crate) fn expiry(&self, ttl: i64) -> Option<u32> {
        Some(self.cycle() + u32::try_from(ttl).ok()?)
    }

    /// Makes an id that is free.
    pub(crate) fn make_id(&self, role: IdRole, index: u32) -> String {
        let id = self.wanted_id(role, index);
        if !self.is_taken(&id) {
            return id;
        }
        let mut others = (2_u32..).map(|count| format!("{id}~{count}"));
        others.find(|id| !self.is_taken(id)).expect("one of endlessly many ids is free")
    }

    fn wanted_id(&self, role: IdRole, index: u32) -> String {
        let vocabulary = self.settings.vocabulary;
        self.settings.ids.id(IdRequest { role, cycle: self.cycle(), index, vocabulary })
    }

    /// The id that the head's core would get now.
    pub(crate) fn core_id(&self, index: u32) -> String {
        self.make_id(IdRole::Core, index)
    }

    /// Creates the core of the head.
    pub(crate) fn create_core(&mut self) -> (NodeKey, String) {
        let stamp = self.stamp();
        let id = self.core_id(stamp.index);
        let node_type = self.settings.vocabulary.container();
        let mut data = NodeData::with_body(&*id, node_type, Body::default());
        stamp.put(&mut data, self.cycle());
        let head = self.draft.view().region(Region::Head).key_of();
        debug_assert!(core_of(self.draft.view().region(Region::Head)).is_none());
        (self.draft.insert(head, data), id)
    }

    /// Remembers what was done, for the report of the commit.
    pub(crate) fn note(&mut self, operation: &'static str, node: &str, on_behalf_of: &str) {
        self.counters.operations.push(Operation {
            operation,
            node: node.to_owned(),
            on_behalf_of: on_behalf_of.to_owned(),
        });
    }
}
