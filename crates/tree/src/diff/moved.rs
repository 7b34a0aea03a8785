//! Guesses moves: pairs a removed node with an added node of the same content.

use std::collections::BTreeMap;

use super::fields::same_hash;
use super::{Pair, pairs};
use crate::node::NodeRef;
use crate::view::TreeRef;

/// A node that was probably moved to another id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The id in the older tree.
    pub from: String,
    /// The id in the newer tree.
    pub to: String,
}

/// The result of [`moved`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Nodes that were probably moved to another id, in the order of the newer tree.
    pub moved: Vec<Moved>,
    /// Nodes with equal hashes but different contents: a hash collision, which should never happen.
    /// Ids of the older and of the newer tree.
    pub collisions: Vec<(String, String)>,
}

/// Pairs removed and added nodes that have the same content hash, if it is unique on both sides.
///
/// `hash` is `canon`'s content hash. The result is a guess and not part of the diff.
pub fn moved(
    older: TreeRef<'_>,
    newer: TreeRef<'_>,
    hash: impl Fn(NodeRef<'_>) -> [u8; 32],
) -> Moves {
    let mut added: BTreeMap<[u8; 32], Vec<NodeRef<'_>>> = BTreeMap::new();
    let mut removed: BTreeMap<[u8; 32], Vec<NodeRef<'_>>> = BTreeMap::new();
    let mut order = Vec::new();
    for pair in pairs(older, newer) {
        match pair {
            Pair::Added(node) if node.body().is_some() => {
                let hash = hash(node);
                added.entry(hash).or_default().push(node);
                order.push(hash);
            }
            Pair::Removed(node) if node.body().is_some() => {
                removed.entry(hash(node)).or_default().push(node);
            }
            _ => {}
        }
    }
    let mut moves = Moves::default();
    for hash in order {
        if let (Some([to]), Some([from])) =
            (added.get(&hash).map(Vec::as_slice), removed.get(&hash).map(Vec::as_slice))
        {
            if same_hash(*from, *to) {
                moves.moved.push(Moved { from: from.id().into(), to: to.id().into() });
            } else {
                moves.collisions.push((from.id().into(), to.id().into()));
            }
        }
    }
    moves
}
