//! A node of a tree, for reading.

use std::cmp::Ordering;
use std::fmt;

use contextree_json::{Number, Value};

use crate::body::{Body, Content};
use crate::class::{Class, Region};
use crate::cycle::Cycle;
use crate::list::{Children, Summary};
use crate::policy_entry::PolicyEntry;
use crate::row::{Header, NEVER, NO_SYMBOL, NodeKey, Row, RowNumber, flag};
use crate::scalar::Scalar;
use crate::time;
use crate::view::{REGIONS, TreeRef, order_of};
use crate::walk::{Ancestors, Preorder, Siblings};

/// A node of a tree. Cheap to copy; borrows the tree.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    pub(crate) tree: TreeRef<'a>,
    pub(crate) number: RowNumber,
    pub(crate) row: &'a Row,
}

impl fmt::Debug for NodeRef<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}[{}]", self.node_type(), self.id())
    }
}

impl PartialEq for NodeRef<'_> {
    /// Whether both are the same version of the same node.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.row, other.row)
    }
}

impl<'a> NodeRef<'a> {
    /// Returns the tree that contains the node.
    #[must_use]
    pub fn tree(self) -> TreeRef<'a> {
        self.tree
    }

    /// Returns the id.
    #[must_use]
    pub fn id(self) -> &'a str {
        self.tree.base.space.ids.name(self.row.node.0)
    }

    /// Returns what finds the node again in its tree, or in another tree of the same context and its forks: [`TreeRef::at`].
    #[must_use]
    pub fn node_key(self) -> NodeKey {
        self.row.node
    }

    /// Compares with a sibling in canonical order. The other node may be of another tree.
    #[must_use]
    pub fn compare_sibling(self, other: NodeRef<'_>) -> Ordering {
        order_of(self.row, self.id(), other.row, other.id())
    }

    /// Returns the `nodeType` as it is stored.
    #[must_use]
    pub fn node_type(self) -> &'a str {
        self.tree.base.space.symbols.name(self.row.node_type)
    }

    /// Returns the class of the `nodeType`.
    #[must_use]
    #[inline]
    pub fn class(self) -> Class {
        self.row.class()
    }

    /// Returns the region that this node is, if it is one.
    #[must_use]
    pub fn as_region(self) -> Option<Region> {
        let index = REGIONS.iter().position(|fixed| *fixed == self.number)?;
        Some(Region::ALL[index])
    }

    /// Returns the region that contains the node; `None` for the root and the regions.
    #[must_use]
    pub fn region(self) -> Option<Region> {
        self.tree.region_of(self.row)
    }

    /// Returns the offset.
    #[must_use]
    #[inline]
    pub fn offset(self) -> Scalar {
        self.row.offset()
    }

    /// Returns the remaining time to live in commits; `None` for a persistent node.
    #[must_use]
    #[inline]
    pub fn ttl(self) -> Option<u32> {
        (self.row.expires != NEVER)
            .then(|| Cycle(self.row.expires).since(self.tree.base.next_cycle))
    }

    /// Returns the number of the commit at which the node expires.
    #[must_use]
    pub fn expires(self) -> Option<Cycle> {
        (self.row.expires != NEVER).then_some(Cycle(self.row.expires))
    }

    /// Returns the header `priority`. Pruning follows [`NodeRef::pruning_priority`].
    #[must_use]
    pub fn priority(self) -> Scalar {
        self.row.priority()
    }

    /// Returns the number of the commit that first contains the node.
    #[must_use]
    #[inline]
    pub fn cycle(self) -> Cycle {
        self.row.cycle
    }

    /// Returns the creation stamp.
    #[must_use]
    pub fn created_at_ns(self) -> i64 {
        self.row.created_at_ns
    }

    /// Returns the creation stamp as text; an imported node may have its own text.
    #[must_use]
    pub fn created_at_iso(self) -> String {
        match self.attribute(Header::CreatedAtIso.name()) {
            Some(Value::String(text)) => text.to_string(),
            _ => time::iso(self.row.created_at_ns),
        }
    }

    /// Returns the creation index.
    #[must_use]
    pub fn creation_index(self) -> u32 {
        self.row.creation_index
    }

    /// Returns the stored role.
    #[must_use]
    #[inline]
    pub fn role(self) -> Option<&'a str> {
        self.symbol(self.row.role)
    }

    /// Returns the stored kind.
    #[must_use]
    pub fn kind(self) -> Option<&'a str> {
        self.symbol(self.row.kind)
    }

    fn symbol(self, symbol: u32) -> Option<&'a str> {
        (symbol != NO_SYMBOL).then(|| self.tree.base.space.symbols.name(symbol))
    }

    /// Returns the content.
    #[must_use]
    pub fn content(self) -> &'a Content {
        static ABSENT: Content = Content::Absent;
        self.row.body.as_ref().map_or(&ABSENT, |body| &body.content)
    }

    /// Returns content and attributes together, if there are any.
    #[must_use]
    pub fn body(self) -> Option<&'a Body> {
        self.row.body.as_deref()
    }

    /// Returns an attribute that has no column of its own: `key`, `tags`, custom ones and so on.
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<&'a Value> {
        self.row.body.as_ref()?.attributes.get(name)
    }

    /// Returns the key.
    #[must_use]
    pub fn key(self) -> Option<&'a str> {
        self.attribute("key")?.as_str()
    }

    /// Returns whether the container is removed when empty.
    #[must_use]
    pub fn is_removable(self) -> bool {
        self.row.has(flag::REMOVABLE)
    }

    /// Returns the header `pinned`. Pruning follows [`NodeRef::has_pin`].
    #[must_use]
    pub fn is_pinned(self) -> bool {
        self.row.has(flag::PINNED)
    }

    /// Returns the pin and the priority that were given after the node was sealed.
    #[must_use]
    pub fn policy(self) -> PolicyEntry {
        self.row.policy.as_deref().copied().unwrap_or_default()
    }

    /// Returns whether pruning must keep the node: by its policy entry, otherwise by its header.
    #[must_use]
    pub fn has_pin(self) -> bool {
        self.policy().pinned.unwrap_or(self.is_pinned())
    }

    /// Returns the priority that pruning follows: that of the policy entry, otherwise the header.
    #[must_use]
    pub fn pruning_priority(self) -> Scalar {
        self.policy().priority.unwrap_or(self.priority())
    }

    /// Returns whether the imported document had this header. Always true for nodes created by the
    /// engine.
    #[must_use]
    pub fn has_header(self, header: Header) -> bool {
        self.row.has(header.bit())
    }

    /// Returns whether this container is the core of a turn or of the head.
    #[must_use]
    pub fn is_core(self) -> bool {
        self.class() == Class::Container
            && self.offset().signum() == 0
            && !self.node_type().contains(':')
            && self.parent().is_some_and(NodeRef::is_zoned)
    }

    /// Returns whether this is a turn or the head, where an offset makes a child pre-context, core
    /// or post-context.
    #[must_use]
    pub fn is_zoned(self) -> bool {
        self.class() == Class::Turn || self.as_region() == Some(Region::Head)
    }

    /// Returns the parent; `None` for the root.
    #[must_use]
    pub fn parent(self) -> Option<NodeRef<'a>> {
        self.ancestors().next()
    }

    /// Returns the parent's id; `None` for the root.
    #[must_use]
    pub fn parent_id(self) -> Option<&'a str> {
        (self.row.parent != NodeKey::NONE).then(|| self.tree.base.space.ids.name(self.row.parent.0))
    }

    /// Returns the ancestors, nearest first.
    #[must_use]
    pub fn ancestors(self) -> Ancestors<'a> {
        self.tree.ancestors(self.row)
    }

    /// Returns the children in canonical order.
    #[must_use]
    pub fn children(self) -> NodeChildren<'a> {
        NodeChildren { tree: self.tree, siblings: Siblings::of(self.tree, self.number, self.row) }
    }

    /// Returns the number of children.
    #[must_use]
    pub fn child_count(self) -> usize {
        match self.class() {
            Class::Root => Region::ALL.len(),
            _ => self.list().len(),
        }
    }

    /// Returns the child at a position in canonical order; works for regions too.
    #[must_use]
    pub fn child(self, index: usize) -> Option<NodeRef<'a>> {
        match self.class() {
            Class::Root => REGIONS.get(index).map(|row| self.tree.node_at(*row)),
            _ => self.list().get(index).map(|row| self.tree.node_at(row)),
        }
    }

    /// Returns the children at one offset, in canonical order, without visiting the others.
    pub fn children_at(self, offset: Scalar) -> impl Iterator<Item = NodeRef<'a>> {
        let tree = self.tree;
        let first = self.list().search(|number| match tree.row(number).offset() < offset {
            true => Ordering::Less,
            false => Ordering::Greater,
        });
        let first = first.unwrap_or_else(|at| at);
        (first..self.list().len())
            .map_while(move |index| self.child(index))
            .take_while(move |child| child.offset() == offset)
    }

    pub(crate) fn list(self) -> &'a Children {
        self.tree.children_of(self.number, self.row)
    }

    /// Returns the children, last one first.
    pub fn children_rev(self) -> impl Iterator<Item = NodeRef<'a>> {
        let tree = self.tree;
        self.list().rev().map(move |row| tree.node_at(row))
    }

    /// Returns false if no child of this node contains a turn, which holds for every tree made by
    /// the engine. True may be wrong.
    #[must_use]
    pub fn may_have_inner_turns(self) -> bool {
        match self.class() {
            Class::Root => true,
            _ => self.list().summary(&self.tree).marks & Summary::ABOVE_TURN != 0,
        }
    }

    /// Returns the node's position among its siblings, from 0.
    #[must_use]
    pub fn position(self) -> usize {
        if let Some(region) = self.as_region() {
            return region.index();
        }
        match self.parent() {
            Some(parent) => self
                .tree
                .search(parent.list(), self.row)
                .expect("a node is in its parent's list, in canonical order"),
            None => 0,
        }
    }

    /// Returns the node and its subtree, parents before children.
    #[must_use]
    pub fn subtree(self) -> Preorder<'a> {
        Preorder::new(self)
    }

    /// Returns the positions from the root down to the node. Comparing two of them compares
    /// document order.
    #[must_use]
    pub fn place(self) -> Vec<usize> {
        let mut place: Vec<usize> =
            std::iter::once(self).chain(self.ancestors()).map(NodeRef::position).collect();
        place.reverse();
        place
    }

    /// Returns a number that changes whenever the node or anything below it changes, and only then.
    ///
    /// Valid within one branch; between branches, below [`TreeRef::common_versions`]. Usable as a
    /// cache key, for example for the rendering of a turn.
    #[must_use]
    pub fn version(self) -> RowNumber {
        self.number
    }

    /// Returns the value of a header or attribute by its name in documents, excluding derived ones.
    #[must_use]
    pub fn header(self, name: &str) -> Option<Value> {
        if let Some(value) = self.attribute(name) {
            return Some(value.clone());
        }
        let integer = |value: i64| Some(Value::Number(Number::from_i64(value)));
        match name {
            "id" => Some(Value::from(self.id())),
            "nodeType" => Some(Value::from(self.node_type())),
            "offset" => Some(Value::Number(self.offset().to_number())),
            "ttl" => Some(self.ttl().map_or(Value::Null, |ttl| Value::from(i64::from(ttl)))),
            "priority" => Some(Value::Number(self.priority().to_number())),
            "cycle" => integer(i64::from(self.cycle())),
            "created_at_ns" => integer(self.created_at_ns()),
            "created_at_iso" => Some(Value::from(self.created_at_iso().as_str())),
            "creation_index" => integer(i64::from(self.creation_index())),
            "role" => self.role().map(Value::from),
            "kind" => self.kind().map(Value::from),
            "removable" => self.is_removable().then_some(Value::Bool(true)),
            "pinned" => self.is_pinned().then_some(Value::Bool(true)),
            _ => None,
        }
    }
}

/// The children of a node in canonical order.
#[derive(Clone, Debug)]
pub struct NodeChildren<'a> {
    tree: TreeRef<'a>,
    siblings: Siblings<'a>,
}

impl<'a> Iterator for NodeChildren<'a> {
    type Item = NodeRef<'a>;

    fn next(&mut self) -> Option<NodeRef<'a>> {
        let number = self.siblings.next()?;
        Some(self.tree.node_at(number))
    }
}
