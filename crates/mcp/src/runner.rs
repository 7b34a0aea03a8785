//! Where the work of a call runs. A server that mounts the handler brings its own runner, with its queue, its deadline and its cancellation.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use contextree::Code;
use contextree_app::catalog::Right;
use contextree_app::{Cancel, Error};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The work of one call. It blocks, and stops soon after the `Cancel` is set.
pub type Work = Box<dyn FnOnce(Cancel) -> Result<(), Error> + Send>;

/// The end of a work.
pub type Done = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Runs the work of calls.
pub trait Runner: Debug + Send + Sync {
    /// Runs a work; `right` is what it needs. Called once for each tool or resource.
    fn run(&self, right: Right, work: Work) -> Done;
}

/// How long a tool may take on standard input, as in `ctx serve`.
const TIME: Duration = Duration::from_secs(30);

/// Runs each work on a thread of its own: for the one client on standard input.
#[derive(Debug)]
pub(crate) struct Threads {
    /// How long it may take. A change that has begun is finished.
    time: Duration,
}

impl Default for Threads {
    fn default() -> Self {
        Threads { time: TIME }
    }
}

/// Cancels a work when nothing waits for it any more.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Runner for Threads {
    fn run(&self, right: Right, work: Work) -> Done {
        let time = self.time;
        Box::pin(async move {
            let cancel = Cancel::default();
            let guard = CancelOnDrop(cancel.clone());
            let mut task = spawn_blocking(move || work(cancel));
            let ended = match right {
                Right::Read => timeout(time, &mut task).await.ok(),
                _ => Some((&mut task).await),
            };
            let Some(ended) = ended else {
                // The thread ends soon; its answer is not awaited.
                guard.0.cancel();
                let message = format!("the tool took longer than {} s", time.as_secs_f64());
                return Err(Error::new(Code::Deadline.as_str(), message)
                    .with_hint("ask for less: fewer calls, or a narrower selector"));
            };
            ended.unwrap_or_else(|panic| {
                tracing::error!(%panic, "a tool panicked");
                Err(Error::new(Code::Internal.as_str(), "the tool panicked"))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn work_that_reads_is_canceled_at_the_deadline() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build();
        let (ended, waits) = channel();
        let work = move |cancel: Cancel| {
            while !cancel.is_canceled() {
                std::thread::yield_now();
            }
            // The test may have failed already.
            let _ = ended.send(());
            Ok(())
        };
        let runner = Threads { time: Duration::from_millis(1) };
        let done = runtime
            .expect("threads can be started")
            .block_on(async { runner.run(Right::Read, Box::new(work)).await });
        assert_eq!(done.expect_err("it took too long").code(), Code::Deadline);
        waits.recv().expect("the work ends");
    }
}
