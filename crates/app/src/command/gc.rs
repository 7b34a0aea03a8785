//! `gc`: drops old snapshots and returns their space.

use contextree::store::{Retained, Retention};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Drops old snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GcRequest {
    /// Keeps the newest snapshots.
    pub keep: Option<u64>,
    /// Keeps the snapshots of the last days.
    pub keep_days: Option<u32>,
    /// Reports what would be dropped and drops nothing.
    pub dry_run: bool,
}

/// Dropped snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GcResponse {
    /// The number of dropped snapshots.
    pub dropped: u64,
    /// The number of kept snapshots.
    pub kept: u64,
    /// The number of undone lines that were deleted, with the operation log that could bring them back.
    pub undone: usize,
    /// Those of them that are kept only because they are pinned.
    #[serde(default)]
    pub pinned: u64,
    /// Those of them that are kept only because a fork began with one of them, or with a later one.
    #[serde(default)]
    pub forked: u64,
    /// The size of the store; null for a dry run, or if the store does not know it.
    pub bytes: Option<u64>,
}

/// Drops old snapshots of the context and returns free space. What was undone cannot be redone after it. Without a rule no snapshot is dropped. The newest snapshot,
/// pinned ones, and those that another context began with, are kept. A context that drops what it has in common with the one it was forked from gets its own copy
/// of the rest.
///
/// # Errors
///
/// If the context does not exist, or the store cannot be written.
pub fn gc(
    workspace: &Workspace,
    request: &GcRequest,
    control: &Control<'_>,
) -> Result<GcResponse, Error> {
    let _span = workspace.span("gc");
    control.check()?;
    let store = workspace.store(if request.dry_run { Access::Read } else { Access::Delete })?;
    // The error for a missing context names those that exist.
    drop(store.reader(workspace.context())?);
    let now = workspace.clock().now_ns();
    let retention = Retention {
        keep_newest: request.keep,
        keep_since_ns: request.keep_days.map(|days| days_before(now, days)),
    };
    let stored = store.for_context(workspace.context())?;
    let undone = match request.dry_run {
        true => 0,
        false => stored.forget_operations(workspace.context())?,
    };
    let retained = stored.retain(workspace.context(), &retention, request.dry_run)?;
    // The size of the store says something about contexts that the workspace does not know.
    let bytes = match request.dry_run || !store.is_whole() {
        true => None,
        false => stored.backend().reclaim()?,
    };
    let Retained { dropped, kept, pinned, forked, .. } = retained;
    Ok(GcResponse { dropped, kept, undone, pinned, forked, bytes })
}

/// Returns the stamp some days before another one; the earliest there is, if it would be before that. A limit that wrapped around
/// would be in the future, and nothing would be kept.
fn days_before(now: i64, days: u32) -> i64 {
    const DAY: i64 = 86_400_000_000_000;
    now.saturating_sub(i64::from(days).saturating_mul(DAY))
}

#[cfg(test)]
mod tests {
    use super::days_before;

    #[test]
    fn a_limit_far_in_the_past_never_wraps_into_the_future() {
        let now = 1_800_000_000_000_000_000;
        assert_eq!(days_before(now, 1), now - 86_400_000_000_000);
        for days in [106_751, 106_752, 213_504, 999_999, u32::MAX] {
            for now in [i64::MIN, -1, 0, now, i64::MAX] {
                assert!(days_before(now, days) <= now, "{days} days before {now}");
            }
        }
    }
}
