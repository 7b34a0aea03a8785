//! Calls: a commit that is made ahead and becomes real when the answer arrives.

use super::commit::Report;
use super::state::{Outcome, State, refusal};
use super::tree::{Class, Node, Tree};
use crate::script::{NodeSpec, Place, Policy, Refusal};

/// A call that is running.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Everything as it was before.
    pub(crate) before: Box<State>,
    /// What is sent.
    pub(crate) snapshot: Tree,
    pub(crate) report: Report,
    /// The stamp that is reserved for the answer.
    pub(crate) answer_stamp: u64,
    /// Whether an operation succeeded since.
    pub(crate) touched: bool,
}

impl State {
    /// Fails if a call is running.
    pub(crate) fn check_idle(&self) -> Result<(), Refusal> {
        match self.call {
            Some(_) => Err(refusal("E_ATTEMPT_RUNNING")),
            None => Ok(()),
        }
    }

    /// Returns the refusal of an operation on this sealed node.
    pub(crate) fn sealed(&self, id: &str) -> Refusal {
        let cycle = self.tree.node(id).cycle;
        match &self.call {
            Some(call) if call.report.cycle == cycle => refusal("E_ATTEMPT_RUNNING"),
            _ => refusal("E_SEALED"),
        }
    }

    /// Fails if a node that may be moved and removed although it is sealed is part of a running request.
    pub(crate) fn check_not_sent(&self, id: &str) -> Result<(), Refusal> {
        let node = self.tree.node(id);
        match &self.call {
            Some(_) if self.is_sealed(node) && !self.tree.in_sealed_core(id) => {
                Err(refusal("E_ATTEMPT_RUNNING"))
            }
            _ => Ok(()),
        }
    }

    /// Begins a call.
    pub(crate) fn begin(&mut self, policy: Option<&Policy>) -> Result<Outcome, Refusal> {
        self.check_idle()?;
        let before = Box::new(self.clone());
        let report = self.commit(policy);
        self.last_stamp += 1;
        self.call = Some(Call {
            before,
            snapshot: self.tree.clone(),
            report: report.clone(),
            answer_stamp: self.last_stamp,
            touched: false,
        });
        Ok(Outcome::Begun(report))
    }

    /// Completes the call; the caller keeps the snapshot.
    pub(crate) fn complete(&mut self, answer: &[NodeSpec]) -> Result<Outcome, Refusal> {
        let Some(call) = self.call.clone() else { return Err(refusal("E_ATTEMPT_NOT_FOUND")) };
        if !answer.is_empty() {
            let core = match self.head_core() {
                Some(core) => core,
                None => {
                    let core = self.create_core();
                    self.answered(&core, call.answer_stamp);
                    core
                }
            };
            let first = self.tree.children(&core).first().map_or(0, |node| node.offset);
            let place = Place::Into { parent: core, offset: Some(first.min(0)) };
            for spec in answer {
                if let Outcome::Added(id) = self.add(&place, spec)? {
                    self.answered(&id, call.answer_stamp);
                }
            }
        }
        self.call = None;
        Ok(Outcome::Committed(call.report))
    }

    /// Gives a node that was created just now the stamp of the answer. The one it got is free again.
    fn answered(&mut self, id: &str, stamp: u64) {
        self.tree.node_mut(id).created_at_ns = stamp;
        self.last_stamp -= 1;
    }

    /// Ends the call without an answer.
    pub(crate) fn cancel(&mut self) -> Result<Outcome, Refusal> {
        let Some(call) = self.call.take() else { return Err(refusal("E_ATTEMPT_NOT_FOUND")) };
        let mut state = *call.before;
        state.handles = self.handles.clone();
        if call.touched {
            state.last_stamp = self.last_stamp;
            for node in call.snapshot.nodes.values() {
                let now = self.tree.node(&node.id).clone();
                // The turn that the commit made may have the id of a node that expired.
                let own = state.tree.nodes.get_mut(&node.id);
                if let Some(own) = own.filter(|own| own.created_at_ns == node.created_at_ns) {
                    own.policy_pin = now.policy_pin;
                    own.policy_priority = now.policy_priority;
                }
            }
            self.keep_late(&mut state, &call.report);
        }
        *self = state;
        Ok(Outcome::Done)
    }

    /// Adds what was added while the call was running.
    fn keep_late(&self, state: &mut State, report: &Report) {
        let mut late: Vec<Node> =
            self.tree.nodes.values().filter(|node| node.cycle == self.cycle).cloned().collect();
        late.sort_by_key(|node| (node.created_at_ns, node.creation_index));
        let (own, new) = (state.head_core(), self.head_core());
        if own.is_some() {
            late.retain(|node| Some(&node.id) != new.as_ref());
        }
        for mut node in late {
            node.cycle = state.cycle;
            node.creation_index = state.next_index;
            state.next_index += 1;
            if node.parent.as_ref() == Some(&report.sealed) {
                node.parent = Some("ah".to_owned());
            } else if own.is_some() && node.parent == new {
                node.parent.clone_from(&own);
            }
            state.tree.nodes.insert(node.id.clone(), node);
        }
    }

    fn head_core(&self) -> Option<String> {
        let is_core = |node: &&&Node| node.class() == Class::Container && self.tree.is_core(node);
        self.tree.children("ah").iter().find(is_core).map(|node| node.id.clone())
    }
}
