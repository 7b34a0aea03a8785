//! Reads a tree: one view for snapshots and for the working state.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use crate::class::{Class, Region};
use crate::cycle::Cycle;
use crate::edit::{Overlay, OverlayIndex};
use crate::list::{Children, Entries, Summary, boundary};
use crate::node::NodeRef;
use crate::row::{NodeKey, Row, RowNumber};
use crate::store::{Space, hash};
use crate::walk::{Ancestors, Preorder};

/// The rows of the regions.
pub(crate) static REGIONS: [RowNumber; 3] = [
    RowNumber::of_region(Region::Sys),
    RowNumber::of_region(Region::Seq),
    RowNumber::of_region(Region::Head),
];

/// The state that a snapshot and a working state have in common.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) space: Arc<Space>,
    /// The children of the three regions. They are stored here and not in rows, because `^seq`
    /// changes with every commit while its headers never do.
    pub(crate) regions: [Children; 3],
    /// The end of the tree's rows in the log: lower numbers are in the log, this one and higher ones in the overlay.
    pub(crate) rows: RowNumber,
    /// The number of the next commit: a node that expires at this number shows ttl 0.
    pub(crate) next_cycle: Cycle,
    /// Number of nodes in the tree.
    pub(crate) count: u32,
    /// The digest of a snapshot, once computed. Stored here because it fits into padding that every
    /// snapshot would have; meaningless in a working state.
    pub(crate) digest: OnceLock<[u8; 32]>,
}

/// A borrowed tree. Cheap to copy; everything that reads a tree takes one.
#[derive(Clone, Copy, Debug)]
pub struct TreeRef<'a> {
    pub(crate) base: &'a Base,
    pub(crate) overlay: Option<&'a Overlay>,
}

