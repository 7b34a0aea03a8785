//! The messages that the tree has, and dropping those that the next request no longer contains.

use std::collections::BTreeMap;

use contextree_engine::{CLEARED, Context, NewNode};
use contextree_json::Value;
use contextree_provider::parts::names;
use contextree_provider::read::Role;
use contextree_tree::{Class, Cycle, NodeRef};

use super::units::Opened;
use super::{Session, State, refused};
use crate::error::ImportErrorKind;
use crate::fingerprint::Fingerprint;

/// A message of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) role: Role,
    /// The ids of its blocks. Empty if a request wrote it as several entries and this is not the
    /// first of them.
    pub(crate) nodes: Vec<String>,
    /// The cycle that it was added in. It is sealed once that cycle was committed.
    pub(crate) cycle: Cycle,
    /// Whether the user said it.
    pub(crate) is_prompt: bool,
    /// Whether it summarizes what was dropped.
    pub(crate) is_summary: bool,
    /// The unit that it opened, and its calls.
    pub(super) opened: Opened,
    /// How a request wrote it.
    pub(crate) seen: Option<Seen>,
}

/// How a request wrote a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) fingerprint: Fingerprint,
    /// For a message of a single text: whether its block is recorded as a list.
    pub(crate) listed: Option<bool>,
    /// For an answer: what it says, however the next request writes it.
    pub(crate) essence: Option<Fingerprint>,
}

impl Placed {
    /// Returns an entry of a message that the entries before it have the blocks of.
    pub(crate) fn continued(role: Role, cycle: Cycle, seen: Option<Seen>) -> Self {
        Placed { cycle, seen, ..Placed::of(role) }
    }

    /// Returns a message that a stored context has.
    pub(crate) fn resumed(
        role: Role,
        nodes: Vec<String>,
        cycle: Cycle,
        is_prompt: bool,
        opened: Opened,
        seen: Seen,
    ) -> Self {
        Placed { nodes, cycle, is_prompt, opened, seen: Some(seen), ..Placed::of(role) }
    }

    pub(super) fn of(role: Role) -> Self {
        Placed {
            role,
            nodes: Vec::new(),
            cycle: Cycle::ZERO,
            is_prompt: false,
            is_summary: false,
            opened: Opened::default(),
            seen: None,
        }
    }
}

impl Session<'_> {
    /// Keeps the messages for which `keep` returns true, given their position. The others are
    /// dropped: at once if they are not sealed, otherwise with the next commit.
    pub(crate) fn retain(
        &mut self,
        keep: impl Fn(usize, &Placed) -> bool,
    ) -> Result<(), ImportErrorKind> {
        let cycle = self.context.next_cycle();
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (index, placed) in std::mem::take(&mut self.state.window).into_iter().enumerate() {
            if keep(index, &placed) { kept.push(placed) } else { gone.push(placed) }
        }
        self.state.window = kept;
        for placed in gone {
            self.state.units.close(&placed.opened);
            if placed.cycle == cycle {
                for node in &placed.nodes {
                    self.context.remove(node).map_err(refused)?;
                }
            } else {
                self.state.drop.extend(placed.nodes);
            }
        }
        let window = &self.state.window;
        let is_kept = |id: &String| window.iter().any(|it| it.nodes.first() == Some(id));
        if !self.state.serves.as_ref().is_some_and(is_kept) {
            let prompt = window.iter().rev().find(|it| it.is_prompt);
            self.state.serves = prompt.and_then(|it| it.nodes.first()).cloned();
        }
        Ok(())
    }

    /// Notes that the client left the results of these calls out of the next request, and kept the
    /// calls: the next commit puts a placeholder in the place of each.
    pub(crate) fn clear_results(&mut self, calls: &[Box<str>]) {
        let tree = self.context.working();
        let is_meant = |id: &&String| {
            let Some(node) = tree.get(id).filter(|node| node.kind() == Some("result")) else {
                return false;
            };
            let own = node.attribute(names::TOOL_CALL_ID).or(node.attribute(names::CALL_ID));
            let own = own.and_then(Value::as_str);
            own.is_some_and(|own| calls.iter().any(|call| **call == *own))
                && node.attribute(CLEARED).is_none()
        };
        let all = self.state.window.iter().flat_map(|placed| &placed.nodes);
        let meant: Vec<String> = all.filter(is_meant).cloned().collect();
        self.state.clear.extend(meant);
    }

    /// Returns the position of the first message that no request has repeated yet: the answer to the
    /// newest one.
    pub(crate) fn first_answer(&self) -> usize {
        let cycle = self.context.next_cycle();
        let is_answer = |placed: &Placed| {
            placed.cycle == cycle && placed.seen.is_some_and(|seen| seen.essence.is_some())
        };
        let window = &self.state.window;
        let after = window.iter().rposition(|placed| !is_answer(placed));
        after.map_or(0, |last| last + 1)
    }

    /// Returns whether there are messages that were not committed.
    pub(crate) fn has_uncommitted(&self) -> bool {
        let cycle = self.context.next_cycle();
        self.state.window.last().is_some_and(|last| last.cycle == cycle)
    }
}

