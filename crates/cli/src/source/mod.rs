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

/// One state of a context.
#[derive(Clone, Debug)]
pub(crate) struct State<'s> {
    /// The tree.
    pub(crate) tree: TreeRef<'s>,
    /// The snapshot; nothing for the working state.
    pub(crate) snapshot: Option<&'s Snapshot>,
    /// How it is called: `@c12`, or `working state`.
    pub(crate) label: String,
}

impl State<'_> {
    /// The number of the commit that left it; nothing for the working state.
    pub(crate) fn cycle(&self) -> Option<u32> {
        self.snapshot.map(Snapshot::cycle)
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

    /// Returns the context that has the history.
    pub(crate) fn history(&self) -> Option<&Context> {
        self.file.history.as_ref()
    }

    /// Returns how many snapshots there are.
    pub(crate) fn snapshot_count(&self) -> usize {
        self.file.snapshot_count()
    }

    /// Returns the snapshots, newest first.
    pub(crate) fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        let history = self.history().map(Context::history);
        (0..self.snapshot_count()).rev().filter_map(move |index| history?.get(index))
    }

    /// Returns the working state, uncommitted changes included.
    pub(crate) fn working(&self) -> State<'_> {
        let tree = Timeline::working(&self.file).expect("a source has a working state");
        State { tree, snapshot: None, label: "working state".to_owned() }
    }

    /// Returns the number of the coming commit.
    pub(crate) fn next_cycle(&self) -> u32 {
        self.working().tree.next_cycle()
    }

    /// Returns a state.
    pub(crate) fn state(&self, address: Address) -> Result<State<'_>, Failure> {
        match address {
            Address::Working => Ok(self.working()),
            Address::Snapshot(address) => {
                let snapshot = self.snapshot(address)?;
                let label = format!("@c{}", snapshot.cycle());
                Ok(State { tree: snapshot.view(), snapshot: Some(snapshot), label })
            }
        }
    }

    /// Returns the newest snapshot, or the working state if there is none yet.
    pub(crate) fn newest(&self) -> State<'_> {
        self.state(Address::Snapshot(SnapshotAddress::Back(0))).unwrap_or_else(|_| self.working())
    }

    fn snapshot(&self, address: SnapshotAddress) -> Result<&Snapshot, Failure> {
        match self.history() {
            Some(context) => Ok(context.snapshot(address)?),
            None => Err(SnapshotError::NotFound {
                address: address.to_string(),
                oldest: None,
                newest: None,
            }
            .into()),
        }
    }

    /// Returns the working state as a document.
    pub(crate) fn export_working(&self) -> Vec<u8> {
        self.file.context().export_working()
    }

    /// Answers a selector.
    pub(crate) fn select(
        &self,
        selector: &str,
        options: &SelectOptions,
    ) -> Result<Answer<'_>, Failure> {
        select(selector, self.edition, &self.file, options)
            .map_err(|error| Failure::query(&error, selector))
    }

    /// Tells how a selector is answered.
    pub(crate) fn explain(&self, selector: &str) -> Result<Explanation, Failure> {
        explain(selector, self.edition, &self.file)
            .map_err(|error| Failure::query(&error, selector))
    }
}
