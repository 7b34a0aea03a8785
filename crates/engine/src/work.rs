//! The working state, and everything that an operation or a commit needs from its context.

use std::sync::Arc;

use contextree_canon::Limits;
use contextree_canon::record::SHARED_FROM;
use contextree_selector::Edition;
use contextree_tree::{Body, Cycle, Draft, NodeData, NodeKey, Region, Scalar, Tree, Vocabulary};

use crate::call::RunningCall;
use crate::clock::{Clock, IdRequest, IdRole, IdSource};
use crate::place::core_of;
use crate::policy::Policy;
use crate::report::{Operation, Warning};

/// The counters of a context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// The latest creation stamp ever assigned.
    pub(crate) last_ns: i64,
    /// The creation index of the next node.
    pub(crate) next_index: u32,
    /// The changes since the last commit.
    pub(crate) operations: Vec<Operation>,
    pub(crate) warnings: Vec<Warning>,
}

/// A saved state of counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountersMark {
    last_ns: i64,
    next_index: u32,
    operations: usize,
    warnings: usize,
}

impl Counters {
    /// Saves the state. Until the last step of a successful commit, the lists only grow, so their
    /// lengths suffice.
    pub(crate) fn mark(&self) -> CountersMark {
        CountersMark {
            last_ns: self.last_ns,
            next_index: self.next_index,
            operations: self.operations.len(),
            warnings: self.warnings.len(),
        }
    }

    /// Restores a saved state.
    pub(crate) fn roll_back(&mut self, mark: CountersMark) {
        self.last_ns = mark.last_ns;
        self.next_index = mark.next_index;
        self.operations.truncate(mark.operations);
        self.warnings.truncate(mark.warnings);
    }
}

/// The options of a context.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) edition: Edition,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    /// What commits prune that are not told otherwise.
    pub(crate) policy: Option<Policy>,
    /// No content is kept apart from the records.
    pub(crate) inline_contents: bool,
}

impl Settings {
    /// Returns from how many bytes on a content is kept apart from the records.
    pub(crate) fn shared_from(&self) -> usize {
        if self.inline_contents { usize::MAX } else { SHARED_FROM }
    }
}

/// The largest ttl of a node; added to the highest cycle it still fits 32 bits.
pub(crate) const MAX_TTL: i64 = 1 << 30;
/// The highest number of a commit.
pub(crate) const MAX_CYCLE: Cycle = Cycle(1 << 31);

/// A draft to which one operation or one commit is applied.
pub(crate) struct Work<'a> {
    pub(crate) draft: &'a mut Draft,
    pub(crate) counters: &'a mut Counters,
    pub(crate) settings: &'a Settings,
    pub(crate) last: Option<&'a Tree>,
    /// The time, if the clock was read once for several nodes.
    pub(crate) now: Option<i64>,
    /// The stamp of every node that is created, where it was reserved ahead.
    pub(crate) reserved: Option<i64>,
    /// The call that is running, whose request must stay as it is.
    pub(crate) running: Option<&'a RunningCall>,
}

/// The creation stamp of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) nanoseconds: i64,
    pub(crate) index: u32,
}

impl Stamp {
    pub(crate) fn put<T, B>(self, data: &mut NodeData<T, B>, cycle: Cycle) {
        data.cycle = cycle;
        data.created_at_ns = self.nanoseconds;
        data.creation_index = self.index;
    }
}

impl Work<'_> {
    /// Returns the number of the next commit.
    pub(crate) fn cycle(&self) -> Cycle {
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

    /// Returns the commit at which a node created now expires.
    pub(crate) fn expiry(&self, ttl: i64) -> Option<Cycle> {
        Some(self.cycle().plus(u32::try_from(ttl).ok()?))
    }

    /// Returns an unused id.
    pub(crate) fn make_id(&self, role: IdRole, index: u32) -> String {
        let id = self.wanted_id(role, index);
        if !self.is_taken(&id) {
            return id;
        }
        let mut others = (2_u32..).map(|count| format!("{id}~{count}"));
        others.find(|id| !self.is_taken(id)).expect("an unused id exists")
    }

    fn wanted_id(&self, role: IdRole, index: u32) -> String {
        let vocabulary = self.settings.vocabulary;
        self.settings.ids.id(IdRequest { role, cycle: self.cycle(), index, vocabulary })
    }

    /// Returns the id that the head's core would get now.
    pub(crate) fn core_id(&self, index: u32) -> String {
        self.make_id(IdRole::Core, index)
    }

    /// Creates the core of the head, which takes over what is directly at offset 0.
    pub(crate) fn create_core(&mut self) -> (NodeKey, String) {
        let stamp = self.stamp();
        let id = self.core_id(stamp.index);
        let node_type = self.settings.vocabulary.container();
        let mut data = NodeData::with_body(&*id, node_type, Body::default());
        stamp.put(&mut data, self.cycle());
        let head = self.draft.view().region(Region::Head).key_of();
        debug_assert!(core_of(self.draft.view().region(Region::Head)).is_none());
        let core = self.draft.insert(head, data);
        self.gather(core);
        (core, id)
    }

    /// Moves what an imported head has directly at offset 0 into its new core, so that the turn has
    /// exactly one. Offsets and stamps stay, and so does the order of the thread.
    pub(crate) fn gather(&mut self, core: NodeKey) {
        let head = self.draft.view().region(Region::Head);
        let direct: Vec<(NodeKey, Scalar)> = head
            .children_at(Scalar::ZERO)
            .filter(|child| child.key_of() != core)
            .map(|child| (child.key_of(), child.offset()))
            .collect();
        for (node, offset) in direct {
            self.draft.relocate(node, core, offset);
        }
    }

    /// Records an operation for the report of the commit.
    pub(crate) fn note(&mut self, operation: &'static str, node: &str, on_behalf_of: &str) {
        self.counters.operations.push(Operation {
            operation,
            node: node.to_owned(),
            on_behalf_of: on_behalf_of.to_owned(),
        });
    }
}
