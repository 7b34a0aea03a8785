//! Diffs: what changed between two trees.
//!
//! Within one context and its forks, the log lists the nodes written since the trees diverged. Only
//! these are compared, plus nodes with a ttl, which changes without a write. Trees without common
//! history are compared node by node.

use contextree_json::write;

mod changes;
mod fields;
mod moved;
mod pairs;

pub use changes::{Changes, FieldChange, ParentChange, changes};
pub use fields::changed_fields;
pub use moved::{Moved, Moves, moved};
pub use pairs::{Pair, pairs, pairs_unordered, written, written_unordered};

/// Changed ids. Exactly these three keys, in the order of the newer tree; removed ids by code
/// point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Ids that exist only in the newer tree.
    pub added: Vec<String>,
    /// Ids that exist only in the older tree.
    pub removed: Vec<String>,
    /// Ids in both trees, with the names of the fields that differ.
    pub changed: Vec<Changed>,
}

/// A node that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The id.
    pub id: String,
    /// The fields that differ: the ten fields of the specification in its order, then the rest by
    /// name.
    pub fields: Vec<String>,
}

impl Diff {
    /// Returns the diff as canonical JSON: an object with exactly the keys `added`, `changed` and
    /// `removed`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        let list = |out: &mut Vec<u8>, texts: &[String]| {
            out.push(b'[');
            for (index, text) in texts.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write::string(out, text);
            }
            out.push(b']');
        };
        out.extend_from_slice(b"{\"added\":");
        list(&mut out, &self.added);
        out.extend_from_slice(b",\"changed\":[");
        for (index, changed) in self.changed.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"fields\":");
            list(&mut out, &changed.fields);
            out.extend_from_slice(b",\"id\":");
            write::string(&mut out, &changed.id);
            out.push(b'}');
        }
        out.extend_from_slice(b"],\"removed\":");
        list(&mut out, &self.removed);
        out.push(b'}');
        out.into_iter().map(char::from).collect()
    }

    /// Returns whether the trees are equal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Returns what changed from the older tree to the newer one.
#[must_use]
pub fn diff(older: crate::TreeRef<'_>, newer: crate::TreeRef<'_>) -> Diff {
    let mut diff = Diff::default();
    for pair in pairs(older, newer) {
        match pair {
            Pair::Added(node) => diff.added.push(node.id().into()),
            Pair::Removed(node) => diff.removed.push(node.id().into()),
            Pair::Both(before, after) => {
                let fields = changed_fields(before, after);
                if !fields.is_empty() {
                    diff.changed.push(Changed {
                        id: after.id().into(),
                        fields: fields.into_iter().map(Into::into).collect(),
                    });
                }
            }
        }
    }
    diff
}
