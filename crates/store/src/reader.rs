//! Reading a context.

use std::sync::Arc;

use contextree_canon::Hash;
use contextree_canon::record::{Subject, read_effects};
use contextree_engine::{
    Attempt, CommitReport, Context, Snapshot, SnapshotAddress, Working, report_of,
};
use contextree_query::{
    Answer, Explanation, Moment, QueryError, QueryLimits, SelectOptions, Timeline, diff_selected,
    explain_within, plan, resolve_on_tree, select,
};
use contextree_selector::{Edition, parse};
use contextree_tree::diff::{self, Diff};
use contextree_tree::{Cycle, TreeRef};

use crate::error::{ReadError, Result, StoreError};
use crate::load;
use crate::rows::{Commit, ContextRow, Pin};
use crate::settings::ContextSettings;
use crate::slot::Lease;
use crate::state::State;
use crate::store::Shared;

/// A context at one revision, to be read: its snapshots of any age, and its working state.
///
/// A reader is a handle. It can be cloned, sent to other threads and read from all of them at once, and it never waits for
/// a writer. What it shows does not change until [`Reader::refresh`] is called. All readers and sessions of a context in one
/// process share what was loaded.
///
/// Opening a reader reads only the context's row and its journal. Snapshots are loaded when they are first asked for.
///
/// ```
/// use contextree_engine::{NewNode, Place, SnapshotAddress};
/// use contextree_store::{ContextSettings, Store};
///
/// let store = Store::open("memory:")?;
/// let mut session = store.create("main", &ContextSettings::default())?;
/// session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
///     context.add(Place::head(), NewNode::text("Hello").role("user"))?;
///     context.commit()?;
///     Ok(())
/// })?;
///
/// let reader = store.reader("main")?;
/// let other = reader.clone();
/// let thread = std::thread::spawn(move || {
///     other.snapshot(SnapshotAddress::Back(0)).map(|snapshot| snapshot.thread())
/// });
/// let nodes = reader.select("@t0 .block")?.nodes().expect("not a range");
/// assert_eq!(nodes.ids(), ["block:1.1"]);
/// assert!(thread.join().expect("it does not panic")?.starts_with(b"["));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reader {
    pub(crate) lease: Arc<Lease>,
    pub(crate) state: Arc<State>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("row", self.row()).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn open(shared: &Arc<Shared>, name: &str) -> Result<Reader> {
        let lease = Lease::new(shared, name)?;
        let state = lease.newest()?;
        Ok(Reader { lease, state })
    }

    /// Returns the context's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.row.name
    }

    /// Returns the context's row in the store at this revision.
    #[must_use]
    pub fn row(&self) -> &ContextRow {
        &self.state.row
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &ContextSettings {
        &self.state.settings
    }

    /// Moves on to the newest revision. Returns true if there was a newer one.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or the context was deleted.
    pub fn refresh(&mut self) -> Result<bool> {
        let state = self.lease.newest()?;
        let is_newer = !state.is_at(self.state.row.id, self.state.row.revision);
        if is_newer {
            self.state = state;
        }
        Ok(is_newer)
    }

    /// Returns how many snapshots there are.
    #[must_use]
    pub fn snapshot_count(&self) -> usize {
        self.state.snapshot_count()
    }

    /// Walks all snapshots, newest first, also those that were stored before this reader was opened. Each is read when it is
    /// reached; [`Context::history`] has only those that are in memory.
    ///
    /// ```
    /// use contextree_engine::{NewNode, Place};
    /// use contextree_store::{ContextSettings, Store, StoreError};
    ///
    /// let store = Store::open("memory:")?;
    /// let mut session = store.create("main", &ContextSettings::default())?;
    /// for text in ["Hello", "And again"] {
    ///     session.write(|context| {
    ///         context.add(Place::head(), NewNode::text(text).role("user")).expect("it follows the rules");
    ///         context.commit().expect("nothing is running");
    ///         Ok::<_, StoreError>(())
    ///     })?;
    /// }
    /// let reopened = store.reader("main")?;
    /// let cycles: Result<Vec<_>, _> =
    ///     reopened.snapshots().map(|snapshot| snapshot.map(|it| it.cycle().get())).collect();
    /// assert_eq!(cycles?, [2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshots(
        &self,
    ) -> impl DoubleEndedIterator<Item = Result<Snapshot, ReadError>> + ExactSizeIterator + '_ {
        (0..self.snapshot_count()).map(|back| self.snapshot(SnapshotAddress::Back(back as u64)))
    }

    /// Returns how many of them are in memory.
    #[must_use]
    pub fn loaded_snapshots(&self) -> usize {
        self.state.loaded_snapshots()
    }

    /// Returns the newest snapshot, `@t0`; `None` before the first commit.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn newest(&self) -> Result<Option<&Snapshot>> {
        Ok(self.state.newest()?.tail.newest())
    }

    /// Returns the snapshot at an address, of any age. A snapshot is a handle as well: cloning it clones a pointer.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be read. The present is never returned in place of the past.
    pub fn snapshot(&self, address: SnapshotAddress) -> Result<Snapshot, ReadError> {
        let position = self.state.locate(address)?;
        match self.state.find(position)? {
            Some(snapshot) => Ok(snapshot.clone()),
            None => Err(self.removed(address)),
        }
    }

    /// A snapshot that was there a moment ago.
    fn removed(&self, address: SnapshotAddress) -> ReadError {
        ReadError::Snapshot(contextree_engine::SnapshotError::Retired {
            address: address.to_string(),
            oldest: None,
            newest: self.state.row.head.map(|head| head.cycle),
        })
    }

    /// Returns the working state, uncommitted changes included.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn working(&self) -> Result<&Working> {
        self.state.working(|| self.lease.slot.peek(self.row(), Context::share_working))
    }

    /// Returns what changed in the working state since the newest snapshot; `None` before the first.
    ///
    /// # Errors
    ///
    /// If the newest snapshot or the working state cannot be read.
    pub fn pending(&self) -> Result<Option<Diff>> {
        let working = self.working()?;
        Ok(self.newest()?.map(|head| diff::diff(head.view(), working.view())))
    }

    /// Returns the attempts, oldest first. They may be newer than this revision if another process writes.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn attempts(&self) -> Result<&[Attempt]> {
        let shared = || self.lease.slot.peek(self.row(), |context| context.attempts().to_vec());
        self.state.attempts(shared)
    }

    /// Returns the digest of the whole history: equal exactly for equal histories.
    ///
    /// # Errors
    ///
    /// If the newest snapshot cannot be read.
    pub fn history_digest(&self) -> Result<Hash> {
        Ok(self.newest()?.map_or(Hash([0; 32]), Snapshot::history_digest))
    }

    /// Loads the snapshots between two addresses together. Reading them one after the other is fast then.
    ///
    /// # Errors
    ///
    /// If one of the two does not exist, or they cannot be read.
    pub fn prefetch(&self, left: SnapshotAddress, right: SnapshotAddress) -> Result<(), ReadError> {
        let (left, right) = (self.state.locate(left)?, self.state.locate(right)?);
        Ok(self.state.prefetch(left.min(right), left.max(right))?)
    }

    /// Returns two snapshots that share what they have in common, the older first.
    fn pair(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<(&Snapshot, &Snapshot), ReadError> {
        let (first, last) = (self.state.locate(left)?, self.state.locate(right)?);
        let pair = self.state.pair(first.min(last), first.max(last))?;
        pair.ok_or_else(|| self.removed(left))
    }

    /// Returns what changed between two snapshots of any age, from the older to the newer one.
    ///
    /// # Errors
    ///
    /// If one of them does not exist, or cannot be read.
    pub fn diff(&self, left: SnapshotAddress, right: SnapshotAddress) -> Result<Diff, ReadError> {
        let (older, newer) = self.pair(left, right)?;
        Ok(diff::diff(older.view(), newer.view()))
    }

    /// Like [`Reader::diff`], but with values, parents and children.
    ///
    /// # Errors
    ///
    /// If one of them does not exist, or cannot be read.
    pub fn changes(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<diff::Changes, ReadError> {
        let (older, newer) = self.pair(left, right)?;
        Ok(diff::changes(older.view(), newer.view()))
    }

    /// Like [`Reader::diff`], but only of the nodes that a selector matches.
    ///
    /// # Errors
    ///
    /// If a snapshot does not exist or cannot be read, the text is not a selector, or it has a time prefix.
    pub fn diff_selected(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
        selector: &str,
    ) -> Result<Diff, ReadError> {
        let (older, newer) = self.pair(left, right)?;
        let parsed = parse(selector, self.settings().edition).map_err(QueryError::from)?;
        let plan = plan(resolve_on_tree(&parsed).map_err(QueryError::from)?);
        let at = |snapshot: &Snapshot| Some(snapshot.cycle());
        let limits = &self.lease.shared.query_limits;
        Ok(diff_selected(&plan, (older.view(), at(older)), (newer.view(), at(newer)), limits)?)
    }

    /// Answers a selector of the context's edition, over the whole history.
    ///
    /// # Errors
    ///
    /// If the text is not a selector, addresses a snapshot that does not exist, or the history cannot be read.
    pub fn select(&self, selector: &str) -> Result<Answer<'_>, ReadError> {
        self.select_with(selector, self.settings().edition, &SelectOptions::default())
    }

    /// Like [`Reader::select`], but in another edition or with options.
    ///
    /// # Errors
    ///
    /// See [`Reader::select`].
    pub fn select_with(
        &self,
        selector: &str,
        edition: Edition,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, ReadError> {
        if options.limits.is_some() {
            return select(selector, edition, self, options);
        }
        let limits = Some(self.lease.shared.query_limits.clone());
        select(selector, edition, self, &SelectOptions { limits, ..options.clone() })
    }

    /// Tells how a selector is read and answered.
    ///
    /// # Errors
    ///
    /// See [`Reader::select`].
    pub fn explain(&self, selector: &str, edition: Edition) -> Result<Explanation, ReadError> {
        explain_within(selector, edition, self, &self.lease.shared.query_limits)
    }

    /// Like [`Reader::explain`], within other limits than those of the store.
    ///
    /// # Errors
    ///
    /// See [`Reader::select`].
    pub fn explain_within(
        &self,
        selector: &str,
        edition: Edition,
        limits: &QueryLimits,
    ) -> Result<Explanation, ReadError> {
        explain_within(selector, edition, self, limits)
    }

    /// Visits the reports of commits, oldest first: the cycle, the latest stamp, and the report, which imported snapshots do
    /// not have.
    ///
    /// # Errors
    ///
    /// If a record cannot be read, or the visitor fails.
    pub fn reports(
        &self,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Cycle, i64, Option<CommitReport>) -> Result<()>,
    ) -> Result<()> {
        let Some(head) = self.row().head else { return Ok(()) };
        let place = self.state.place();
        place.commits(first, last.min(head.cycle), &mut |Commit { cycle, effects, .. }| {
            let Some(effects) = effects else { return Ok(()) };
            let record = format!("commit @c{cycle}");
            let effects = read_effects(&effects).map_err(|error| place.corrupt(&record, &error))?;
            let stamp = match effects.subject {
                Subject::Commit { last_ns, .. } => last_ns,
                _ => 0,
            };
            visit(cycle, stamp, report_of(&effects))
        })
    }

    /// Reads the whole history into a context of its own, to be used without the store. What is done to it is not stored.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn to_context(&self) -> Result<Context> {
        let mut state = Arc::clone(&self.state);
        loop {
            let options = self.lease.shared.options(&state.settings)?;
            let whole = state.cycle_at(0).and_then(|oldest| load::whole(&state, oldest, options));
            let Err(StoreError::Corrupt { .. }) = &whole else { return whole };
            // Retention may have removed a part of it meanwhile; then what is left is read.
            let newest = self.lease.newest()?;
            if newest.is_at(state.row.id, state.row.revision) {
                return whole;
            }
            state = newest;
        }
    }

    /// Returns the snapshots that are pinned.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn pinned_snapshots(&self) -> Result<Vec<Pin>> {
        self.lease.shared.backend.pins(self.row().id)
    }
}

impl Timeline for Reader {
    type Error = ReadError;

    fn snapshot_count(&self) -> usize {
        self.state.snapshot_count()
    }

    fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, ReadError> {
        let snapshot = self.state.find(position)?;
        Ok(snapshot.map(|found| Moment { cycle: found.cycle(), tree: found.view() }))
    }

    fn working(&self) -> Result<Option<TreeRef<'_>>, ReadError> {
        Ok(Some(Reader::working(self)?.view()))
    }

    fn cycle_at(&self, position: usize) -> Result<Option<Cycle>, ReadError> {
        Ok(self.state.cycle_at(position)?)
    }

    fn position_of_cycle(&self, cycle: Cycle) -> Result<usize, ReadError> {
        Ok(self.state.position_of(cycle)?)
    }

    fn is_retired(&self, cycle: Cycle) -> Result<bool, ReadError> {
        Ok(self.state.is_retired(cycle)?)
    }

    fn prefetch(&self, oldest: usize, newest: usize) -> Result<(), ReadError> {
        Ok(self.state.prefetch(oldest, newest)?)
    }
}
