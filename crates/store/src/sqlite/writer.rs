//! The one writer of a process, with [group commit](super::queue): steps of several threads share a transaction, each in a savepoint of its own.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::fault::fault;
use super::queue::{Ledger, Queue};
use super::totals::Counted;
use super::wait::Deadline;
use super::write::{Done, Write};
use crate::error::{Result, StoreError};

pub(super) struct Writer {
    queue: Queue<File>,
    busy_timeout: Duration,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        counted: Arc<Counted>,
        busy_timeout: Duration,
    ) -> Writer {
        Writer { queue: Queue::new(File { connection, counted }), busy_timeout }
    }

    /// Takes a step, alone or together with others. It is durable when this returns.
    pub(super) fn take(&self, write: Write<'_>) -> Result<Done> {
        self.queue.take(write, Deadline::after(self.busy_timeout))
    }

    /// Uses the connection while no other thread of this process writes.
    pub(super) fn alone<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&self.queue.alone().connection)
    }
}

/// The file, through its one connection that writes.
struct File {
    connection: Connection,
    /// Shared with the readers.
    counted: Arc<Counted>,
}

impl Ledger for File {
    type Step<'s> = Write<'s>;
    type Done = Done;
    type Error = StoreError;
    type Deadline = Deadline;
    type Group<'l> = Group<'l>;

    fn own(step: Write<'_>) -> Write<'static> {
        step.into_owned()
    }

    fn begin(&self, deadline: Deadline) -> Group<'_> {
        let File { connection, counted } = self;
        let mut group = Group { connection, counted, deadline, taken: 0, lost: None };
        if !connection.is_autocommit() {
            // From a leader that panicked.
            group.lost = group.run("ROLLBACK").map_err(fault).err();
        }
        group
    }

    fn take(group: &mut Group<'_>, step: &Write<'_>) -> Result<Done> {
        group.take(step)
    }

    fn finish(group: Group<'_>) -> Result<()> {
        group.finish()
    }

    fn panicked() -> StoreError {
        StoreError::Backend { message: "the thread that wrote for others panicked".to_owned() }
    }
}

/// One transaction.
pub(super) struct Group<'a> {
    connection: &'a Connection,
    counted: &'a Counted,
    deadline: Deadline,
    /// How many steps have been taken.
    taken: usize,
    /// Why SQLite gave up the whole transaction.
    lost: Option<StoreError>,
}

impl Group<'_> {
    fn take(&mut self, write: &Write<'_>) -> Result<Done> {
        if let Some(error) = &self.lost {
            return Err(error.clone());
        }
        if self.connection.is_autocommit() {
            self.deadline.retry(|| self.run("BEGIN IMMEDIATE"))?;
        }
        // The first step needs no savepoint: if it fails, there is no earlier one to keep.
        let first = self.taken == 0;
        if !first {
            self.run("SAVEPOINT step").map_err(fault)?;
        }
        let before = self.connection.total_changes();
        let done = write.run(self.connection, self.counted);
        match &done {
            Ok(_) => self.taken += 1,
            Err(error) if self.connection.is_autocommit() => {
                // A full disk, for example, makes SQLite roll back everything.
                if !first {
                    self.lost = Some(error.clone());
                }
                return done;
            }
            // It was refused before it changed anything.
            Err(_) if self.connection.total_changes() == before => {}
            Err(_) => {
                self.run(if first { "ROLLBACK" } else { "ROLLBACK TO step" }).map_err(fault)?;
            }
        }
        if !first {
            self.run("RELEASE step").map_err(fault)?;
        }
        done
    }

    /// Commits, if any step succeeded; otherwise ends the transaction that the failed ones began.
    fn finish(self) -> Result<()> {
        let steps = self.taken;
        let done = match &self.lost {
            Some(error) => Err(error.clone()),
            None if self.taken == 0 => Ok(()),
            None => self.run("COMMIT").map_err(fault),
        };
        if !self.connection.is_autocommit() {
            self.run("ROLLBACK").map_err(fault)?;
        }
        if let Err(error) = &done {
            tracing::warn!(steps, %error, "a group of steps was not committed");
        }
        done
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}
