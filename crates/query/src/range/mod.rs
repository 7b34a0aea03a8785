//! Ranges: compares what a selector matches from snapshot to snapshot (RangeDiffLatestResult).

mod compare;
mod content_diff;
mod local;
mod options;
mod patch;
mod result;
mod select_diff;
mod tokens;

pub(crate) use compare::range_diff;
pub use content_diff::{ContentBody, ContentDiff, Hunk, HunkKind};
pub use local::{Locality, locality};
pub use options::{ContentMode, Materialize, RangeOptions, UnknownContentMode};
pub use patch::{PatchOp, json_patch};
pub use result::{
    ChangedNode, DiffBlock, FieldDelta, Limits, RangeDiff, RangeError, SnapshotKind, SnapshotRef,
    Stats,
};
pub use select_diff::diff_selected;
