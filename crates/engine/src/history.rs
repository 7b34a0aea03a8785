//! Import and export of snapshots, working states and whole histories.

use contextree_canon::history::{
    HistoryReader, Line, SideLine, write_delta, write_end, write_first, write_side, write_working,
};
use contextree_canon::{DocumentError, Profile, export, import, import_working};
use contextree_json::lines;
use contextree_tree::diff::{Pair, pairs, written};
use contextree_tree::{Cycle, Log, Tree};

use crate::context::{Context, ContextOptions, counters_of};
use crate::snapshot::Snapshot;

impl Context {
    /// Returns a context that continues from a snapshot document: the document is its only
    /// snapshot, and the next commit has the next number.
    ///
    /// # Errors
    ///
    /// If the document is invalid.
    pub fn import_snapshot(
        text: &[u8],
        profile: Profile,
        options: ContextOptions,
    ) -> Result<Context, DocumentError> {
        let imported = import(text, profile, &options.limits)?;
        let draft = imported.tree.continue_branch();
        let mut history = Log::default();
        history.push(Snapshot::after(None, imported.tree, counters_of(draft.view()).last_ns));
        Ok(Context::from_parts(draft, history, options))
    }

    /// Returns a context whose working state is a document; the next commit has this number.
    ///
    /// # Errors
    ///
    /// If the document is invalid.
    pub fn import_working(
        text: &[u8],
        profile: Profile,
        next_cycle: Cycle,
        options: ContextOptions,
    ) -> Result<Context, DocumentError> {
        let draft = import_working(text, profile, &options.limits, next_cycle)?;
        Ok(Context::from_parts(draft, Log::default(), options))
    }

    /// Returns the working state as a document, with the number of the next commit as its cycle.
    #[must_use]
    pub fn export_working(&self) -> Vec<u8> {
        export(self.working(), self.next_cycle())
    }

    /// Returns the whole history as JSON Lines, oldest first: a snapshot, then the changes of each
    /// commit. Its size is linear in the changes, not quadratic in the number of turns.
    #[must_use]
    pub fn export_history(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut before: Option<&Snapshot> = None;
        for snapshot in self.history().iter() {
            match before {
                None => write_first(&mut out, snapshot.tree()),
                // Foreign snapshots that were imported one by one share no rows, so changes cannot
                // be derived.
                Some(before)
                    if before.cycle().next() != snapshot.cycle()
                        || !before.shares_history(snapshot) =>
                {
                    write_first(&mut out, snapshot.tree());
                }
                Some(before) => write_delta(&mut out, before.tree(), snapshot.tree()),
            }
            before = Some(snapshot);
        }
        out
    }

    /// Like [`Context::export_history`], followed by the working state, if it differs from the
    /// newest snapshot, and by side records, which a store keeps for programs.
    #[must_use]
    pub fn export_history_and_sides(&self, sides: &[SideLine]) -> Vec<u8> {
        let mut out = self.export_history();
        if let Some(newest) = self.newest()
            && !written(newest.view(), self.working()).is_empty()
        {
            write_working(&mut out, newest.tree(), self.working());
        }
        sides.iter().for_each(|side| write_side(&mut out, side));
        out
    }

    /// Completes a history to a copy that notices damage: its last line counts the others, and is expected by an import. Takes what
    /// [`Context::export_history`] or [`Context::export_history_and_sides`] returned.
    #[must_use]
    pub fn complete_history(mut history: Vec<u8>) -> Vec<u8> {
        write_end(&mut history);
        history
    }

    /// Returns a context with the history of a JSON Lines document. Lines may be full snapshots or
    /// changes.
    ///
    /// # Errors
    ///
    /// The first invalid line, from 1, and the problem. An empty document is an error at line 1.
    pub fn import_history(
        text: &[u8],
        profile: Profile,
        options: ContextOptions,
    ) -> Result<Context, HistoryError> {
        Context::import_history_and_sides(text, profile, options).map(|(context, _)| context)
    }

    /// Like [`Context::import_history`], but also returns the side records of the document, which
    /// a context does not have: its store keeps them.
    ///
    /// # Errors
    ///
    /// Like [`Context::import_history`].
    pub fn import_history_and_sides(
        text: &[u8],
        profile: Profile,
        options: ContextOptions,
    ) -> Result<(Context, Vec<SideLine>), HistoryError> {
        let mut sides = Vec::new();
        let mut reader = HistoryReader::new(profile, options.limits);
        let mut history = Log::default();
        let mut last_ns = 0;
        for (index, line) in lines(text).enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let line =
                reader.line(line).map_err(|error| HistoryError { line: index + 1, error })?;
            let tree = match line {
                Line::Snapshot(tree) => tree,
                Line::Working | Line::End => continue,
                Line::Side(side) => {
                    sides.push(side);
                    continue;
                }
            };
            last_ns = latest_stamp(history.last(), &tree, last_ns);
            history.push(Snapshot::after(history.last(), tree, last_ns));
        }
        let last = lines(text).count();
        let draft = reader.into_draft().map_err(|error| HistoryError { line: last, error })?;
        let Some(draft) = draft else {
            let error = import(b"", profile, &options.limits).map(drop).err();
            return Err(HistoryError {
                line: 1,
                error: error.expect("an empty text is not a document"),
            });
        };
        Ok((Context::from_parts(draft, history, options), sides))
    }
}

/// Returns the latest creation stamp up to a tree, looking only at its new nodes.
fn latest_stamp(before: Option<&Snapshot>, tree: &Tree, latest: i64) -> i64 {
    let Some(before) = before else { return latest.max(counters_of(tree.view()).last_ns) };
    pairs(before.view(), tree.view())
        .into_iter()
        .filter_map(|pair| match pair {
            Pair::Added(node) | Pair::Both(_, node) => Some(node.created_at_ns()),
            Pair::Removed(_) => None,
        })
        .fold(latest, i64::max)
}

/// An invalid line of a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct HistoryError {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    #[source]
    pub error: DocumentError,
}

impl HistoryError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.error.code()
    }
}
