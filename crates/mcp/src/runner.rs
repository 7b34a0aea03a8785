//! Where the work of a call runs. A server that mounts the handler brings its own runner, with its queue, its deadline and its cancellation.

use std::fmt::Debug;
use std::pin::Pin;

use contextree::Code;
use contextree_app::catalog::Right;
use contextree_app::{Cancel, Error};
use tokio::task::spawn_blocking;

/// The work of one call. It blocks, and stops soon after the `Cancel` is set.
pub type Work = Box<dyn FnOnce(Cancel) -> Result<(), Error> + Send>;

/// The end of a work.
pub type Done = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Runs the work of calls.
pub trait Runner: Debug + Send + Sync {
    /// Runs a work; `right` is what it needs. Called once for each tool or resource.
    fn run(&self, right: Right, work: Work) -> Done;
}

/// Runs each work on a thread of its own, without a deadline: for the one client on standard input.
#[derive(Debug)]
pub(crate) struct Threads;

/// Cancels a work when nothing waits for it any more.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Runner for Threads {
    fn run(&self, _: Right, work: Work) -> Done {
        Box::pin(async {
            let cancel = Cancel::default();
            let _guard = CancelOnDrop(cancel.clone());
            spawn_blocking(move || work(cancel)).await.unwrap_or_else(|panic| {
                tracing::error!(%panic, "a tool panicked");
                Err(Error::new(Code::Internal.as_str(), "the tool panicked"))
            })
        })
    }
}
