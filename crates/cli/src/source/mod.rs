//! What a command works on and reads: the workspace that the options name, files, standard input.

mod change;

use std::fs::File;
use std::io;
use std::sync::Arc;

use contextree::Clock;
use contextree_app::{
    Control, Document, MOST_OF_A_FILE, MOST_OF_A_STREAM, Source, Workspace, read_within,
};

pub(crate) use change::ChangeOptions;

use crate::command::Call;
use crate::error::Failure;
use crate::output::progress::Bars;

/// One command happens at one instant.
struct Instant(i64);

impl Clock for Instant {
    fn now_ns(&self) -> i64 {
        self.0
    }
}

impl Call<'_> {
    /// Returns the workspace: the file of `-f`, or the context in the store.
    pub(crate) fn workspace(&self) -> Result<Workspace, Failure> {
        let Some(name) = &self.global.file else { return Ok(self.store()) };
        Ok(Workspace::of_document(&document(name)?)?.with_edition(self.global.edition))
    }

    /// Returns the workspace in the store, also if a file is given.
    pub(crate) fn store(&self) -> Workspace {
        Workspace::at(&self.global.store)
            .with_tenant(self.global.tenant.clone())
            .with_context(&self.global.context)
            .with_edition(self.global.edition)
            .with_clock(Arc::new(Instant(self.environment.now)))
    }

    /// Runs a command on the workspace, with progress bars.
    pub(crate) fn read<T>(
        &self,
        command: impl FnOnce(&Workspace, &Control<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.on(&self.workspace()?, command)
    }

    /// Like [`Call::read`], but on a given workspace.
    pub(crate) fn on<T>(
        &self,
        workspace: &Workspace,
        command: impl FnOnce(&Workspace, &Control<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let bars = Bars::new(self.environment);
        let report = |progress| bars.at(progress);
        command(workspace, &Control::default().with_progress(&report))
    }
}

/// Returns the name of a file in messages.
pub(crate) fn place(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// Reads all bytes of a file; `-` is standard input.
pub(crate) fn read_bytes(name: &str) -> Result<Vec<u8>, Failure> {
    if name == "-" {
        return read_within(place(name), io::stdin().lock(), MOST_OF_A_STREAM);
    }
    let failed = |error| Failure::io(name, error);
    let file = File::open(name).map_err(failed)?;
    let most = match file.metadata().map_err(failed)?.is_file() {
        true => MOST_OF_A_FILE,
        false => MOST_OF_A_STREAM,
    };
    read_within(name, file, most)
}

/// Reads a file whole; `-` is standard input.
pub(crate) fn document(name: &str) -> Result<Document, Failure> {
    Ok(Document::new(place(name), read_bytes(name)?))
}

/// Opens a file to be read while it is imported; `-` is standard input.
pub(crate) fn open(name: &str) -> Result<Source<'static>, Failure> {
    let source = |length, reader| Source { name: place(name).to_owned(), length, reader };
    if name == "-" {
        return Ok(source(None, Box::new(io::stdin().lock())));
    }
    let failed = |error| Failure::io(name, error);
    let file = File::open(name).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    // The length of a pipe or a device means nothing.
    Ok(source(metadata.is_file().then_some(metadata.len()), Box::new(file)))
}
