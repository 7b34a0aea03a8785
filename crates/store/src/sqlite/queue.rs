//! Group commit: steps of several threads share a transaction.
//!
//! A commit to disk costs one sync, however much it writes. So threads that write at the same time share it:
//!
//! 1. A thread that finds no leader becomes the leader. It begins a transaction and runs its own step.
//! 2. Threads that come meanwhile put their steps into a queue and wait.
//! 3. The leader runs the queued steps in the same transaction, and commits once.
//! 4. It passes each waiting thread the reply to its step, and makes the first of those still queued the next leader.
//!
//! A thread that writes alone is always its own leader and never waits for others. If the commit fails, the whole group gets the error and
//! nothing of it is stored.
//!
//! Nothing here knows SQLite, so that `tests/locking` can run this file with the locks of shuttle.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The most steps in one transaction, so that no thread waits for long.
const LARGEST_GROUP: usize = 256;

/// What steps are written to, by one thread at a time.
pub(super) trait Ledger {
    /// A step. One that lives for ever owns all that it needs.
    type Step<'s>;
    /// The reply to a step.
    type Done;
    type Error: Clone;
    /// Until when a step may wait for other processes.
    type Deadline: Copy;
    /// The steps of one transaction.
    type Group<'l>
    where
        Self: 'l;

    /// Copies a step for the thread that will run it.
    fn own(step: Self::Step<'_>) -> Self::Step<'static>;

    /// Begins a group. The transaction is begun with its first step.
    fn begin(&self, deadline: Self::Deadline) -> Self::Group<'_>;

    /// Runs a step in the transaction of a group. If it fails, the others do not notice.
    fn take(group: &mut Self::Group<'_>, step: &Self::Step<'_>) -> Result<Self::Done, Self::Error>;

    /// Commits. If this fails, nothing of the group is stored.
    fn finish(group: Self::Group<'_>) -> Result<(), Self::Error>;

    /// Returns the error of a step whose leader panicked.
    fn panicked() -> Self::Error;
}

type Reply<L> = Result<<L as Ledger>::Done, <L as Ledger>::Error>;

/// The steps that wait, and the ledger.
pub(super) struct Queue<L: Ledger> {
    line: Mutex<Line<L>>,
    ledger: Mutex<L>,
}

/// The threads that wait, and whether one leads.
///
/// While a job is queued there is a leader, or one that was told to take over. Hence a queued thread never has to wake itself, and
/// a thread that arrives between two leaders queues up instead of overtaking. No thread waits for the ledger while it holds the
/// lock of the line.
struct Line<L: Ledger> {
    /// Stays true from one leader to the next; false only if the queue is empty.
    has_leader: bool,
    waiting: VecDeque<Job<L>>,
}

/// A step in the queue.
struct Job<L: Ledger> {
    step: L::Step<'static>,
    waiter: Arc<Waiter<L>>,
}

/// A thread that waits for the reply to its step.
struct Waiter<L: Ledger> {
    news: Mutex<News<L>>,
    arrived: Condvar,
    deadline: L::Deadline,
}

enum News<L: Ledger> {
    /// None has come yet.
    Pending,
    /// The waiting thread is the next leader. Its step is the first in the queue.
    TakeOver,
    Reply(Reply<L>),
}

impl<L: Ledger> Waiter<L> {
    fn send(&self, news: News<L>) {
        *locked(&self.news) = news;
        self.arrived.notify_one();
    }

    fn wait(&self) -> News<L> {
        let mut news = locked(&self.news);
        loop {
            match mem::replace(&mut *news, News::Pending) {
                News::Pending => {}
                arrived => return arrived,
            }
            news = self.arrived.wait(news).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<L: Ledger> Queue<L> {
    pub(super) fn new(ledger: L) -> Queue<L> {
        let line = Line { has_leader: false, waiting: VecDeque::new() };
        Queue { line: Mutex::new(line), ledger: Mutex::new(ledger) }
    }

    /// Takes a step, alone or together with others. It is durable when this returns.
    pub(super) fn take(&self, step: L::Step<'_>, deadline: L::Deadline) -> Reply<L> {
        if self.try_to_lead() {
            return self.lead(deadline, Some(step)).expect("its own step has an answer");
        }
        // Only a thread that waits for another one pays for a copy.
        let news = Mutex::new(News::Pending);
        let waiter = Arc::new(Waiter { news, arrived: Condvar::new(), deadline });
        let job = Job { step: L::own(step), waiter: Arc::clone(&waiter) };
        {
            let mut line = locked(&self.line);
            line.waiting.push_back(job);
            if !line.has_leader {
                // The leader finished meanwhile.
                line.has_leader = true;
                drop(line);
                self.lead(deadline, None);
            }
        }
        loop {
            match waiter.wait() {
                News::Reply(reply) => return reply,
                _ => drop(self.lead(waiter.deadline, None)),
            }
        }
    }

    /// Locks the ledger: no thread writes meanwhile.
    pub(super) fn alone(&self) -> MutexGuard<'_, L> {
        locked(&self.ledger)
    }

    fn try_to_lead(&self) -> bool {
        let mut line = locked(&self.line);
        !mem::replace(&mut line.has_leader, true)
    }

    /// Runs the leader's own step, unless it is in the queue, and the queued ones. Returns the reply to its own.
    fn lead(&self, deadline: L::Deadline, own: Option<L::Step<'_>>) -> Option<Reply<L>> {
        let mut lead = Leader { queue: self, waiters: Vec::new() };
        let ledger = locked(&self.ledger);
        let mut group = ledger.begin(deadline);
        let mut own = own.map(|step| L::take(&mut group, &step));
        let mut replies = Vec::new();
        let alone = usize::from(own.is_some());
        while replies.len() + alone < LARGEST_GROUP {
            let Some(Job { step, waiter }) = locked(&self.line).waiting.pop_front() else {
                break;
            };
            lead.waiters.push(waiter);
            replies.push(L::take(&mut group, &step));
        }
        if let Err(error) = L::finish(group) {
            own = own.map(|_| Err(error.clone()));
            replies.fill_with(|| Err(error.clone()));
        }
        drop(ledger);
        for (waiter, reply) in lead.waiters.drain(..).zip(replies) {
            waiter.send(News::Reply(reply));
        }
        own
    }
}

/// The leader's duty. When it is dropped, also by a panic, no thread is left waiting.
struct Leader<'q, L: Ledger> {
    queue: &'q Queue<L>,
    /// Threads whose steps were run and that have no reply yet.
    waiters: Vec<Arc<Waiter<L>>>,
}

impl<L: Ledger> Drop for Leader<'_, L> {
    fn drop(&mut self) {
        for waiter in self.waiters.drain(..) {
            waiter.send(News::Reply(Err(L::panicked())));
        }
        let mut line = locked(&self.queue.line);
        match line.waiting.front() {
            Some(job) => job.waiter.send(News::TakeOver),
            None => line.has_leader = false,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves at most a transaction that was never committed; the next group rolls it back.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
