//! A context: the working tree, its history, and the operations that change them.

use std::sync::Arc;

use contextree_canon::{Hash, Limits};
use contextree_query::QueryLimits;
use contextree_selector::Edition;
use contextree_tree::diff::{self, Diff};
use contextree_tree::{Cycle, Draft, Log, NodeData, NodeRef, Region, Tree, TreeRef, Vocabulary};

use crate::attempt::{Attempt, AttemptError, AttemptStart, AttemptStatus, Attempts};
use crate::cached::Cache;
use crate::call::RunningCall;
use crate::clock::{Clock, IdSource, LogicalClock, ReadableIds};
use crate::commit::{CommitOptions, Sums, Surroundings};
use crate::durable::Recorder;
use crate::error::{BatchError, CommitError, OpError};
use crate::op::{Edit, Op, Outcome, Place, PreparedNode};
use crate::policy::{Measure, Measures, Measuring, Policy};
use crate::refs::{Handles, LivenessProbe, Reference};
use crate::report::CommitReport;
use crate::snapshot::{Snapshot, SnapshotAddress, SnapshotError};
use crate::work::{Counters, Settings, Work};

/// Options for opening a context. The defaults are deterministic.
#[derive(Default)]
pub struct ContextOptions {
    /// Default edition for selectors; 0.3 unless set.
    pub edition: Edition,
    /// The type names of nodes that the engine creates: `mt`, `mc`, `cb` in editions 0.1 and 0.2,
    /// `seg`, `cont`, `block` in edition 0.3; selectors of every edition understand both.
    pub vocabulary: Vocabulary,
    /// Limits on the size of trees.
    pub limits: Limits,
    /// The source of stamps; a logical clock by default.
    pub clock: Option<Arc<dyn Clock>>,
    /// The source of ids; readable ones by default.
    pub ids: Option<Arc<dyn IdSource>>,
    /// The policy of every commit whose options name no other; none by default.
    pub policy: Option<Policy>,
    /// Whether records hold every content themselves, whatever its length, so that no store shares it with equal ones. False by default.
    pub inline_contents: bool,
    /// Measures that policies can count in, by name; more can be added with [`Context::set_measure`].
    pub measures: Vec<(String, Arc<dyn Measure>)>,
}

/// A context. It has one writer at a time; snapshots can be read from any thread.
///
/// ```
/// use contextree_engine::{Context, NewNode, Place};
///
/// let mut context = Context::new();
/// context.add(Place::system(), NewNode::text("You are helpful.").role("system"))?;
/// context.add(Place::head(), NewNode::text("Hello").role("user"))?;
/// let report = context.commit()?;
/// assert_eq!(report.sealed, "seg:1");
/// assert_eq!(context.newest().expect("one commit").view().turn_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Context {
    pub(crate) draft: Draft,
    pub(crate) counters: Counters,
    pub(crate) settings: Arc<Settings>,
    /// The loaded snapshots, which are the newest ones.
    pub(crate) history: Log<Snapshot>,
    /// The number of older snapshots that are only in a store.
    pub(crate) skipped: usize,
    pub(crate) handles: Handles,
    pub(crate) measures: Measures,
    pub(crate) attempts: Attempts,
    /// Counts changes of the working state, so that a stale preview can be detected.
    pub(crate) revision: u64,
    /// Changes not yet taken by a store; `None` if the context is not recorded.
    pub(crate) recorder: Option<Recorder>,
    /// The call that is running. The working state is then the head of the cycle after it.
    pub(crate) running: Option<Box<RunningCall>>,
    /// The time that counts in place of the clock's; see [`Context::at_time`].
    pub(crate) time: Option<i64>,
    pub(crate) cache: Cache,
    /// The size of the last snapshot, for limits.
    pub(crate) sums: Sums,
}

/// The result that a commit would have. It can be accepted as long as nothing else happens.
#[derive(Debug)]
#[must_use]
pub struct Preview {
    /// The report of the commit.
    pub report: CommitReport,
    /// The snapshot of the commit.
    pub snapshot: Snapshot,
    pub(crate) now: i64,
    pub(crate) revision: u64,
}

