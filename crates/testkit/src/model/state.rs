//! The model and its working state: stamps, ids, and how a step is applied or refused.

use std::collections::BTreeMap;

use super::calls::Call;
use super::commit::Report;
use super::tree::{Class, FIXED, Node, Tree};
use crate::script::{Refusal, Step};

/// A context that keeps everything in full copies.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) state: State,
    pub(crate) snapshots: Vec<Snapshot>,
}

/// The effect of a step that was not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A node was added; its id.
    Added(String),
    /// A node was moved; old and new ids of the nodes that were created again, in document order.
    Moved(Vec<(String, String)>),
    /// Anything else; also the outcome of a batch.
    Done,
    /// A commit was made, or a call completed.
    Committed(Report),
    /// A call has begun.
    Begun(Report),
}

/// The tree after a commit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) cycle: u64,
    pub(crate) tree: Tree,
}

/// Everything that a step can change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) tree: Tree,
    /// The number of the next commit.
    pub(crate) cycle: u64,
    /// The largest stamp that any node ever had.
    pub(crate) last_stamp: u64,
    /// The index of the next node of this cycle.
    pub(crate) next_index: u64,
    /// The nodes of the last snapshot, whose ids stay taken until the next one: parent and offset.
    pub(crate) committed: BTreeMap<String, (Option<String>, i64)>,
    /// The number of handles by id.
    pub(crate) handles: BTreeMap<String, u64>,
    /// The call that is running.
    pub(crate) call: Option<Call>,
}

impl Model {
    /// Creates a context: edition 0.3 vocabulary, a clock that always returns 0, generated ids.
    #[expect(clippy::new_without_default, reason = "the engine is not made by default either")]
    pub fn new() -> Model {
        let state = State {
            tree: Tree::new(),
            cycle: 1,
            last_stamp: 0,
            next_index: 0,
            committed: BTreeMap::new(),
            handles: BTreeMap::new(),
            call: None,
        };
        Model { state, snapshots: Vec::new() }
    }

    /// Applies one step.
    ///
    /// # Errors
    ///
    /// If the step is refused; it then changes nothing. A batch is refused for the first of its
    /// steps that is.
    pub fn apply(&mut self, step: &Step) -> Result<Outcome, Refusal> {
        let before = self.state.clone();
        match self.state.apply(step) {
            Ok(outcome) => {
                if let Outcome::Committed(report) = &outcome {
                    // A call that was completed was committed when it began.
                    let sent = before.call.map(|call| call.snapshot);
                    let tree = sent.unwrap_or_else(|| self.state.tree.clone());
                    self.snapshots.push(Snapshot { cycle: report.cycle, tree });
                }
                Ok(outcome)
            }
            Err(refusal) => {
                self.state = before;
                Err(refusal)
            }
        }
    }

    /// Returns the ids of the working tree in document order, with the root and the regions.
    pub fn working_ids(&self) -> Vec<String> {
        self.state.tree.subtree_ids("root")
    }

    /// Returns the number of snapshots.
    pub fn snapshot_count(&self) -> usize {
        self.snapshots.len()
    }

    /// Returns a copy without history, on which steps can be tried; ids of the last snapshot stay
    /// taken.
    pub(crate) fn draft(&self) -> Model {
        Model { state: self.state.clone(), snapshots: Vec::new() }
    }
}

impl State {
    /// Applies a step; after a refusal, the caller discards the state.
    fn apply(&mut self, step: &Step) -> Result<Outcome, Refusal> {
        let outcome = self.apply_one(step)?;
        let is_operation = !matches!(step, Step::Retain { .. } | Step::Release { .. });
        if let Some(call) = self.call.as_mut().filter(|_| is_operation) {
            call.touched = !matches!(step, Step::Begin { .. } | Step::Batch(_)) || call.touched;
        }
        Ok(outcome)
    }