impl<'a> TreeRef<'a> {
    #[inline]
    pub(crate) fn row(self, number: RowNumber) -> &'a Row {
        match self.overlay {
            Some(overlay) if number >= self.base.rows => {
                overlay.row(OverlayIndex(number.since(self.base.rows)))
            }
            _ => self.base.space.row(number),
        }
    }

    /// Returns the row of a node in this tree.
    pub(crate) fn find_row(self, node: NodeKey) -> Option<RowNumber> {
        Some(self.find(node)?.number)
    }

    /// Returns a node of this tree by its number.
    pub(crate) fn find(self, node: NodeKey) -> Option<NodeRef<'a>> {
        if let Some(found) = self.overlay.and_then(|overlay| overlay.find(node)) {
            return found.map(|number| self.node_at(number));
        }
        let (number, row) = self.base.space.find(node, self.base.rows)?;
        Some(NodeRef { tree: self, number, row })
    }

    pub(crate) fn node_at(self, number: RowNumber) -> NodeRef<'a> {
        NodeRef { tree: self, number, row: self.row(number) }
    }

    /// Returns the number of the commit that follows this state.
    #[must_use]
    pub fn next_cycle(self) -> Cycle {
        self.base.next_cycle
    }

    /// Returns the number of nodes, including the root and the regions.
    #[must_use]
    pub fn node_count(self) -> usize {
        self.base.count as usize
    }

    /// Returns the root.
    #[must_use]
    pub fn root(self) -> NodeRef<'a> {
        self.node_at(RowNumber::ROOT)
    }

    /// Returns the container of a region.
    #[must_use]
    pub fn region(self, region: Region) -> NodeRef<'a> {
        self.node_at(REGIONS[region.index()])
    }

    /// Returns the node with this id, or `None`.
    #[must_use]
    pub fn get(self, id: &str) -> Option<NodeRef<'a>> {
        self.find(NodeKey(self.base.space.ids.find(id)?))
    }

    /// Returns the node with this id; `^root`, `^sys`, `^seq` and `^ah` name the fixed containers.
    #[must_use]
    pub fn resolve(self, name: &str) -> Option<NodeRef<'a>> {
        match name {
            "^root" => Some(self.root()),
            _ => match Region::from_word(name) {
                Some(region) => Some(self.region(region)),
                None => self.get(name),
            },
        }
    }

    /// Returns all nodes, parents before children, siblings in canonical order.
    #[must_use]
    pub fn nodes(self) -> Preorder<'a> {
        Preorder::new(self.root())
    }

    /// Returns the number of sealed turns.
    #[must_use]
    pub fn turn_count(self) -> usize {
        self.base.regions[Region::Seq.index()].len()
    }

    /// Returns whether the tree contains a node.
    #[must_use]
    pub fn contains(self, key: NodeKey) -> bool {
        self.find(key).is_some()
    }

    /// Returns the node with a key of this context.
    #[must_use]
    pub fn at(self, key: NodeKey) -> Option<NodeRef<'a>> {
        self.find(key)
    }

    /// Returns the id of a key of this context, whether or not the node is in this tree.
    #[must_use]
    pub fn id_of(self, key: NodeKey) -> &'a str {
        self.base.space.ids.name(key.0)
    }

    /// Returns the number below which [versions](NodeRef::version) of nodes mean the same in both trees; `None` if the trees have
    /// nothing in common.
    #[must_use]
    pub fn common_versions(self, other: TreeRef<'_>) -> Option<RowNumber> {
        Some(self.common_rows(other)).filter(|common| *common > RowNumber::ROOT)
    }

    /// Returns the end of the rows that both trees have.
    pub(crate) fn common_rows(self, other: TreeRef<'_>) -> RowNumber {
        self.base.space.common_rows(self.base.rows, &other.base.space, other.base.rows)
    }

    /// Returns how many children at the beginning of a region are the same in both trees, with everything below them. The cost follows
    /// what differs.
    #[must_use]
    pub fn common_children(self, other: TreeRef<'_>, region: Region) -> usize {
        let (here, there) = (&self.base.regions, &other.base.regions);
        let region = region.index();
        match self.base.space.same_names(&other.base.space) {
            true => here[region].common(&there[region], self.common_rows(other)),
            false => 0,
        }
    }

    /// Returns the child list of a row. The root's children are the regions, not a list.
    pub(crate) fn children_of(self, number: RowNumber, row: &'a Row) -> &'a Children {
        match REGIONS.iter().position(|fixed| *fixed == number) {
            Some(region) => &self.base.regions[region],
            None => &row.children,
        }
    }

    pub(crate) fn order(self, left: &Row, right: &Row) -> Ordering {
        order(&self.base.space, left, right)
    }

    /// Finds a row among children: its position, or where it would be inserted.
    pub(crate) fn search(self, children: &Children, sought: &Row) -> Result<usize, usize> {
        children.search(|number| self.order(self.row(number), sought))
    }

    /// Returns the node's ancestors, nearest first.
    pub(crate) fn ancestors(self, row: &'a Row) -> Ancestors<'a> {
        Ancestors::new(self, row)
    }

    /// Returns the region that contains a row; `None` for the root and the regions themselves.
    pub(crate) fn region_of(self, row: &'a Row) -> Option<Region> {
        if matches!(row.class(), Class::Root | Class::Region) {
            return None;
        }
        let container = self.ancestors(row).find(|above| above.row.class() == Class::Region)?;
        let index = REGIONS.iter().position(|fixed| *fixed == container.number)?;
        Some(Region::ALL[index])
    }
}

impl Entries for TreeRef<'_> {
    fn summary(&self, row: RowNumber) -> Summary {
        self.row(row).summary
    }

    fn boundary(&self, row: RowNumber) -> u32 {
        boundary_of(&self.base.space, self.row(row))
    }
}

/// Compares siblings; the only definition of canonical order.
///
/// Offset, creation stamp, creation index, then id by code point.
pub(crate) fn order(space: &Space, left: &Row, right: &Row) -> Ordering {
    stamps(left, right).then_with(|| {
        if left.node == right.node {
            Ordering::Equal
        } else {
            // UTF-8 bytes compare like code points.
            space.ids.name(left.node.0).cmp(space.ids.name(right.node.0))
        }
    })
}

/// Like [`order`], but for rows of trees that may have no names in common.
pub(crate) fn order_of(left: &Row, left_id: &str, right: &Row, right_id: &str) -> Ordering {
    stamps(left, right).then_with(|| left_id.cmp(right_id))
}

fn stamps(left: &Row, right: &Row) -> Ordering {
    left.offset()
        .cmp(&right.offset())
        .then_with(|| left.created_at_ns.cmp(&right.created_at_ns))
        .then_with(|| left.creation_index.cmp(&right.creation_index))
}

/// Returns how many levels of runs a row ends in a child list.
pub(crate) fn boundary_of(space: &Space, row: &Row) -> u32 {
    boundary(hash(space.ids.name(row.node.0)))
}
