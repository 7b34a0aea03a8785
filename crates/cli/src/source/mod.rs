//! Where trees are read from, and how a state is named.

mod address;
mod change;
mod file;
mod home;
mod state;
mod stretches;

use std::collections::BTreeMap;

use contextree::query::Explanation;
use contextree::query::{Timeline, explain, select};
use contextree::{
    Answer, CommitReport, Context, Edition, SelectOptions, Snapshot, SnapshotAddress, SnapshotError,
};
use contextree_store::{ReadError, Reader};

pub(crate) use address::{Address, Range};
pub(crate) use change::{Change, is_name, place_of, targets};
pub(crate) use file::{FileSource, Kind, objects, read_bytes};
pub(crate) use home::{Access, Home, instant};
pub(crate) use state::State;
pub(crate) use stretches::Stretches;

use crate::command::Call;
use crate::error::Failure;

/// Something that can be read: a context of a store, or a file.
pub(crate) struct Source {
    from: From,
    edition: Edition,
    /// Where it is read from, for people.
    place: String,
}

enum From {
    File(Box<FileSource>),
    Store(Reader),
}

impl Source {
    /// Opens what the options name, to be read.
    pub(crate) fn open(call: &Call<'_>) -> Result<Source, Failure> {
        let global = call.global;
        if let Some(name) = &global.file {
            let file = FileSource::read(name)?;
            let edition = global.edition.unwrap_or_default();
            return Ok(Source {
                place: file.place.clone(),
                from: From::File(Box::new(file)),
                edition,
            });
        }
        let home = Home::open(global, call.environment, Access::Read)?;
        let reader = home.reader(global)?;
        let edition = global.edition.unwrap_or(reader.settings().edition);
        let place = format!("{} in {}", reader.name(), global.store);
        Ok(Source { from: From::Store(reader), edition, place })
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
    pub(crate) fn reader(&self) -> Option<&Reader> {
        match &self.from {
            From::File(_) => None,
            From::Store(reader) => Some(reader),
        }
    }

    /// Returns how many snapshots there are.
    pub(crate) fn snapshot_count(&self) -> usize {
        match &self.from {
            From::File(file) => file.snapshot_count(),
            From::Store(reader) => reader.snapshot_count(),
        }
    }

    /// Returns the newest snapshots, newest first, at most so many.
    pub(crate) fn newest_snapshots(&self, limit: usize) -> Result<Vec<Snapshot>, Failure> {
        let number = self.snapshot_count().min(limit);
        if number > 1
            && let From::Store(reader) = &self.from
        {
            let oldest = SnapshotAddress::Back(number as u64 - 1);
            reader.prefetch(oldest, SnapshotAddress::Back(0))?;
        }
        (0..number).map(|back| self.snapshot(SnapshotAddress::Back(back as u64))).collect()
    }

    /// Returns the whole history as JSON Lines; nothing before the first commit.
    pub(crate) fn export_history(&self) -> Result<Option<Vec<u8>>, Failure> {
        if self.snapshot_count() == 0 {
            return Ok(None);
        }
        match &self.from {
            From::File(file) => Ok(file.history.as_ref().map(Context::export_history)),
            From::Store(reader) => Ok(Some(reader.to_context()?.export_history())),
        }
    }

    /// Returns the working state, uncommitted changes included.
    pub(crate) fn working(&self) -> Result<State, Failure> {
        match &self.from {
            From::File(file) => Ok(State::of_working(file.context().share_working())),
            From::Store(reader) => Ok(State::of_working(reader.working()?.clone())),
        }
    }

    /// Returns a state.
    pub(crate) fn state(&self, address: Address) -> Result<State, Failure> {
        match address {
            Address::Working => self.working(),
            Address::Snapshot(address) => self.snapshot(address).map(State::of_snapshot),
        }
    }

    /// Returns the newest snapshot, or the working state if there is none yet.
    pub(crate) fn newest(&self) -> Result<State, Failure> {
        match self.snapshot_count() {
            0 => self.working(),
            _ => self.state(Address::Snapshot(SnapshotAddress::Back(0))),
        }
    }

    fn snapshot(&self, address: SnapshotAddress) -> Result<Snapshot, Failure> {
        let missing =
            || SnapshotError::NotFound { address: address.to_string(), oldest: None, newest: None };
        match &self.from {
            From::File(file) => match &file.history {
                Some(context) => Ok(context.snapshot(address)?.clone()),
                None => Err(missing().into()),
            },
            From::Store(reader) => Ok(reader.snapshot(address)?),
        }
    }

    /// Answers a selector.
    pub(crate) fn select(
        &self,
        selector: &str,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, Failure> {
        match &self.from {
            From::File(file) => select(selector, self.edition, &**file, options)
                .map_err(|error| Failure::query(&error, selector)),
            From::Store(reader) => reader
                .select_with(selector, self.edition, options)
                .map_err(|error| read_failure(error, selector)),
        }
    }

    /// Tells how a selector is answered.
    pub(crate) fn explain(&self, selector: &str) -> Result<Explanation, Failure> {
        match &self.from {
            From::File(file) => explain(selector, self.edition, &**file)
                .map_err(|error| Failure::query(&error, selector)),
            From::Store(reader) => reader
                .explain(selector, self.edition)
                .map_err(|error| read_failure(error, selector)),
        }
    }

    /// Returns the reports of the commits behind one up to another, by cycle. Files have none.
    pub(crate) fn reports(
        &self,
        after: u32,
        last: u32,
    ) -> Result<BTreeMap<u32, CommitReport>, Failure> {
        let mut reports = BTreeMap::new();
        if let From::Store(reader) = &self.from {
            reader.reports(after.saturating_add(1), last, &mut |cycle, _, report| {
                reports.extend(report.map(|report| (cycle, report)));
                Ok(())
            })?;
        }
        Ok(reports)
    }
}

fn read_failure(error: ReadError, selector: &str) -> Failure {
    match error {
        ReadError::Query(error) => Failure::query(&error, selector),
        other => other.into(),
    }
}
