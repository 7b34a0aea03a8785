//! A tree as a list of rows in document order, with what was removed since another state.
//!
//! A viewer of a large tree draws a few rows of it. The list says which ones, so that only their headers and contents are read.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree::diff::{Diff, diff};
use contextree::tokens::TokenCounter;
use contextree::tree::NodeKey;
use contextree::{NodeRef, TreeRef};

use super::State;
use crate::{Control, Error};

/// How a row differs from the state that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Not at all.
    Same,
    /// It is new.
    Added,
    /// Some of its fields differ.
    Changed,
    /// Only the older state has it.
    Removed,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    key: NodeKey,
    /// Levels below the root.
    pub(crate) depth: u32,
    /// The position after the last row below it.
    pub(crate) end: u32,
    pub(crate) mark: Mark,
}

/// A tree as a list of rows.
pub(crate) struct Outline {
    newer: Arc<State>,
    older: Option<Arc<State>>,
    rows: Vec<Row>,
}

/// Sums over each row and everything below it.
pub(crate) struct Sums {
    pub(crate) bytes: Vec<u64>,
    /// Empty if tokens were not counted.
    pub(crate) tokens: Vec<u64>,
}

impl Outline {
    /// Lists the rows of a state; if another one is given, with those that only that one has.
    pub(crate) fn new(newer: State, older: Option<State>) -> Outline {
        let diff =
            older.as_ref().map_or_else(Diff::default, |older| diff(older.tree(), newer.tree()));
        let mut rows = Vec::with_capacity(newer.tree().node_count() + diff.removed.len());
        {
            let marks = Marks::new(&diff);
            let ghosts = Ghosts::new(&diff, older.as_ref().map(State::tree));
            push(newer.tree().root(), false, 0, &marks, &ghosts, &mut rows);
        }
        Outline { newer: Arc::new(newer), older: older.map(Arc::new), rows }
    }

    /// Returns the rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the state.
    pub(crate) fn state(&self) -> &State {
        &self.newer
    }

    /// Returns the older state.
    pub(crate) fn older(&self) -> Option<&State> {
        self.older.as_deref()
    }

    /// Returns the node of a row.
    pub(crate) fn node(&self, row: &Row) -> Option<NodeRef<'_>> {
        match (row.mark, &self.older) {
            (Mark::Removed, Some(older)) => older.tree().at(row.key),
            _ => self.newer.tree().at(row.key),
        }
    }

    /// Returns the position of a node; `None` if the state does not have it.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        let newer = self.newer.tree().resolve(id).map(NodeRef::node_key);
        let older = || self.older.as_ref().and_then(|older| older.tree().get(id));
        let (key, is_removed) = match newer {
            Some(key) => (key, false),
            None => (older()?.node_key(), true),
        };
        self.rows.iter().position(|row| row.key == key && (row.mark == Mark::Removed) == is_removed)
    }

    /// Computes sums over subtrees. Removed rows count nothing: the state does not have them.
    pub(crate) fn sums(
        &self,
        counter: Option<&TokenCounter>,
        control: &Control<'_>,
    ) -> Result<Sums, Error> {
        let mut bytes = vec![0; self.rows.len()];
        let mut tokens = vec![0; counter.map_or(0, |_| self.rows.len())];
        let mut open: Vec<usize> = Vec::new();
        for (position, row) in self.rows.iter().enumerate() {
            if position % 1_024 == 0 {
                control.check()?;
            }
            open.truncate(row.depth as usize);
            open.push(position);
            let Some(node) = self.node(row).filter(|_| row.mark != Mark::Removed) else { continue };
            let length = node.content().byte_len() as u64;
            let count = counter.map_or(0, |counter| counter.count_node(node));
            if length == 0 && count == 0 {
                continue;
            }
            for above in &open {
                bytes[*above] += length;
                if counter.is_some() {
                    tokens[*above] += count;
                }
            }
        }
        Ok(Sums { bytes, tokens })
    }

    /// Returns about how many bytes the list takes.
    pub(crate) fn weight(&self) -> usize {
        4_096 + self.rows.len() * 16
    }
}

