//! The changes a draft can make.

use std::sync::Arc;

use super::{Draft, NodeData};
use crate::body::Body;
use crate::cycle::Cycle;
use crate::node::NodeRef;
use crate::policy_entry::PolicyEntry;
use crate::row::{Header, NEVER, NodeKey, Row, RowNumber, flag};
use crate::scalar::Scalar;
use crate::store::Names;

impl Draft {
    /// Inserts a node under a parent, at its position in canonical order. Its id must be unused.
    pub fn insert<T: AsRef<str>>(&mut self, parent: NodeKey, data: NodeData<T>) -> NodeKey {
        let mut row = data.into_row(&self.base.space);
        row.parent = parent;
        let node = row.node;
        // An id that is reused continues the version chain of the node that had it before.
        if let Some(before) = self.base.space.find_version(node, self.base.rows) {
            self.follow(&mut row, before);
        }
        let below = row.children.summary(&self.view());
        row.summarize(below);
        let index = self.push(row);
        let number = self.number_of(index);
        self.link(parent, number);
        self.refresh(parent);
        self.base.count += 1;
        self.note_changed(node);
        node
    }

    /// Removes a node and its subtree; returns the keys of all removed nodes, in document order.
    pub fn remove(&mut self, node: NodeKey) -> Vec<NodeKey> {
        let number = self.view().find_row(node).expect("only nodes of the tree are removed");
        let parent = self.view().row(number).parent;
        let gone: Vec<(NodeKey, RowNumber)> = self
            .view()
            .node_at(number)
            .subtree()
            .map(|(_, node)| (node.row.node, node.number))
            .collect();
        self.unlink(parent, number);
        for (node, number) in &gone {
            self.bury(*node, *number);
        }
        self.refresh(parent);
        self.base.count -= gone.len() as u32;
        gone.into_iter().map(|(node, _)| node).collect()
    }

    /// Moves a node with its subtree to another parent or offset, keeping id and stamps.
    pub fn relocate(&mut self, node: NodeKey, parent: NodeKey, offset: Scalar) {
        self.reposition(node, |row| {
            row.parent = parent;
            if row.offset() != offset || !row.has(Header::Offset.bit()) {
                row.settle(Header::Offset);
            }
            row.set_offset(offset);
        });
    }

    /// Changes the creation stamps of a node.
    pub fn restamp(&mut self, node: NodeKey, created_at_ns: i64, creation_index: u32) {
        self.reposition(node, |row| {
            row.created_at_ns = created_at_ns;
            row.creation_index = creation_index;
            for header in [Header::CreatedAtNs, Header::CreatedAtIso, Header::CreationIndex] {
                row.settle(header);
            }
        });
    }

    /// Overwrites a node with `data` under this parent and keeps its children. The id in `data`
    /// must be the node's own.
    pub fn overwrite<T: AsRef<str>>(&mut self, node: NodeKey, parent: NodeKey, data: NodeData<T>) {
        let new = data.into_row(&self.base.space);
        self.reposition(node, |row| {
            *row = Row {
                parent,
                previous: row.previous,
                jump: row.jump,
                version: row.version,
                children: row.children.clone(),
                ..new
            };
        });
    }

    /// Like [`Draft::overwrite`], but keeps the content and attributes that the node has in the
    /// last snapshot; those of `data` are ignored.
    pub fn overwrite_headers<T: AsRef<str>>(
        &mut self,
        node: NodeKey,
        parent: NodeKey,
        data: NodeData<T>,
    ) {
        self.overwrite(node, parent, data);
        let committed = self.base.space.find(node, self.base.rows);
        let body = committed.and_then(|(_, row)| row.body.clone());
        self.change(node, |row| {
            if let Some(body) = &body {
                row.note_attributes(body);
            }
            row.body = body;
        });
    }

    /// Changes fields that determine a node's position: removes the node from its list, changes it,
    /// and inserts it at its new position.
    fn reposition(&mut self, node: NodeKey, change: impl FnOnce(&mut Row)) {
        let index = self.touch(node);
        let number = self.number_of(index);
        let before = self.view().row(number).parent;
        self.unlink(before, number);
        let row = self.row_mut(index);
        change(row);
        let after = row.parent;
        self.link(after, number);
        self.refresh(node);
        self.note_changed(node);
        if before != after {
            self.refresh(before);
        }
    }

