//! The thread of a whole tree.

use std::collections::BTreeMap;

use contextree_tree::{Class, NodeRef, Region, TreeRef};

use super::block::write_block;

/// Returns the thread of a tree: `^sys`, then the turns from the oldest to the newest, then the head; in each, blocks in document order.
#[must_use]
pub fn thread(tree: TreeRef<'_>) -> Vec<u8> {
    let mut out = vec![b'['];
    for region in Region::ALL {
        for child in tree.region(region).children() {
            write_part(&mut out, child, region);
        }
    }
    out.push(b']');
    out
}

/// Returns the thread of one turn alone.
#[must_use]
pub fn thread_of_turn(turn: NodeRef<'_>) -> Vec<u8> {
    let mut out = vec![b'['];
    write_part(&mut out, turn, Region::Seq);
    out.push(b']');
    out
}

/// Returns the blocks of a tree in the order of the thread, each with its region.
pub fn blocks(tree: TreeRef<'_>) -> impl Iterator<Item = (Region, NodeRef<'_>)> {
    Region::ALL.into_iter().flat_map(move |region| {
        tree.region(region)
            .subtree()
            .map(move |(_, node)| (region, node))
            .filter(|(_, node)| node.class() == Class::Block)
    })
}

/// Returns, by id, the position of every block in the thread.
#[must_use]
pub fn thread_positions(tree: TreeRef<'_>) -> BTreeMap<&str, usize> {
    blocks(tree).enumerate().map(|(index, (_, node))| (node.id(), index)).collect()
}

/// Appends the blocks of a child of a region; with commas before each but the first of the thread.
pub(crate) fn write_part(out: &mut Vec<u8>, child: NodeRef<'_>, region: Region) {
    for (_, node) in child.subtree() {
        if node.class() == Class::Block {
            if out.last() == Some(&b'}') {
                out.push(b',');
            }
            write_block(out, node, Some(region));
        }
    }
}
