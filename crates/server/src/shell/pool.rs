//! Commands on threads of their own, so that one that takes long does not stop the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contextree::Code;
use contextree_app::{Cancel, Error};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::limits::Limits;

/// Runs commands: at most [`Limits::running`] at once, each within [`Limits::time`].
#[derive(Debug)]
pub struct Pool {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    limits: Limits,
}

/// What one caller may take of a pool: all slots but one, and [`Limits::waiting`] places of its own in the queue. However much one
/// caller asks for, the others neither find the queue full nor all slots taken.
#[derive(Debug)]
pub struct Lane {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    most: usize,
}

impl Lane {
    /// Returns the lane of one caller.
    #[must_use]
    pub fn new(limits: &Limits) -> Lane {
        let slots = Arc::new(Semaphore::new(limits.running.saturating_sub(1).max(1)));
        Lane { slots, waiting: AtomicUsize::new(0), most: limits.waiting }
    }

    /// Takes a place in the queue, if there is one.
    fn enter(&self) -> Option<Waiting<'_>> {
        let place = Waiting::new(&self.waiting);
        (place.before < self.most).then_some(place)
    }
}

/// What happens to a command whose time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The caller gets an error at once. The command stops at its next step.
    Abandon,
    /// The caller waits for the outcome: a change that was stored must not be reported as failed.
    Await,
}

/// Stops the command when the caller is gone or its time is over.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Counts one that waits.
struct Waiting<'p> {
    count: &'p AtomicUsize,
    /// How many waited before.
    before: usize,
}

impl<'p> Waiting<'p> {
    fn new(count: &'p AtomicUsize) -> Waiting<'p> {
        Waiting { count, before: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pool {
    /// Returns a pool with these limits.
    #[must_use]
    pub fn new(limits: &Limits) -> Pool {
        let slots = Arc::new(Semaphore::new(limits.running.max(1)));
        Pool { slots, waiting: AtomicUsize::new(0), limits: *limits }
    }

    /// Returns how many commands wait.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns how many commands run.
    pub fn running(&self) -> usize {
        self.limits.running.max(1) - self.slots.available_permits()
    }

    /// Runs a command of the caller whose lane this is.
    ///
    /// # Errors
    ///
    /// `E_OVERLOADED` if too many of the caller's commands wait, `E_DEADLINE` if the time is over, and those of the command.
    pub async fn run<T: Send + 'static>(
        &self,
        lane: &Lane,
        late: Late,
        work: impl FnOnce(Cancel) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let deadline = Instant::now() + self.limits.time;
        let Some(place) = lane.enter() else {
            return Err(Error::new(Code::Overloaded.as_str(), "too many requests are waiting"));
        };
        let queued = (place, Waiting::new(&self.waiting));
        let closed = |_| Error::new(Code::Overloaded.as_str(), "the server is shutting down");
        let acquire = async {
            let own = Arc::clone(&lane.slots).acquire_owned().await.map_err(closed)?;
            let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(closed)?;
            Ok::<_, Error>((own, slot))
        };
        let slots = timeout_at(deadline, acquire).await.map_err(|_| {
            Error::new(Code::Overloaded.as_str(), "the server was busy for too long")
        })??;
        drop(queued);
        let cancel = Cancel::default();
        let guard = CancelOnDrop(cancel.clone());
        let mut task = spawn_blocking(move || {
            // The slots belong to the thread: they are free when it is, not when the caller is gone.
            let _slots = slots;
            work(cancel)
        });
        let done = match timeout_at(deadline, &mut task).await {
            Ok(done) => done,
            Err(_) if late == Late::Abandon => return Err(self.late()),
            Err(_) => {
                guard.0.cancel();
                task.await
            }
        };
        match done {
            Ok(Err(error)) if error.code() == Code::Canceled && Instant::now() >= deadline => {
                Err(self.late())
            }
            Ok(result) => result,
            Err(panic) => {
                tracing::error!(%panic, "a command panicked");
                Err(Error::new(Code::Internal.as_str(), "the command panicked"))
            }
        }
    }

    /// Runs a command that takes microseconds on the thread of its connection, if there is a slot for it now; otherwise like
    /// [`Pool::run`].
    ///
    /// # Errors
    ///
    /// See [`Pool::run`].
    pub async fn run_here<T: Send + 'static>(
        &self,
        lane: &Lane,
        late: Late,
        work: impl FnOnce(Cancel) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let slots = match (lane.slots.try_acquire(), self.slots.try_acquire()) {
            (Ok(own), Ok(slot)) => Some((own, slot)),
            // One of the two is given back.
            _ => None,
        };
        let Some(_slots) = slots else { return self.run(lane, late, work).await };
        catch_unwind(AssertUnwindSafe(|| work(Cancel::default()))).unwrap_or_else(|_| {
            tracing::error!("a command panicked");
            Err(Error::new(Code::Internal.as_str(), "the command panicked"))
        })
    }

    fn late(&self) -> Error {
        let seconds = self.limits.time.as_secs_f64();
        Error::new(Code::Deadline.as_str(), format!("the command took longer than {seconds} s"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use contextree::Code;
    use tokio::runtime::Runtime;
    use tokio::task::yield_now;

    use super::{Lane, Late, Limits, Pool};

    #[test]
    fn a_caller_whose_queue_is_full_takes_no_place_of_others() {
        let limits = Limits { running: 2, waiting: 1, ..Limits::default() };
        let pool = Arc::new(Pool::new(&limits));
        let (greedy, other) = (Arc::new(Lane::new(&limits)), Lane::new(&limits));
        let (finish, finished) = mpsc::channel::<()>();
        Runtime::new().expect("a runtime").block_on(async {
            let running = {
                let (pool, greedy) = (Arc::clone(&pool), Arc::clone(&greedy));
                let work = move |_| Ok(finished.recv().is_ok());
                tokio::spawn(async move { pool.run(&greedy, Late::Await, work).await })
            };
            while pool.running() < 1 {
                yield_now().await;
            }
            let waiting = {
                let (pool, greedy) = (Arc::clone(&pool), Arc::clone(&greedy));
                tokio::spawn(async move { pool.run(&greedy, Late::Await, |_| Ok(())).await })
            };
            while pool.waiting() < 1 {
                yield_now().await;
            }
            let refused = pool.run(&greedy, Late::Await, |_| Ok(())).await;
            assert_eq!(refused.map_err(|error| error.code()), Err(Code::Overloaded));
            assert!(pool.run(&other, Late::Await, |_| Ok(())).await.is_ok(), "it has its own");
            finish.send(()).expect("the command waits for it");
            assert!(running.await.is_ok_and(|done| done.is_ok_and(|sent| sent)));
            assert!(waiting.await.is_ok_and(|done| done.is_ok()));
        });
    }
}