    fn apply_one(&mut self, step: &Step) -> Result<Outcome, Refusal> {
        match step {
            Step::Add { place, node } => self.add(place, node),
            Step::Edit { node, content, set, unset } => {
                self.edit(node, content.as_ref(), set, unset)
            }
            Step::Remove { node } => self.remove(node),
            Step::Move { node, place } => self.relocate(node, place),
            Step::SetPriority { node, priority, policy } => {
                self.set_priority(node, *priority, policy)
            }
            Step::Pin { node } => self.set_pinned(node, true),
            Step::Unpin { node } => self.set_pinned(node, false),
            Step::Retain { node } => self.retain(node),
            Step::Release { node } => self.release(node),
            Step::Batch(steps) => {
                for step in steps {
                    self.apply(step)?;
                }
                Ok(Outcome::Done)
            }
            Step::Commit { policy } => {
                self.check_idle()?;
                Ok(Outcome::Committed(self.commit(policy.as_ref())))
            }
            Step::Begin { policy } => self.begin(policy.as_ref()),
            Step::Complete { answer } => self.complete(answer),
            Step::Cancel | Step::Fail => self.cancel(),
        }
    }

    /// Returns whether a node existed before this cycle.
    pub(crate) fn is_sealed(&self, node: &Node) -> bool {
        node.cycle != self.cycle
    }

    /// Returns whether an id is taken; the four words name nodes, so they are taken.
    pub(crate) fn is_taken(&self, id: &str) -> bool {
        self.tree.nodes.contains_key(id)
            || self.committed.contains_key(id)
            || self.call.as_ref().is_some_and(|call| call.before.tree.nodes.contains_key(id))
            || FIXED.iter().any(|(_, word)| *word == id)
    }

    /// Returns the stamp of the next node, without using it.
    pub(crate) fn coming_stamp(&self) -> (u64, u64) {
        (self.last_stamp + 1, self.next_index)
    }

    /// Stamps a node as created now.
    pub(crate) fn stamp(&mut self, node: &mut Node) {
        (node.created_at_ns, node.creation_index) = self.coming_stamp();
        node.cycle = self.cycle;
        self.last_stamp += 1;
        self.next_index += 1;
    }

    /// Returns a free id for a node of this class and index.
    pub(crate) fn made_id(&self, class: Class, is_core: bool, index: u64) -> String {
        let cycle = self.cycle;
        let wanted = match class {
            Class::Turn => format!("seg:{cycle}"),
            Class::Container if is_core => format!("cont:{cycle}"),
            Class::Container => format!("cont:{cycle}.{index}"),
            Class::Block | Class::Fixed => format!("block:{cycle}.{index}"),
        };
        let mut id = wanted.clone();
        let mut number = 2;
        while self.is_taken(&id) {
            id = format!("{wanted}~{number}");
            number += 1;
        }
        id
    }

    /// Creates the core of the head, with what is directly at offset 0 in it, and returns its id.
    pub(crate) fn create_core(&mut self) -> String {
        let mut core = Node::bare("", "cont", Some("ah"));
        self.stamp(&mut core);
        core.id = self.made_id(Class::Container, true, core.creation_index);
        let id = core.id.clone();
        self.tree.nodes.insert(id.clone(), core);
        self.gather(&id);
        id
    }

    /// Moves what is directly at offset 0 of the head into its core.
    pub(crate) fn gather(&mut self, core: &str) {
        for node in self.tree.nodes.values_mut() {
            if node.parent.as_deref() == Some("ah") && node.offset == 0 && node.id != core {
                node.parent = Some(core.to_owned());
            }
        }
    }
}

/// Returns the refusal of an invalid placement.
pub(crate) fn invalid(reason: &str) -> Refusal {
    Refusal { code: "E_INVALID_PLACEMENT".to_owned(), reason: reason.to_owned() }
}

/// Returns a refusal without a finer reason.
pub(crate) fn refusal(code: &str) -> Refusal {
    Refusal { code: code.to_owned(), reason: String::new() }
}