impl State {
    /// Returns what the next commit drops, without taking it.
    pub(crate) fn unsealed_drop(&self) -> Vec<String> {
        self.drop.clone()
    }

    /// Drops nodes with the next commit after all, because the last one was not made.
    pub(crate) fn restore_drop(&mut self, nodes: Vec<String>) {
        self.drop.splice(0..0, nodes);
    }

    /// Returns the results that the next commit replaces by placeholders.
    pub(super) fn take_clear(&mut self) -> Vec<String> {
        std::mem::take(&mut self.clear)
    }

    /// Puts placeholders into the window, where the results are that a commit has cleared.
    pub(super) fn note_placeholders(&mut self, context: &Context, cleared: &[String]) {
        let tree = context.working();
        let is_for = |id: &str, result: &str| {
            let node = tree.get(id)?;
            (node.attribute(CLEARED)?.as_str()? == result).then_some(())
        };
        let nodes = self.window.iter_mut().flat_map(|placed| &mut placed.nodes);
        for node in nodes.filter(|node| cleared.contains(node)) {
            // The engine adds the first number that is free.
            let mut ids = (2..100).map(|number| format!("{node}~{number}"));
            if let Some(placeholder) = ids.find(|id| is_for(id, node).is_some()) {
                *node = placeholder;
            }
        }
    }

    /// Notes the newest user message of a stored context.
    pub(crate) fn resume_prompt(&mut self, node: Option<&String>) {
        self.serves = node.cloned();
    }

    /// Notes the units of a message of a stored context.
    pub(crate) fn resume_units<'n>(
        &mut self,
        role: Role,
        nodes: impl Iterator<Item = NodeRef<'n>>,
    ) -> Opened {
        self.units.resume(role, nodes)
    }

    /// Notes what a stored context has in `^sys`: `preamble` is what a request would contain that renders it.
    pub(crate) fn resume_system(&mut self, context: &Context, preamble: Vec<NewNode>) {
        self.system.resume(context, preamble);
    }

    /// Returns the nodes that the next commit drops. Turns that lose all their blocks are dropped as
    /// a whole.
    pub(crate) fn take_drop(&mut self, context: &Context) -> Vec<String> {
        let tree = context.working();
        let mut turns: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
        let mut order: Vec<&str> = Vec::new();
        for id in std::mem::take(&mut self.drop) {
            let Some(node) = tree.resolve(&id) else { continue };
            let Some(turn) = node.ancestors().find(|above| above.class() == Class::Turn) else {
                continue;
            };
            let blocks = || {
                let below = turn.subtree();
                below.filter(|(_, node)| node.class() == Class::Block).count()
            };
            let entry = turns.entry(turn.id()).or_insert_with(|| {
                order.push(turn.id());
                (blocks(), Vec::new())
            });
            entry.1.push(id);
        }
        let mut all = Vec::new();
        for turn in order {
            let Some((blocks, dropped)) = turns.remove(turn) else { continue };
            if dropped.len() == blocks {
                all.push(turn.to_owned());
            } else {
                all.extend(dropped);
            }
        }
        all
    }
}
