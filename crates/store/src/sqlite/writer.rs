//! The one writer of a process, with group commit: steps of several threads share a transaction.
//!
//! A commit to disk costs one sync, however much it writes. So threads that write at the same time share it:
//!
//! 1. A thread that finds no leader becomes the leader. It begins a transaction and runs its own step.
//! 2. Threads that come meanwhile put their steps into a queue and wait.
//! 3. The leader runs the queued steps in the same transaction, each in a savepoint of its own, and commits once.
//! 4. It passes each waiting thread the reply to its step, and makes the first of those still queued the next leader.
//!
//! A thread that writes alone is always its own leader and never waits for others. A step that fails is rolled back to its
//! savepoint; the others do not notice. If the commit fails, the whole group gets the error and nothing of it is stored.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::fault::fault;
use super::wait::Deadline;
use super::write::{Done, Write};
use crate::error::{Result, StoreError};

/// The most steps in one transaction, so that no thread waits for long.
const LARGEST_GROUP: usize = 256;

pub(super) struct Writer {
    queue: Mutex<Queue>,
    connection: Mutex<Connection>,
    busy_timeout: Duration,
}

/// The threads that wait, and whether one leads.
///
/// While a job is queued there is a leader, or one that was told to take over. Hence a queued thread never has to wake itself, and
/// a thread that arrives between two leaders queues up instead of overtaking. No thread waits for the connection while it holds
/// the lock of the queue.
#[derive(Default)]
struct Queue {
    /// Stays true from one leader to the next; false only if the queue is empty.
    has_leader: bool,
    waiting: VecDeque<Job>,
}

/// A step in the queue.
struct Job {
    write: Write<'static>,
    waiter: Arc<Waiter>,
}

/// A thread that waits for the reply to its step.
struct Waiter {
    reply: Mutex<Reply>,
    arrived: Condvar,
    deadline: Deadline,
}

enum Reply {
    /// None has come yet.
    Pending,
    /// The waiting thread is the next leader. Its step is the first in the queue.
    TakeOver,
    Answer(Result<Done>),
}

impl Waiter {
    fn send(&self, reply: Reply) {
        *locked(&self.reply) = reply;
        self.arrived.notify_one();
    }

    fn wait(&self) -> Reply {
        let mut reply = locked(&self.reply);
        loop {
            match mem::replace(&mut *reply, Reply::Pending) {
                Reply::Pending => {}
                arrived => return arrived,
            }
            reply = self.arrived.wait(reply).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Writer {
    pub(super) fn new(connection: Connection, busy_timeout: Duration) -> Writer {
        Writer { queue: Mutex::default(), connection: Mutex::new(connection), busy_timeout }
    }

    /// Takes a step, alone or together with others. It is durable when this returns.
    pub(super) fn take(&self, write: Write<'_>) -> Result<Done> {
        let deadline = Deadline::after(self.busy_timeout);
        if self.try_to_lead() {
            return self.lead(deadline, Some(write)).expect("its own step has an answer");
        }
        // Only a thread that waits for another one pays for a copy.
        let reply = Mutex::new(Reply::Pending);
        let waiter = Arc::new(Waiter { reply, arrived: Condvar::new(), deadline });
        let job = Job { write: write.into_owned(), waiter: Arc::clone(&waiter) };
        {
            let mut queue = locked(&self.queue);
            queue.waiting.push_back(job);
            if !queue.has_leader {
                // The leader finished meanwhile.
                queue.has_leader = true;
                drop(queue);
                self.lead(deadline, None);
            }
        }
        loop {
            match waiter.wait() {
                Reply::Answer(answer) => return answer,
                _ => drop(self.lead(waiter.deadline, None)),
            }
        }
    }

    /// Uses the connection while no other thread of this process writes.
    pub(super) fn alone<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&locked(&self.connection))
    }

    fn try_to_lead(&self) -> bool {
        let mut queue = locked(&self.queue);
        !mem::replace(&mut queue.has_leader, true)
    }

    /// Runs the leader's own step, unless it is in the queue, and the queued ones. Returns the reply to its own.
    fn lead(&self, deadline: Deadline, own: Option<Write<'_>>) -> Option<Result<Done>> {
        let mut lead = Leader { writer: self, waiters: Vec::new() };
        let connection = locked(&self.connection);
        let mut group = Group { connection: &connection, deadline, taken: 0, lost: None };
        if !connection.is_autocommit() {
            // From a leader that panicked.
            group.lost = group.run("ROLLBACK").map_err(fault).err();
        }
        let mut own = own.map(|write| group.take(&write));
        let mut answers = Vec::new();
        let alone = usize::from(own.is_some());
        while answers.len() + alone < LARGEST_GROUP {
            let Some(Job { write, waiter }) = locked(&self.queue).waiting.pop_front() else {
                break;
            };
            lead.waiters.push(waiter);
            answers.push(group.take(&write));
        }
        let steps = group.taken;
        if let Err(error) = group.finish() {
            tracing::warn!(steps, %error, "a group of steps was not committed");
            own = own.map(|_| Err(error.clone()));
            answers.fill_with(|| Err(error.clone()));
        }
        drop(connection);
        for (waiter, answer) in lead.waiters.drain(..).zip(answers) {
            waiter.send(Reply::Answer(answer));
        }
        own
    }
}

/// The leader's duty. When it is dropped, also by a panic, no thread is left waiting.
struct Leader<'a> {
    writer: &'a Writer,
    /// Threads whose steps were run and that have no reply yet.
    waiters: Vec<Arc<Waiter>>,
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        for waiter in self.waiters.drain(..) {
            let message = "the thread that wrote for others panicked".to_owned();
            waiter.send(Reply::Answer(Err(StoreError::Backend { message })));
        }
        let mut queue = locked(&self.writer.queue);
        match queue.waiting.front() {
            Some(job) => job.waiter.send(Reply::TakeOver),
            None => queue.has_leader = false,
        }
    }
}

/// One transaction.
struct Group<'a> {
    connection: &'a Connection,
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
        let done = write.run(self.connection);
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
        let done = match &self.lost {
            Some(error) => Err(error.clone()),
            None if self.taken == 0 => Ok(()),
            None => self.run("COMMIT").map_err(fault),
        };
        if !self.connection.is_autocommit() {
            self.run("ROLLBACK").map_err(fault)?;
        }
        done
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves at most a transaction that was never committed; the next leader rolls it back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
