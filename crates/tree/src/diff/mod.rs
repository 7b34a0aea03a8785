//! What changed between two trees.
//!
//! Within one context and its forks the log tells which nodes were written since the trees parted; nothing else is looked at,
//! except nodes with a ttl, which changes without being written. Trees that have no history in common are compared node by
//! node.

mod changes;
mod fields;
mod moved;
mod pairs;

pub use changes::{Changes, FieldChange, ParentChange, changes};
pub use fields::changed_fields;
pub use moved::{Moved, moved};
pub use pairs::{Pair, pairs};

/// What changed, by id: exactly these three keys, in the order of the newer tree; removed ids by code point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Ids that only the newer tree has.
    pub added: Vec<String>,
    /// Ids that only the older tree has.
    pub removed: Vec<String>,
    /// Ids that both have, with the names of the fields that differ.
    pub changed: Vec<Changed>,
}

/// A node that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The id.
    pub id: String,
    /// The fields that differ: the ten that the specification lists in its order, then the rest by name.
    pub fields: Vec<String>,
}

impl Diff {
    /// True if nothing changed.
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
