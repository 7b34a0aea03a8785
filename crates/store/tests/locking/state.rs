//! In place of `crate::state`: a state that is in memory and never read.

use std::sync::Arc;

use contextree_engine::{Context, Tail};
use contextree_store::{BranchId, ContextId, ContextRow, ContextSettings, Revision, Stretch};

use crate::checkpoint::Spacing;

pub(crate) struct Newest {
    pub(crate) tail: Arc<Tail>,
    pub(crate) spacing: Spacing,
}

pub(crate) struct State {
    pub(crate) row: ContextRow,
    pub(crate) settings: Arc<ContextSettings>,
    lineage: Arc<[Stretch]>,
    newest: Newest,
}

/// Returns a context with one snapshot.
pub(crate) fn context() -> Context {
    let mut context = Context::new();
    context.commit().unwrap();
    context
}

impl State {
    pub(crate) fn new(name: &str) -> State {
        let row = ContextRow {
            id: ContextId(1),
            name: name.to_owned(),
            branch: BranchId(1),
            revision: Revision::FIRST,
            head: None,
            snapshots: 1,
            settings: String::new(),
            created_ns: 0,
            updated_ns: 0,
        };
        let tail = Arc::new(context().tail().unwrap());
        State {
            row,
            settings: Arc::default(),
            lineage: Arc::new([]),
            newest: Newest { tail, spacing: Spacing::default() },
        }
    }

    pub(crate) fn unpacked(
        row: ContextRow,
        settings: Arc<ContextSettings>,
        _backend: Arc<()>,
        lineage: Arc<[Stretch]>,
        newest: Newest,
    ) -> State {
        State { row, settings, lineage, newest }
    }

    pub(crate) fn lineage(&self) -> &Arc<[Stretch]> {
        &self.lineage
    }

    #[expect(clippy::unnecessary_wraps, reason = "a state that was not read has none")]
    pub(crate) fn loaded(&self) -> Option<&Newest> {
        Some(&self.newest)
    }
}
