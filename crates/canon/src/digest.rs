//! Merkle digests of nodes, turns, trees and histories.
//!
//! The layout is described in `docs/format.md`; it is part of the format.

use contextree_json::write;
use contextree_tree::{Content, Cycle, Header, MerkleHasher, NodeRef, Scalar, Tree, root_digest};
use sha2::{Digest as _, Sha256};

use crate::hash::{Hash, content_hash};

/// Returns the digest of a tree together with its cycle: two snapshots are equal exactly if their
/// digests are.
#[must_use]
pub fn snapshot_digest(tree: &Tree) -> Hash {
    Hash(*tree.digest_cell().get_or_init(|| {
        let root = root_digest(tree.view(), &Sha);
        let mut hasher = Sha256::new();
        hasher.update(b"contextree/snapshot/1");
        hasher.update(tree.view().next_cycle().previous().get().to_le_bytes());
        hasher.update(root);
        hasher.finalize().into()
    }))
}

/// Returns the digest of a node and its subtree, for example of a turn.
#[must_use]
pub fn node_digest(node: NodeRef<'_>) -> Hash {
    Hash(node.digest(&Sha))
}

/// Returns the digest of a history extended by a snapshot. The digest of an empty history is all
/// zeros.
#[must_use]
pub fn history_digest(before: Hash, snapshot: Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(b"contextree/history/1");
    hasher.update(before.0);
    hasher.update(snapshot.0);
    Hash(hasher.finalize().into())
}

struct Sha;

impl MerkleHasher for Sha {
    fn node(&self, node: NodeRef<'_>, children: Option<[u8; 32]>) -> [u8; 32] {
        let mut record = Vec::with_capacity(256);
        record.extend_from_slice(b"N");
        text(&mut record, node.id());
        text(&mut record, node.node_type());
        let missing = Header::REQUIRED
            .iter()
            .enumerate()
            .filter(|(_, header)| !node.has_header(**header))
            .fold(0_u16, |bits, (index, _)| bits | 1 << index);
        record.extend_from_slice(&missing.to_le_bytes());
        // Like the export: existing children are shown even if the document did not show
        // `children`.
        let shows_children = node.has_header(Header::Children) || node.child_count() > 0;
        let shape = u8::from(shows_children)
            | u8::from(node.is_removable()) << 1
            | u8::from(node.is_pinned()) << 2;
        record.push(shape);
        scalar(&mut record, node.offset());
        scalar(&mut record, node.priority());
        // The commit of expiry, not the remaining ttl: it does not change from commit to commit.
        record.extend_from_slice(&node.expires().map_or(u32::MAX, Cycle::get).to_le_bytes());
        record.extend_from_slice(&node.cycle().get().to_le_bytes());
        record.extend_from_slice(&node.creation_index().to_le_bytes());
        record.extend_from_slice(&node.created_at_ns().to_le_bytes());
        optional_text(&mut record, node.role());
        optional_text(&mut record, node.kind());
        record.push(match node.content() {
            Content::Absent => 0,
            Content::Text(_) => 1,
            Content::Json(_) => 2,
        });
        match node.body() {
            Some(body) => {
                record.push(1);
                record.extend_from_slice(&content_hash(node).0);
                let start = record.len();
                record.extend_from_slice(&[0; 4]);
                for (name, value) in body.attributes.iter() {
                    text(&mut record, name);
                    write::value(&mut record, value);
                }
                let length = u32::try_from(record.len() - start - 4).unwrap_or(u32::MAX);
                record[start..start + 4].copy_from_slice(&length.to_le_bytes());
            }
            None => record.push(0),
        }
        if let Some(children) = children {
            record.push(1);
            record.extend_from_slice(&children);
        }
        Sha256::digest(&record).into()
    }

    fn join(&self, level: u8, digests: &[[u8; 32]]) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update([b'J', level]);
        hasher.update(digests.as_flattened());
        hasher.finalize().into()
    }
}

fn text(record: &mut Vec<u8>, text: &str) {
    // Lengths beyond 32 bits are rejected long before this point.
    record.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    record.extend_from_slice(text.as_bytes());
}

fn optional_text(record: &mut Vec<u8>, value: Option<&str>) {
    match value {
        Some(value) => {
            record.push(1);
            text(record, value);
        }
        None => record.push(0),
    }
}

fn scalar(record: &mut Vec<u8>, scalar: Scalar) {
    match scalar {
        Scalar::Int(value) => {
            record.push(b'i');
            record.extend_from_slice(&value.to_le_bytes());
        }
        Scalar::Float(value) => {
            record.push(b'f');
            record.extend_from_slice(&value.to_bits().to_le_bytes());
        }
    }
}
