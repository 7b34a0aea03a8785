//! Reading a context or a document: states, selectors, reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree::canon::history::SideLine;
use contextree::query::{Explanation, QueryLimits, Timeline as _, explain_within, select};
use contextree::store::{ReadError, Reader as StoreReader, SideRecord};
use contextree::{
    Answer, CommitReport, Context, Cycle, Edition, SelectOptions, Snapshot, SnapshotAddress,
    SnapshotError,
};

use super::{Access, Address, FileSource, Location, State, Workspace};
use crate::wire::Bytes;
use crate::{Control, Error};

/// How many snapshots are loaded at once: those of one step share what they have in common, and a caller can cancel after each.
const AT_ONCE: usize = 1_000;

/// A context of a store, or a document, open for reading.
pub(crate) struct Reader {
    from: From,
    edition: Edition,
    place: String,
}

enum From {
    File(Arc<FileSource>),
    Store(Box<StoreReader>),
}

impl Reader {
    pub(super) fn open(workspace: &Workspace) -> Result<Reader, Error> {
        if let Location::File(file) = &workspace.location {
            return Ok(Reader {
                place: file.place.clone(),
                from: From::File(Arc::clone(file)),
                edition: workspace.edition.unwrap_or_default(),
            });
        }
        let store = workspace.store(Access::Read)?;
        let stored = store.reader(workspace.context())?;
        let edition = workspace.edition.unwrap_or(stored.settings().edition);
        let place = format!("{} in {}", stored.name(), workspace.url());
        Ok(Reader { from: From::Store(Box::new(stored)), edition, place })
    }

    /// Returns where it is read from, for people.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the edition of selectors.
    pub(crate) fn edition(&self) -> Edition {
        self.edition
    }

    /// Returns the stored context, if it is one of a store.
    pub(crate) fn stored(&self) -> Option<&StoreReader> {
        match &self.from {
            From::File(_) => None,
            From::Store(stored) => Some(stored),
        }
    }

    /// Returns the number of snapshots.
    pub(crate) fn snapshot_count(&self) -> usize {
        match &self.from {
            From::File(file) => file.snapshot_count(),
            From::Store(stored) => usize::try_from(stored.row().snapshots).unwrap_or(usize::MAX),
        }
    }

    /// Returns at most `limit` snapshots, newest first.
    pub(crate) fn newest_snapshots(
        &self,
        limit: usize,
        control: &Control<'_>,
    ) -> Result<Vec<Snapshot>, Error> {
        let count = self.snapshot_count();
        let mut snapshots = self.snapshots_at(count.saturating_sub(limit), count, control)?;
        snapshots.reverse();
        Ok(snapshots)
    }

    /// Returns the snapshots at these positions, oldest first. It can be canceled between two of [`AT_ONCE`].
    pub(crate) fn snapshots_at(
        &self,
        first: usize,
        end: usize,
        control: &Control<'_>,
    ) -> Result<Vec<Snapshot>, Error> {
        let end = end.min(self.snapshot_count());
        let back =
            |position: usize| SnapshotAddress::Back((self.snapshot_count() - 1 - position) as u64);
        let mut snapshots = Vec::new();
        let mut next = first;
        while next < end {
            control.check()?;
            let begin = next;
            next = end.min(begin + AT_ONCE);
            if let (From::Store(stored), true) = (&self.from, next > begin + 1) {
                stored.prefetch(back(begin), back(next - 1))?;
            }
            for position in begin..next {
                snapshots.push(self.snapshot(back(position))?);
            }
        }
        Ok(snapshots)
    }

    /// Returns the position of the first snapshot after a commit.
    pub(crate) fn position_after(&self, cycle: Cycle) -> Result<usize, Error> {
        let cycle = cycle.next();
        match &self.from {
            From::File(file) => {
                file.position_of_cycle(cycle).map_err(|error| Error::query(&error, ""))
            }
            From::Store(stored) => Ok(stored.position_of_cycle(cycle)?),
        }
    }

