//! Guessing moves: a node that went and one that came with the same content.

use super::{Pair, pairs};
use crate::node::NodeRef;
use crate::view::TreeRef;

/// A node that probably went on under another id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The id in the older tree.
    pub from: String,
    /// The id in the newer tree.
    pub to: String,
}

/// Returns removed and added nodes that have the same content hash, where it is unique on both sides.
///
/// `hash` is the canon's content hash. It is a guess, and no part of the diff.
pub fn moved(
    older: TreeRef<'_>,
    newer: TreeRef<'_>,
    hash: impl Fn(NodeRef<'_>) -> [u8; 32],
) -> Vec<Moved> {
    let mut added = Vec::new();
    let mut removed = Vec::new();
    for pair in pairs(older, newer) {
        match pair {
            Pair::Added(node) if node.body().is_some() => added.push((hash(node), node.id())),
            Pair::Removed(node) if node.body().is_some() => removed.push((hash(node), node.id())),
            _ => {}
        }
    }
    let only = |list: &[([u8; 32], &str)], sought: &[u8; 32]| {
        let mut found = list.iter().filter(|(hash, _)| hash == sought);
        match (found.next(), found.next()) {
            (Some((_, id)), None) => Some((*id).to_owned()),
            _ => None,
        }
    };
    added
        .iter()
        .filter_map(|(hash, id)| {
            only(&added, hash)?;
            Some(Moved { from: only(&removed, hash)?, to: (*id).to_owned() })
        })
        .collect()
}
