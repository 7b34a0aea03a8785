//! The one writer of a process: steps of all threads, grouped into transactions.
//!
//! Whoever finds nobody writing leads: it begins a transaction, takes its own step, then those of all who came meanwhile, and commits: one sync
//! of the disk for all of them. Then it answers them and hands over to the first who waits. Who writes alone never waits for company.
//!
//! A step that fails is taken back by itself; the others do not notice. If the commit fails, all of the group are told so and nothing of
//! any of them is stored.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::fault::fault;
use super::wait::Deadline;
use super::write::{Done, Write};
use crate::error::{Result, StoreError};

/// How many steps one transaction takes at most, so that nobody waits for long.
const LARGEST_GROUP: usize = 256;

pub(super) struct Writer {
    queue: Mutex<Queue>,
    connection: Mutex<Connection>,
    busy_timeout: Duration,
}

#[derive(Default)]
struct Queue {
    /// Somebody leads.
    led: bool,
    waiting: VecDeque<Job>,
}

/// A step of somebody who waits.
struct Job {
    write: Write<'static>,
    place: Arc<Place>,
}

/// Where somebody waits.
struct Place {
    news: Mutex<News>,
    arrived: Condvar,
    deadline: Deadline,
}

enum News {
    Nothing,
    /// It is its turn to lead. Its step is the first of those that wait.
    Lead,
    Answer(Result<Done>),
}

impl Place {
    fn tell(&self, news: News) {
        *locked(&self.news) = news;
        self.arrived.notify_one();
    }

    fn wait(&self) -> News {
        let mut news = locked(&self.news);
        loop {
            match mem::replace(&mut *news, News::Nothing) {
                News::Nothing => {}
                arrived => return arrived,
            }
            news = self.arrived.wait(news).unwrap_or_else(PoisonError::into_inner);
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
        // Only who waits for another thread pays for a copy.
        let news = Mutex::new(News::Nothing);
        let place = Arc::new(Place { news, arrived: Condvar::new(), deadline });
        let job = Job { write: write.into_owned(), place: Arc::clone(&place) };
        {
            let mut queue = locked(&self.queue);
            queue.waiting.push_back(job);
            if !queue.led {
                // The leader has gone meanwhile.
                queue.led = true;
                drop(queue);
                self.lead(deadline, None);
            }
        }
        loop {
            match place.wait() {
                News::Answer(answer) => return answer,
                _ => drop(self.lead(place.deadline, None)),
            }
        }
    }

    /// Does something with the connection while nobody else writes in this process.
    pub(super) fn alone<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&locked(&self.connection))
    }

    fn try_to_lead(&self) -> bool {
        let mut queue = locked(&self.queue);
        !mem::replace(&mut queue.led, true)
    }

    /// Takes the leader's own step, if it is not among those that wait, and theirs. Returns the answer to its own.
    fn lead(&self, deadline: Deadline, own: Option<Write<'_>>) -> Option<Result<Done>> {
        let mut lead = Lead { writer: self, places: Vec::new() };
        let connection = locked(&self.connection);
        let mut group = Group { connection: &connection, deadline, taken: 0, lost: None };
        let mut own = own.map(|write| group.take(&write));
        let mut answers = Vec::new();
        let alone = usize::from(own.is_some());
        while answers.len() + alone < LARGEST_GROUP {
            let Some(Job { write, place }) = locked(&self.queue).waiting.pop_front() else {
                break;
            };
            lead.places.push(place);
            answers.push(group.take(&write));
        }
        if let Err(error) = group.finish() {
            own = own.map(|_| Err(error.clone()));
            answers.fill_with(|| Err(error.clone()));
        }
        drop(connection);
        for (place, answer) in lead.places.drain(..).zip(answers) {
            place.tell(News::Answer(answer));
        }
        own
    }
}

/// Whoever leads. When it goes, for whatever reason, nobody is left waiting for it.
struct Lead<'a> {
    writer: &'a Writer,
    /// Those whose steps were taken and who have no answer yet.
    places: Vec<Arc<Place>>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        for place in self.places.drain(..) {
            let message = "the thread that wrote for others has died".to_owned();
            place.tell(News::Answer(Err(StoreError::Backend { message })));
        }
        let mut queue = locked(&self.writer.queue);
        match queue.waiting.front() {
            Some(job) => job.place.tell(News::Lead),
            None => queue.led = false,
        }
    }
}

/// One transaction.
struct Group<'a> {
    connection: &'a Connection,
    deadline: Deadline,
    /// How many steps have been taken.
    taken: usize,
    /// Why the engine has given up the whole transaction.
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
        // The first one needs no savepoint: there is nobody whose work must be kept if it fails.
        let first = self.taken == 0;
        if !first {
            self.run("SAVEPOINT step").map_err(fault)?;
        }
        let before = self.connection.total_changes();
        let done = write.run(self.connection);
        match &done {
            Ok(_) => self.taken += 1,
            Err(error) if self.connection.is_autocommit() => {
                // A full disk, for one, makes SQLite take back everything.
                if !first {
                    self.lost = Some(error.clone());
                }
                return done;
            }
            Err(_) if self.connection.total_changes() == before => {}
            Err(_) => {
                self.run(if first { "ROLLBACK" } else { "ROLLBACK TO step" }).map_err(fault)?
            }
        }
        if !first {
            self.run("RELEASE step").map_err(fault)?;
        }
        done
    }

    /// Commits, if there is something to be committed.
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
    // What a panic leaves behind is a transaction that was never committed; the next one to lead rolls it back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