    /// Returns a text that two states have in common only if they are equal, for states of this reader's context.
    pub(crate) fn fingerprint(&self, state: &State) -> Result<String, Error> {
        Ok(match (state.snapshot(), &self.from) {
            (Some(snapshot), From::File(_)) => snapshot.history_digest().to_string(),
            // A redaction replaces contents and keeps the digest.
            (Some(snapshot), From::Store(stored)) => {
                let redactions = stored.redactions()?.len();
                format!("{}.{redactions}.{}", stored.row().id, snapshot.history_digest())
            }
            (None, From::Store(stored)) => {
                let row = stored.row();
                format!("{}.{}", row.id, row.revision)
            }
            // A document does not change.
            (None, From::File(_)) => "working".to_owned(),
        })
    }

    /// Returns the whole history as JSON Lines; `None` before the first commit.
    pub(crate) fn export_history(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.snapshot_count() == 0 {
            return Ok(None);
        }
        match &mut self.from {
            From::File(file) => Ok(file.history.as_ref().map(Context::export_history)),
            From::Store(stored) => {
                let records: Vec<SideLine> =
                    stored.program_records()?.into_iter().map(side_line).collect();
                let context = stored.to_context()?;
                Ok(Some(match records.as_slice() {
                    [] => context.export_history(),
                    // A record may speak of nodes that are not committed yet.
                    records => context.export_history_and_sides(records),
                }))
            }
        }
    }

    /// Returns the working state, uncommitted changes included.
    pub(crate) fn working(&mut self) -> Result<State, Error> {
        match &mut self.from {
            From::File(file) => Ok(State::of_working(file.context().share_working())),
            From::Store(stored) => Ok(State::of_working(stored.working()?.clone())),
        }
    }

    /// Returns a state.
    pub(crate) fn state(&mut self, address: Address) -> Result<State, Error> {
        match address {
            Address::Working => self.working(),
            Address::Snapshot(address) => self.snapshot(address).map(State::of_snapshot),
        }
    }

    /// Returns the newest snapshot, or the working state if there is none yet.
    pub(crate) fn newest(&mut self) -> Result<State, Error> {
        match self.snapshot_count() {
            0 => self.working(),
            _ => self.state(Address::Snapshot(SnapshotAddress::Back(0))),
        }
    }

    fn snapshot(&self, address: SnapshotAddress) -> Result<Snapshot, Error> {
        let missing =
            || SnapshotError::NotFound { address: address.to_string(), oldest: None, newest: None };
        match &self.from {
            From::File(file) => match &file.history {
                Some(context) => Ok(context.snapshot(address)?.clone()),
                None => Err(missing().into()),
            },
            From::Store(stored) => Ok(stored.snapshot(address)?),
        }
    }

    /// Evaluates a selector.
    pub(crate) fn select(
        &mut self,
        selector: &str,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, Error> {
        match &mut self.from {
            From::File(file) => select(selector, self.edition, &**file, options)
                .map_err(|error| Error::query(&error, selector)),
            From::Store(stored) => stored
                .select_with(selector, self.edition, options)
                .map_err(|error| read_error(error, selector)),
        }
    }

    /// Explains how a selector is evaluated.
    pub(crate) fn explain(
        &mut self,
        selector: &str,
        limits: &QueryLimits,
    ) -> Result<Explanation, Error> {
        match &mut self.from {
            From::File(file) => explain_within(selector, self.edition, &**file, limits)
                .map_err(|error| Error::query(&error, selector)),
            From::Store(stored) => stored
                .explain_within(selector, self.edition, limits)
                .map_err(|error| read_error(error, selector)),
        }
    }

    /// Returns the reports of the commits after one, up to another, by cycle. Documents have none.
    pub(crate) fn reports(
        &mut self,
        after: Cycle,
        last: Cycle,
    ) -> Result<BTreeMap<Cycle, CommitReport>, Error> {
        let mut reports = BTreeMap::new();
        if let From::Store(stored) = &mut self.from {
            stored.reports(after.next(), last, &mut |cycle, _, report| {
                reports.extend(report.map(|report| (cycle, report)));
                Ok(())
            })?;
        }
        Ok(reports)
    }
}

fn read_error(error: ReadError, selector: &str) -> Error {
    match error {
        ReadError::Query(error) => Error::query(&error, selector),
        other => other.into(),
    }
}

/// Returns the line of a side record.
fn side_line(SideRecord { kind, key, value }: SideRecord) -> SideLine {
    SideLine { kind, key, value: Bytes(value).to_text() }
}
