//! The result of a range, and its JSON form.

use contextree_json::{Object, Value};
use contextree_tree::Cycle;

use super::content_diff::ContentDiff;

/// What a selector matches over a range of snapshots: RangeDiffLatestResult.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeDiff {
    /// The selector as written.
    pub query: String,
    /// The snapshots, newest first.
    pub snapshots: Vec<SnapshotRef>,
    /// The changes between adjacent snapshots, newest first.
    pub diffs: Vec<DiffBlock>,
    /// The limits that were given, and whether one was reached.
    pub limits: Option<Limits>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// Problems that did not prevent a result; never fatal.
    pub errors: Vec<RangeError>,
}

/// One snapshot of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotRef {
    /// How the selector addressed it.
    pub kind: SnapshotKind,
    /// 0, −1, … counted back from the newest snapshot; or the cycle.
    pub value: i64,
    /// `@t-1` or `@c12`.
    pub label: String,
    /// The cycle.
    pub cycle: Cycle,
}

/// How a snapshot was addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotKind {
    /// By turns back.
    Turn,
    /// By cycle.
    Cycle,
}

/// What changed between two snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffBlock {
    /// The newer snapshot.
    pub from: SnapshotRef,
    /// The older snapshot.
    pub to: SnapshotRef,
    /// Matched in the newer snapshot only, in its document order.
    pub added: Vec<String>,
    /// Matched in the older snapshot only: nodes that still exist in the newer one in its document
    /// order, then the rest by id.
    pub removed: Vec<String>,
    /// Matched in both, and different; in the newer snapshot's document order.
    pub changed: Vec<ChangedNode>,
    /// The numbers of changes, before any limit.
    pub stats: Stats,
}

/// Numbers of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Added nodes.
    pub added: usize,
    /// Removed nodes.
    pub removed: usize,
    /// Changed nodes.
    pub changed: usize,
}

/// A node that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedNode {
    /// Its id.
    pub id: String,
    /// The fields that differ: the ten of the specification in its order, then the rest by name.
    pub fields: Vec<String>,
    /// The values of scalar fields.
    pub delta: Vec<FieldDelta>,
    /// The difference of the contents, if they differ and it was requested.
    pub content_diff: Option<ContentDiff>,
    /// Requested fields, of the newer and the older snapshot.
    pub materialized: Option<(Object, Object)>,
}

/// A scalar field of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDelta {
    /// The field.
    pub field: String,
    /// The value in the newer snapshot.
    pub from: Value,
    /// The value in the older snapshot.
    pub to: Value,
}

/// The limits of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of snapshots, if given.
    pub max_snapshots: Option<usize>,
    /// The maximum number of entries per block, if given.
    pub max_changes_per_snapshot: Option<usize>,
    /// Whether anything was omitted.
    pub truncated: bool,
}

/// A problem that did not prevent a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeError {
    /// The stable code.
    pub code: &'static str,
    /// The message.
    pub message: String,
}

impl RangeDiff {
    /// Returns the result as the specification's JSON object.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("query", self.query.as_str().into());
        object.insert("snapshots", list(&self.snapshots, SnapshotRef::to_value));
        object.insert("diffs", list(&self.diffs, DiffBlock::to_value));
        object.insert("mode", "pairwise".into());
        if let Some(limits) = &self.limits {
            object.insert("limits", limits.to_value());
        }
        if !self.warnings.is_empty() {
            object.insert("warnings", list(&self.warnings, |text| text.as_str().into()));
        }
        if !self.errors.is_empty() {
            object.insert("errors", list(&self.errors, RangeError::to_value));
        }
        object.into()
    }
}

impl SnapshotRef {
    fn to_value(&self) -> Value {
        let mut object = Object::new();
        let kind = match self.kind {
            SnapshotKind::Turn => "t",
            SnapshotKind::Cycle => "c",
        };
        object.insert("kind", kind.into());
        object.insert("value", self.value.into());
        object.insert("label", self.label.as_str().into());
        object.insert("cycle", self.cycle.get().into());
        object.into()
    }
}

impl DiffBlock {
    /// Returns whether nothing was added, removed or changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stats == Stats::default()
    }

    fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("from", self.from.to_value());
        object.insert("to", self.to.to_value());
        object.insert("added_ids", list(&self.added, |id| id.as_str().into()));
        object.insert("removed_ids", list(&self.removed, |id| id.as_str().into()));
        object.insert("changed", list(&self.changed, ChangedNode::to_value));
        let mut stats = Object::new();
        stats.insert("added", count(self.stats.added));
        stats.insert("removed", count(self.stats.removed));
        stats.insert("changed", count(self.stats.changed));
        object.insert("stats", stats.into());
        object.into()
    }
}

impl ChangedNode {
    fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("id", self.id.as_str().into());
        object.insert("fields", list(&self.fields, |field| field.as_str().into()));
        if !self.delta.is_empty() {
            let mut delta = Object::new();
            for field in &self.delta {
                let mut sides = Object::new();
                sides.insert("from", field.from.clone());
                sides.insert("to", field.to.clone());
                delta.insert(field.field.as_str(), sides.into());
            }
            object.insert("delta", delta.into());
        }
        if let Some(diff) = &self.content_diff {
            object.insert("content_diff", diff.to_value());
        }
        if let Some((newer, older)) = &self.materialized {
            let mut sides = Object::new();
            sides.insert("newer", newer.clone().into());
            sides.insert("older", older.clone().into());
            object.insert("materialized", sides.into());
        }
        object.into()
    }
}

impl Limits {
    fn to_value(self) -> Value {
        let mut object = Object::new();
        if let Some(cap) = self.max_snapshots {
            object.insert("maxSnapshots", count(cap));
        }
        if let Some(cap) = self.max_changes_per_snapshot {
            object.insert("maxChangesPerSnapshot", count(cap));
        }
        object.insert("truncated", self.truncated.into());
        object.into()
    }
}

impl RangeError {
    fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("code", self.code.into());
        object.insert("message", self.message.as_str().into());
        object.insert("fatal", false.into());
        object.into()
    }
}

pub(super) fn count(number: usize) -> Value {
    Value::from(number as u64)
}

pub(super) fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(value).collect())
}