/// The ids that differ.
struct Marks<'d> {
    by_id: BTreeMap<&'d str, Mark>,
}

impl<'d> Marks<'d> {
    fn new(diff: &'d Diff) -> Marks<'d> {
        let added = diff.added.iter().map(|id| (id.as_str(), Mark::Added));
        let changed = diff.changed.iter().map(|changed| (changed.id.as_str(), Mark::Changed));
        Marks { by_id: added.chain(changed).collect() }
    }

    fn of(&self, node: NodeRef<'_>) -> Mark {
        match self.by_id.is_empty() {
            true => Mark::Same,
            false => self.by_id.get(node.id()).copied().unwrap_or(Mark::Same),
        }
    }
}

/// Nodes that only the older state has, by the parent that they had, in canonical order.
struct Ghosts<'t> {
    below: BTreeMap<&'t str, Vec<NodeRef<'t>>>,
}

impl<'t> Ghosts<'t> {
    fn new(diff: &Diff, older: Option<TreeRef<'t>>) -> Ghosts<'t> {
        let mut below: BTreeMap<&str, Vec<NodeRef<'t>>> = BTreeMap::new();
        let Some(older) = older else { return Ghosts { below } };
        for node in diff.removed.iter().filter_map(|id| older.get(id)) {
            // A parent that was removed, too, is one of these itself.
            if let Some(parent) = node.parent_id() {
                below.entry(parent).or_default().push(node);
            }
        }
        for nodes in below.values_mut() {
            nodes.sort_by(|left, right| left.compare_sibling(*right));
        }
        Ghosts { below }
    }

    fn below(&self, node: NodeRef<'_>) -> &[NodeRef<'t>] {
        match self.below.is_empty() {
            true => &[],
            false => self.below.get(node.id()).map_or(&[], Vec::as_slice),
        }
    }
}

/// Adds a node and everything below it, without recursion: trees may be deep.
fn push<'t>(
    root: NodeRef<'t>,
    is_ghost: bool,
    depth: u32,
    marks: &Marks<'_>,
    ghosts: &Ghosts<'t>,
    rows: &mut Vec<Row>,
) {
    /// A node whose children are being added.
    struct Open<'t> {
        position: usize,
        children: Vec<(NodeRef<'t>, bool)>,
    }
    let mut open: Vec<Open<'t>> = Vec::new();
    let mut next = Some((root, is_ghost));
    loop {
        if let Some((node, is_ghost)) = next.take() {
            let mark = if is_ghost { Mark::Removed } else { marks.of(node) };
            let level = depth + u32::try_from(open.len()).unwrap_or(u32::MAX);
            let position = rows.len();
            rows.push(Row { key: node.node_key(), depth: level, end: 0, mark });
            open.push(Open { position, children: children(node, is_ghost, ghosts) });
        }
        let Some(top) = open.last_mut() else { break };
        next = top.children.pop();
        if next.is_none() {
            rows[top.position].end = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            open.pop();
        }
    }
}

/// Returns the children of a node, last first, with the removed ones where they were.
fn children<'t>(
    node: NodeRef<'t>,
    is_ghost: bool,
    ghosts: &Ghosts<'t>,
) -> Vec<(NodeRef<'t>, bool)> {
    let removed = ghosts.below(node);
    let mut all: Vec<(NodeRef<'t>, bool)> = match is_ghost {
        // Children of a removed node that still exist are elsewhere.
        true => Vec::new(),
        false => node.children().map(|child| (child, false)).collect(),
    };
    if !removed.is_empty() {
        all.extend(removed.iter().map(|ghost| (*ghost, true)));
        all.sort_by(|(left, _), (right, _)| left.compare_sibling(*right));
    }
    all.reverse();
    all
}
