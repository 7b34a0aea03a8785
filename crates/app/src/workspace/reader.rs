//! Reading a context or a document: states, selectors, reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree::query::{Explanation, Timeline as _, explain, select};
use contextree::store::{ReadError, Session};
use contextree::{
    Answer, CommitReport, Context, Edition, SelectOptions, Snapshot, SnapshotAddress, SnapshotError,
};

use super::{Access, Address, FileSource, Location, State, Workspace};
use crate::Error;

/// A context of a store, or a document, open for reading.
pub(crate) struct Reader {
    from: From,
    edition: Edition,
    place: String,
}

enum From {
    File(Arc<FileSource>),
    Store(Box<Session>),
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
        let session = workspace.session(&store)?;
        let edition = workspace.edition.unwrap_or(session.settings().edition);
        let place = format!("{} in {}", session.name(), workspace.url());
        Ok(Reader { from: From::Store(Box::new(session)), edition, place })
    }

    /// Returns where it is read from, for people.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the edition of selectors.
    pub(crate) fn edition(&self) -> Edition {
        self.edition
    }

    /// Returns the open context, if it is one of a store.
    pub(crate) fn session(&mut self) -> Option<&mut Session> {
        match &mut self.from {
            From::File(_) => None,
            From::Store(session) => Some(session),
        }
    }

    /// Returns the number of snapshots.
    pub(crate) fn snapshot_count(&self) -> usize {
        match &self.from {
            From::File(file) => file.snapshot_count(),
            From::Store(session) => usize::try_from(session.row().snapshots).unwrap_or(usize::MAX),
        }
    }

    /// Returns at most `limit` snapshots, newest first.
    pub(crate) fn newest_snapshots(&mut self, limit: usize) -> Result<Vec<Snapshot>, Error> {
        let number = self.snapshot_count().min(limit);
        if number > 1
            && let From::Store(session) = &mut self.from
        {
            // Loads all of them in one piece.
            let oldest = SnapshotAddress::Back(number as u64 - 1);
            session.diff(oldest, SnapshotAddress::Back(0))?;
        }
        (0..number).map(|back| self.snapshot(SnapshotAddress::Back(back as u64))).collect()
    }

    /// Returns the whole history as JSON Lines; `None` before the first commit.
    pub(crate) fn export_history(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.snapshot_count() == 0 {
            return Ok(None);
        }
        match &mut self.from {
            From::File(file) => Ok(file.history.as_ref().map(Context::export_history)),
            From::Store(session) => Ok(Some(session.load_all()?.export_history())),
        }
    }

    /// Returns the working state, uncommitted changes included.
    pub(crate) fn working(&mut self) -> Result<State, Error> {
        match &mut self.from {
            From::File(file) => Ok(State::of_working(file.context())),
            From::Store(session) => Ok(State::of_working(session.context()?)),
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

    fn snapshot(&mut self, address: SnapshotAddress) -> Result<Snapshot, Error> {
        let missing =
            || SnapshotError::NotFound { address: address.to_string(), oldest: None, newest: None };
        match &mut self.from {
            From::File(file) => match &file.history {
                Some(context) => Ok(context.snapshot(address)?.clone()),
                None => Err(missing().into()),
            },
            From::Store(session) => Ok(session.snapshot(address)?.clone()),
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
            From::Store(session) => session
                .select_with(selector, self.edition, options)
                .map_err(|error| read_error(error, selector)),
        }
    }

    /// Explains how a selector is evaluated.
    pub(crate) fn explain(&mut self, selector: &str) -> Result<Explanation, Error> {
        match &mut self.from {
            From::File(file) => explain(selector, self.edition, &**file)
                .map_err(|error| Error::query(&error, selector)),
            From::Store(session) => {
                session.explain(selector, self.edition).map_err(|error| read_error(error, selector))
            }
        }
    }

    /// Returns the reports of the commits after one, up to another, by cycle. Documents have none.
    pub(crate) fn reports(
        &mut self,
        after: u32,
        last: u32,
    ) -> Result<BTreeMap<u32, CommitReport>, Error> {
        let mut reports = BTreeMap::new();
        if let From::Store(session) = &mut self.from {
            session.reports(after.saturating_add(1), last, &mut |cycle, _, report| {
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
