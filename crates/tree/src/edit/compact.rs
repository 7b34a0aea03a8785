//! Copies a tree without its history.

use super::build::Builder;
use crate::class::Region;
use crate::list::{Children, Summary};
use crate::node::NodeRef;
use crate::row::{NO_SYMBOL, NodeKey, Row, RowNumber};
use crate::tree::Tree;

impl Tree {
    /// Returns an equal tree that shares no rows and no names with any other tree, so that memory
    /// used only by older trees is freed with them. Contents are shared. The cost depends on the
    /// tree, not on its history.
    #[must_use]
    pub fn compacted(&self) -> Tree {
        let view = self.view();
        let mut builder = Builder::empty(view.node_count());
        let mut push = |parent: RowNumber, node: NodeRef<'_>| {
            builder.push_copy(parent, node).expect("ids are unique in a tree")
        };
        let root = push(RowNumber::NONE, view.root());
        let regions = Region::ALL.map(|region| view.region(region));
        let handles = regions.map(|region| push(root, region));
        for (region, handle) in regions.into_iter().zip(handles) {
            // Nodes still to be copied, the next one last.
            let mut open = Vec::new();
            descend(&mut open, handle, region);
            while let Some((parent, node)) = open.pop() {
                let own = push(parent, node);
                descend(&mut open, own, node);
            }
        }
        let tree = builder.finish(view.next_cycle());
        if let Some(digest) = self.digest_cell().get() {
            tree.digest_cell().get_or_init(|| *digest);
        }
        tree
    }
}

fn descend<'t>(open: &mut Vec<(RowNumber, NodeRef<'t>)>, parent: RowNumber, node: NodeRef<'t>) {
    let first = open.len();
    open.extend(node.children().map(|child| (parent, child)));
    open[first..].reverse();
}

impl Builder {
    /// Adds a copy of a node from another tree.
    fn push_copy(
        &mut self,
        parent: RowNumber,
        node: NodeRef<'_>,
    ) -> Result<RowNumber, super::DuplicateId> {
        let space = self.space();
        let symbol = |text: Option<&str>| text.map_or(NO_SYMBOL, |text| space.symbols.intern(text));
        let row = Row {
            node: NodeKey(space.ids.intern(node.id())),
            node_type: space.symbols.intern(node.node_type()),
            role: symbol(node.role()),
            kind: symbol(node.kind()),
            // Set when the row is appended to the log.
            key: NO_SYMBOL,
            previous: RowNumber::NONE,
            jump: RowNumber::NONE,
            version: 0,
            children: Children::EMPTY,
            summary: Summary::EMPTY,
            ..node.row.clone()
        };
        self.push_row(parent, row)
    }
}