    /// Replaces content and attributes. Returns false and changes nothing for the root and the
    /// regions, like the four methods below.
    pub fn set_body(&mut self, node: NodeKey, body: Body) -> bool {
        self.change(node, |row| {
            row.note_attributes(&body);
            row.body = (!body.is_empty()).then(|| Arc::new(body));
        })
    }

    /// Sets the priority.
    pub fn set_priority(&mut self, node: NodeKey, priority: Scalar) -> bool {
        self.change(node, |row| {
            row.set_priority(priority);
            row.settle(Header::Priority);
        })
    }

    /// Pins or unpins.
    pub fn set_pinned(&mut self, node: NodeKey, pinned: bool) -> bool {
        self.change(node, |row| {
            row.set(flag::PINNED, pinned);
            row.drop_attribute("pinned");
        })
    }

    /// Sets the pin and the priority that apply beside the headers.
    pub fn set_policy(&mut self, node: NodeKey, entry: PolicyEntry) -> bool {
        self.change(node, |row| row.set_policy(entry))
    }

    /// Sets the commit at which the node expires.
    pub fn set_expires(&mut self, node: NodeKey, expires: Option<Cycle>) -> bool {
        self.change(node, |row| row.expires = expires.map_or(NEVER, Cycle::get))
    }

    fn change(&mut self, node: NodeKey, change: impl FnOnce(&mut Row)) -> bool {
        // The root and the regions never get a new row: their lists are stored in the tree itself.
        let is_fixed = |node: NodeRef<'_>| node.as_region().is_some() || node.parent().is_none();
        if self.view().at(node).is_some_and(is_fixed) {
            return false;
        }
        let index = self.touch(node);
        change(self.row_mut(index));
        self.note_changed(node);
        self.refresh(node);
        true
    }

    /// Inserts a row into its parent's list.
    fn link(&mut self, parent: NodeKey, number: RowNumber) {
        self.with_children(parent, |children, view| {
            let position = view.search(children, view.row(number)).unwrap_or_else(|at| at);
            children.insert(position, number, &view);
        });
    }

    /// Removes a row (in whatever version the list has) from its parent's list.
    fn unlink(&mut self, parent: NodeKey, number: RowNumber) {
        // Nodes that expire together are usually adjacent: try the position of the last removal
        // first.
        let hint = self.hint.filter(|(list, _)| *list == parent).map(|(_, position)| position);
        let position = self.with_children(parent, |children, view| {
            let row = view.row(number);
            let is_there = |position: &usize| {
                children.get(*position).is_some_and(|found| view.row(found).node == row.node)
            };
            let position = hint
                .filter(is_there)
                .or_else(|| view.search(children, row).ok())
                .expect("a node is in its parent's list");
            children.remove(position, &view);
            position
        });
        self.hint = Some((parent, position));
    }

    /// Records the removal of a node. A node that was never committed leaves no trace.
    pub(super) fn bury(&mut self, node: NodeKey, number: RowNumber) {
        self.note_changed(node);
        if number < self.base.rows || self.base.space.find(node, self.base.rows).is_some() {
            self.set_index(node, None);
        } else {
            self.forget_index(node);
        }
        if let Some(index) = self.overlay_index(number) {
            *self.row_mut(index) = Row::void();
            self.overlay.free.push(index);
        }
    }

    /// Moves all children of one container into another, keeping ids and stamps; returns their
    /// number.
    pub fn adopt(&mut self, from: NodeKey, to: NodeKey) -> usize {
        let rows = self.with_children(from, |children, _| {
            std::mem::replace(children, crate::list::Children::EMPTY)
        });
        let nodes: Vec<NodeKey> = rows.iter().map(|row| self.view().row(row).node).collect();
        let numbers: Vec<RowNumber> = nodes
            .iter()
            .map(|node| {
                let index = self.touch(*node);
                self.row_mut(index).parent = to;
                self.row_mut(index).digest = std::sync::OnceLock::new();
                self.note_changed(*node);
                self.number_of(index)
            })
            .collect();
        self.with_children(to, |children, view| {
            *children = crate::list::Children::from_rows(&numbers, &view);
        });
        self.refresh(from);
        self.refresh(to);
        numbers.len()
    }

    /// Returns the key of an id that any tree of this context has or had.
    #[must_use]
    pub fn key(&self, id: &str) -> Option<NodeKey> {
        Names::find(&self.base.space.ids, id).map(NodeKey)
    }
}
