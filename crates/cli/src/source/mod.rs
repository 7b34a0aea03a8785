//! Where trees are read from, and how a state is named.

mod address;
mod file;

use contextree::query::{Timeline, explain, select};
use contextree::{
    Answer, Context, Edition, Explanation, SelectOptions, Snapshot, SnapshotAddress, SnapshotError,
    TreeRef,
};

pub(crate) use address::{Address, Range};
pub(crate) use file::{FileSource, objects, read_bytes};

use crate::args::Global;
use crate::error::Failure;

/// Something that can be read: a context of a store, or a file.
#[derive(Debug)]
pub(crate) struct Source {
    file: FileSource,
    edition: Edition,
}

/// One state of a context. It is a few pointers, and keeps what it shows.
#[derive(Debug)]
pub(crate) struct State {
    tree: Kept,
    /// How it is called: `@c12`, or `working state`.
    pub(crate) label: String,
}

#[derive(Debug)]
enum Kept {
    Snapshot(Snapshot),
    Working(Box<Context>),
}

impl State {
    fn of_snapshot(snapshot: Snapshot) -> State {
        State { label: format!("@c{}", snapshot.cycle()), tree: Kept::Snapshot(snapshot) }
    }

    fn of_working(context: &Context) -> State {
        let fork = Box::new(context.fork_working());
        State { tree: Kept::Working(fork), label: "working state".to_owned() }
    }

    /// Returns the tree.
    pub(crate) fn tree(&self) -> TreeRef<'_> {
        match &self.tree {
            Kept::Snapshot(snapshot) => snapshot.view(),
            Kept::Working(context) => context.working(),
        }
    }

    /// Returns the snapshot; nothing for the working state.
    pub(crate) fn snapshot(&self) -> Option<&Snapshot> {
        match &self.tree {
            Kept::Snapshot(snapshot) => Some(snapshot),
            Kept::Working(_) => None,
        }
    }

    /// Returns the number of the commit that left it; nothing for the working state.
    pub(crate) fn cycle(&self) -> Option<u32> {
        self.snapshot().map(Snapshot::cycle)
    }

    /// Returns the state as a document.
    pub(crate) fn export(&self) -> Vec<u8> {
        match &self.tree {
            Kept::Snapshot(snapshot) => snapshot.export(),
            Kept::Working(context) => context.export_working(),
        }
    }
}

impl Source {
    /// Opens what the options name.
    pub(crate) fn open(global: &Global) -> Result<Source, Failure> {
        let Some(file) = &global.file else {
            return Err(Failure::usage("no store can be opened yet")
                .hint("read a file: `ctx show -f snapshot.json`"));
        };
        let edition = global.edition.unwrap_or_default();
        Ok(Source { file: FileSource::read(file)?, edition })
    }

    /// Returns where it is read from, for people.
    pub(crate) fn place(&self) -> &str {
        &self.file.place
    }

    /// Returns the edition of selectors.
    pub(crate) fn edition(&self) -> Edition {
        self.edition
    }

    /// Returns how many snapshots there are.
    pub(crate) fn snapshot_count(&self) -> usize {
        self.file.snapshot_count()
    }

    /// Returns the newest snapshots, newest first, at most so many.
    pub(crate) fn newest_snapshots(&mut self, limit: usize) -> Result<Vec<Snapshot>, Failure> {
        let count = self.snapshot_count();
        let first = count.saturating_sub(limit);
        let history = self.file.history.as_ref().map(Context::history);
        Ok((first..count).rev().filter_map(|index| history?.get(index).cloned()).collect())
    }

    /// Returns the whole history as JSON Lines; nothing before the first commit.
    pub(crate) fn export_history(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.file.history.as_ref().map(Context::export_history))
    }

    /// Returns the working state, uncommitted changes included.
    pub(crate) fn working(&mut self) -> Result<State, Failure> {
        Ok(State::of_working(self.file.context()))
    }

    /// Returns a state.
    pub(crate) fn state(&mut self, address: Address) -> Result<State, Failure> {
        match address {
            Address::Working => self.working(),
            Address::Snapshot(address) => self.snapshot(address).map(State::of_snapshot),
        }
    }

    /// Returns the newest snapshot, or the working state if there is none yet.
    pub(crate) fn newest(&mut self) -> Result<State, Failure> {
        match self.snapshot_count() {
            0 => self.working(),
            _ => self.state(Address::Snapshot(SnapshotAddress::Back(0))),
        }
    }

    fn snapshot(&mut self, address: SnapshotAddress) -> Result<Snapshot, Failure> {
        match &self.file.history {
            Some(context) => Ok(context.snapshot(address)?.clone()),
            None => Err(SnapshotError::NotFound {
                address: address.to_string(),
                oldest: None,
                newest: None,
            }
            .into()),
        }
    }

    /// Answers a selector.
    pub(crate) fn select(
        &mut self,
        selector: &str,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, Failure> {
        select(selector, self.edition, &self.file, options)
            .map_err(|error| Failure::query(&error, selector))
    }

    /// Tells how a selector is answered.
    pub(crate) fn explain(&mut self, selector: &str) -> Result<Explanation, Failure> {
        explain(selector, self.edition, &self.file)
            .map_err(|error| Failure::query(&error, selector))
    }
}