/// Returns the vocabulary of an edition: messages (`mt`, `mc`, `cb`) up to 0.2, segments after it.
#[must_use]
pub fn vocabulary_of(edition: Edition) -> Vocabulary {
    match edition {
        Edition::V0_1 | Edition::V0_2 => Vocabulary::Message,
        Edition::V0_3 => Vocabulary::Segment,
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Context")
            .field("next_cycle", &self.next_cycle())
            .field("snapshots", &self.history.len())
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Returns an empty context with the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(ContextOptions::default())
    }

    /// Returns an empty context.
    #[must_use]
    pub fn with_options(options: ContextOptions) -> Self {
        let region = |region: Region| {
            let mut data = NodeData::new(region.word().trim_start_matches('^'), region.word());
            data.creation_index = region as u32;
            data
        };
        let regions = Region::ALL.map(region);
        let draft = contextree_tree::Builder::new(NodeData::new("root", "^root"), regions)
            .expect("the four ids differ")
            .finish_draft(Cycle::FIRST);
        Self::from_parts(draft, Log::default(), options)
    }

    /// Builds a context from a draft and the snapshots before it.
    pub(crate) fn from_parts(
        draft: Draft,
        history: Log<Snapshot>,
        options: ContextOptions,
    ) -> Self {
        let mut counters = counters_of(draft.view());
        counters.last_ns = history.last().map_or(0, |last| last.last_ns).max(counters.last_ns);
        Self::restored(draft, history, counters, options)
    }

    /// Like [`Context::from_parts`], but with known counters.
    pub(crate) fn restored(
        draft: Draft,
        history: Log<Snapshot>,
        counters: Counters,
        options: ContextOptions,
    ) -> Self {
        let settings = Settings {
            edition: options.edition,
            vocabulary: options.vocabulary,
            limits: options.limits,
            clock: options.clock.unwrap_or_else(|| Arc::new(LogicalClock)),
            ids: options.ids.unwrap_or_else(|| Arc::new(ReadableIds)),
            policy: options.policy,
            inline_contents: options.inline_contents,
        };
        Context {
            draft,
            counters,
            settings: Arc::new(settings),
            history,
            skipped: 0,
            handles: Handles::default(),
            measures: Measures(options.measures.into_iter().collect()),
            attempts: Attempts::default(),
            revision: 0,
            recorder: None,
            running: None,
            time: None,
            cache: Cache::default(),
            sums: Sums::default(),
        }
    }

    pub(crate) fn work(&mut self) -> Work<'_> {
        let running = self.running.as_deref();
        Work {
            draft: &mut self.draft,
            counters: &mut self.counters,
            settings: &self.settings,
            last: running.map(|call| &call.snapshot).or(self.history.last()).map(Snapshot::tree),
            now: self.time,
            reserved: None,
            running,
        }
    }

    /// Applies one operation.
    ///
    /// # Errors
    ///
    /// If the operation is not allowed; nothing has changed.
    pub fn apply(&mut self, op: Op) -> Result<Outcome, OpError> {
        let outcome = self.work().apply(op)?;
        self.revision += 1;
        Ok(outcome)
    }

    /// Applies all of these operations, or none.
    ///
    /// # Errors
    ///
    /// If an operation is not allowed; reports the first one, and nothing has changed.
    pub fn batch(&mut self, ops: Vec<Op>) -> Result<Vec<Outcome>, BatchError> {
        let before = self.counters.mark();
        self.draft.checkpoint();
        let mut work = self.work();
        let outcomes: Result<Vec<_>, _> = ops
            .into_iter()
            .enumerate()
            .map(|(index, op)| work.apply(op).map_err(|error| BatchError { index, error }))
            .collect();
        match outcomes {
            Ok(outcomes) => {
                self.draft.keep();
                self.revision += 1;
                Ok(outcomes)
            }
            Err(error) => {
                self.draft.roll_back();
                self.counters.roll_back(before);
                Err(error)
            }
        }
    }

    /// Adds a node; returns its id.
    ///
    /// # Errors
    ///
    /// See [`Context::apply`].
    #[expect(clippy::needless_pass_by_value, reason = "a place is made for one operation")]
    pub fn add(&mut self, place: Place, node: impl Into<PreparedNode>) -> Result<String, OpError> {
        let mut work = self.work();
        let added = work.add(&place, node.into()).map_err(|error| work.explain(error))?;
        self.revision += 1;
        Ok(added.id)
    }

    /// Changes a node of the active turn.
    ///
    /// # Errors
    ///
    /// See [`Context::apply`].
    pub fn edit(&mut self, node: &str, edit: Edit) -> Result<(), OpError> {
        self.apply(Op::Edit { node: node.to_owned(), edit }).map(drop)
    }

    /// Removes a node and its subtree.
    ///
    /// # Errors
    ///
    /// See [`Context::apply`].
    pub fn remove(&mut self, node: &str) -> Result<(), OpError> {
        self.apply(Op::Remove { node: node.to_owned() }).map(drop)
    }

    /// Commits, pruning what the context's own policy says.
    ///
    /// # Errors
    ///
    /// See [`Context::commit_with`].
    pub fn commit(&mut self) -> Result<CommitReport, CommitError> {
        self.commit_with(&CommitOptions::default())
    }

    /// Commits: expire, cascade, compact and prune if requested, seal, snapshot.
    ///
    /// # Errors
    ///
    /// If the compaction or the policy is invalid. Nothing has changed, and the next try has the
    /// same number.
    pub fn commit_with(
        &mut self,
        options: &CommitOptions<'_>,
    ) -> Result<CommitReport, CommitError> {
        self.commit_at(options, None)
    }

    fn commit_at(
        &mut self,
        options: &CommitOptions<'_>,
        now: Option<i64>,
    ) -> Result<CommitReport, CommitError> {
        let (report, snapshot) = self.commit_working(options, now)?;
        self.history.push(snapshot);
        self.revision += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.reports.push(report.clone());
        }
        Ok(report)
    }

    /// Commits the working state and returns the snapshot, which is not part of the history yet.
    pub(crate) fn commit_working(
        &mut self,
        options: &CommitOptions<'_>,
        now: Option<i64>,
    ) -> Result<(CommitReport, Snapshot), CommitError> {
        self.check_idle()?;
        let before = self.counters.mark();
        let now = now.unwrap_or_else(|| self.now_ns());
        let mut work = Work {
            draft: &mut self.draft,
            counters: &mut self.counters,
            settings: &self.settings,
            last: self.history.last().map(Snapshot::tree),
            now: Some(now),
            reserved: None,
            running: None,
        };
        let measures = Measuring { bound: options.measures, context: &self.measures };
        let usual = QueryLimits::default();
        let limits = options.limits.unwrap_or(&usual);
        let around = Surroundings { handles: &self.handles, measures, sums: &self.sums, limits };
        match work.commit(options, &around) {
            Ok((report, tree)) => {
                let last_ns = self.counters.last_ns;
                Ok((report, Snapshot::after(self.history.last(), tree, last_ns)))
            }
            Err(error) => {
                self.counters.roll_back(before);
                Err(error)
            }
        }
    }

    /// Returns the result that a commit would have, without committing: the same report and the
    /// same bytes.
    ///
    /// # Errors
    ///
    /// If the commit would fail.
    pub fn preview(&self, options: &CommitOptions<'_>) -> Result<Preview, CommitError> {
        self.preview_at(options, self.now_ns())
    }

    fn preview_at(&self, options: &CommitOptions<'_>, now: i64) -> Result<Preview, CommitError> {
        self.check_idle()?;
        let mut draft = self.draft.fork();
        let mut counters = self.counters.clone();
        let mut work = Work {
            draft: &mut draft,
            counters: &mut counters,
            settings: &self.settings,
            last: self.history.last().map(Snapshot::tree),
            now: Some(now),
            reserved: None,
            running: None,
        };
        let measures = Measuring { bound: options.measures, context: &self.measures };
        let usual = QueryLimits::default();
        let limits = options.limits.unwrap_or(&usual);
        let around = Surroundings { handles: &self.handles, measures, sums: &self.sums, limits };
        let (report, tree) = work.commit(options, &around)?;
        let snapshot = Snapshot::after(self.history.last(), tree, counters.last_ns);
        Ok(Preview { report, snapshot, now, revision: self.revision })
    }

    /// Commits exactly what was previewed, including its stamps. The options must be those of the
    /// preview.
    ///
    /// # Errors
    ///
    /// [`CommitError::StalePreview`] if the commit would differ from the preview: the context was
    /// changed since, a handle was taken or dropped, or the options differ.
    pub fn accept(
        &mut self,
        preview: &Preview,
        options: &CommitOptions<'_>,
    ) -> Result<CommitReport, CommitError> {
        // The result of a commit depends not only on the tree but also on handles, probes and
        // measures. So it is computed again, and the reports, which contain the digest, are
        // compared.
        let unchanged = preview.revision == self.revision;
        if !unchanged || self.preview_at(options, preview.now)?.report != preview.report {
            return Err(CommitError::StalePreview);
        }
        self.commit_at(options, Some(preview.now))
    }

    /// Returns a new context that begins with the snapshot at an address. Takes the same time for
    /// any history.
    ///
    /// It has the snapshots up to that one, but no handles and attempts.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot.
    pub fn fork(&self, address: SnapshotAddress) -> Result<Context, SnapshotError> {
        let index = self.index_of(address)?;
        let snapshot = self.snapshot(address)?;
        // Stamps continue from that snapshot, independent of those that the other branch has
        // assigned since.
        let counters = Counters { last_ns: snapshot.last_ns, ..Counters::default() };
        Ok(self.fork_with(snapshot.tree().fork(), index + 1, counters))
    }

    /// Returns a new context that begins with the current working state, including uncommitted
    /// changes. If a call is running, the fork begins as if the call had been canceled.
    #[must_use]
    pub fn fork_working(&self) -> Context {
        let (draft, counters) = match self.running.as_deref() {
            Some(call) => call.canceled(self.draft.view(), &self.counters),
            None => (self.draft.fork(), self.counters.clone()),
        };
        self.fork_with(draft, self.history.len(), counters)
    }

    fn fork_with(&self, draft: Draft, snapshots: usize, counters: Counters) -> Context {
        Context {
            draft,
            counters,
            settings: Arc::clone(&self.settings),
            history: self.history.fork(snapshots),
            skipped: self.skipped,
            handles: self.handles.fork(),
            measures: self.measures.clone(),
            attempts: Attempts::default(),
            revision: 0,
            recorder: None,
            running: None,
            time: None,
            cache: Cache::default(),
            sums: Sums::default(),
        }
    }

    /// Returns a view for reading the working tree.
    #[must_use]
    pub fn working(&self) -> TreeRef<'_> {
        self.draft.view()
    }

    /// Returns the number of the next commit.
    #[must_use]
    pub fn next_cycle(&self) -> Cycle {
        self.draft.view().next_cycle()
    }

    /// Returns the newest snapshot, `@t0`; `None` before the first commit.
    #[must_use]
    pub fn newest(&self) -> Option<&Snapshot> {
        self.history.last()
    }

    /// Returns the snapshots, oldest first: all of them, or, for a context from a store, those that
    /// are loaded; see [`Context::skipped`].
    #[must_use]
    pub fn history(&self) -> &Log<Snapshot> {
        &self.history
    }

    /// Returns the number of snapshots before those of [`Context::history`] that are not loaded. 0
    /// for every context that is not from a store.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns a number that changes with every change of the working state.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the snapshot at an address.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot. The present is never returned in place of the past.
    pub fn snapshot(&self, address: SnapshotAddress) -> Result<&Snapshot, SnapshotError> {
        let index = self.index_of(address)?;
        Ok(self.history.get(index).expect("the index was just found"))
    }

    fn index_of(&self, address: SnapshotAddress) -> Result<usize, SnapshotError> {
        let found = match address {
            SnapshotAddress::Back(back) => usize::try_from(back)
                .ok()
                .and_then(|back| self.history.len().checked_sub(1)?.checked_sub(back)),
            SnapshotAddress::Cycle(cycle) => self.find_cycle(cycle),
        };
        if found.is_none() && self.is_before_loaded(address) {
            return Err(SnapshotError::NotLoaded { address: address.to_string() });
        }
        found.ok_or_else(|| SnapshotError::NotFound {
            address: address.to_string(),
            oldest: self.history.get(0).map(Snapshot::cycle),
            newest: self.history.last().map(Snapshot::cycle),
        })
    }

    /// Returns whether an address is before the loaded snapshots, so that only the store can
    /// resolve it.
    fn is_before_loaded(&self, address: SnapshotAddress) -> bool {
        let (loaded, skipped) = (self.history.len() as u64, self.skipped as u64);
        let oldest = self.history.get(0).map_or(u64::MAX, |oldest| u64::from(oldest.cycle()));
        match address {
            SnapshotAddress::Back(back) => back >= loaded && back - loaded < skipped,
            SnapshotAddress::Cycle(cycle) => skipped > 0 && cycle < oldest,
        }
    }

    /// Finds the snapshot of a commit. Numbers increase by one, except where foreign snapshots were
    /// imported.
    fn find_cycle(&self, cycle: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.history.len());
        while low < high {
            let middle = low.midpoint(high);
            match u64::from(self.history.get(middle)?.cycle()).cmp(&cycle) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the digest of the whole history: equal exactly for equal histories.
    #[must_use]
    pub fn history_digest(&self) -> Hash {
        self.newest().map_or(Hash([0; 32]), Snapshot::history_digest)
    }

    /// Returns what changed between two snapshots, from the older to the newer one, in whichever
    /// order they are given.
    ///
    /// # Errors
    ///
    /// If one of them does not exist.
    pub fn diff(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<Diff, SnapshotError> {
        let (older, newer) = self.in_order(left, right)?;
        Ok(diff::diff(older.view(), newer.view()))
    }

    /// Like [`Context::diff`], but with values, parents and children.
    ///
    /// # Errors
    ///
    /// If one of them does not exist.
    pub fn changes(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<diff::Changes, SnapshotError> {
        let (older, newer) = self.in_order(left, right)?;
        Ok(diff::changes(older.view(), newer.view()))
    }

    pub(crate) fn in_order(
        &self,
        left: SnapshotAddress,
        right: SnapshotAddress,
    ) -> Result<(&Snapshot, &Snapshot), SnapshotError> {
        let (left, right) = (self.snapshot(left)?, self.snapshot(right)?);
        Ok(if left.cycle() <= right.cycle() { (left, right) } else { (right, left) })
    }

    /// Returns what changed in the working tree since the last snapshot; `None` before the first.
    #[must_use]
    pub fn pending(&self) -> Option<Diff> {
        Some(diff::diff(self.newest()?.view(), self.working()))
    }

    /// Returns a handle on a node of the working tree: the node neither expires nor is pruned while
    /// the handle exists.
    ///
    /// # Errors
    ///
    /// If there is no such node.
    pub fn retain(&self, node: &str) -> Result<Reference, OpError> {
        match self.working().resolve(node).map(NodeRef::id) {
            Some(id) => Ok(self.handles.retain(id)),
            None => Err(OpError::NodeNotFound { node: node.to_owned() }),
        }
    }

    pub(crate) fn gave_out(&self, reference: &Reference) -> bool {
        self.handles.gave_out(reference)
    }

    /// Sets a probe that is consulted at commit time about nodes that would be removed.
    pub fn set_liveness_probe(&mut self, probe: Arc<dyn LivenessProbe>) {
        self.handles.probe = Some(probe);
    }

    /// Registers a measure that policies can use.
    pub fn set_measure(&mut self, name: impl Into<String>, measure: Arc<dyn Measure>) {
        self.measures.0.insert(name.into(), measure);
    }

    /// Starts an attempt.
    pub fn start_attempt(&mut self, start: AttemptStart<'_>) -> &Attempt {
        let (cycle, now) = (self.next_cycle(), self.now_ns());
        let attempt = self.attempts.start(start, cycle, now);
        if let Some(recorder) = &mut self.recorder {
            recorder.attempts.push(attempt.attempt_id.clone());
        }
        attempt
    }

    /// Ends a running attempt.
    ///
    /// # Errors
    ///
    /// If there is no such attempt, or it has already ended.
    pub fn end_attempt(
        &mut self,
        attempt: &str,
        status: AttemptStatus,
        tokens: Option<(u64, u64)>,
    ) -> Result<&Attempt, AttemptError> {
        if self.running.as_ref().is_some_and(|call| call.attempt == attempt) {
            return Err(AttemptError::IsCall(attempt.to_owned()));
        }
        let now = self.now_ns();
        let attempt = self.attempts.end(attempt, status, tokens, now)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.attempts.push(attempt.attempt_id.clone());
        }
        Ok(attempt)
    }

    /// Returns all attempts, oldest first. They are kept after the commit.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        self.attempts.list()
    }

    /// Returns the first attempt that was completed with this response of the provider.
    #[must_use]
    pub fn attempt_with_response(&self, response_id: &str) -> Option<&Attempt> {
        self.attempts.with_response(response_id)
    }

    /// Returns the default edition for selectors.
    #[must_use]
    pub fn edition(&self) -> Edition {
        self.settings.edition
    }

    /// Returns the policy of every commit whose options name no other.
    #[must_use]
    pub fn policy(&self) -> Option<&Policy> {
        self.settings.policy.as_ref()
    }

    /// Returns the source of ids.
    #[must_use]
    pub fn ids(&self) -> &Arc<dyn IdSource> {
        &self.settings.ids
    }

    /// Returns the vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> Vocabulary {
        self.settings.vocabulary
    }

    /// Returns the newest tree; `None` before the first commit.
    #[must_use]
    pub fn newest_tree(&self) -> Option<&Tree> {
        self.newest().map(Snapshot::tree)
    }
}

/// Returns counters that continue a tree: stamps after its latest, indices after those of the
/// current cycle.
pub(crate) fn counters_of(tree: TreeRef<'_>) -> Counters {
    let mut counters = Counters::default();
    if tree.node_count() > 4 {
        for (_, node) in tree.nodes() {
            counters.last_ns = counters.last_ns.max(node.created_at_ns());
            if node.cycle() == tree.next_cycle() {
                counters.next_index = counters.next_index.max(node.creation_index() + 1);
            }
        }
    }
    counters
}
