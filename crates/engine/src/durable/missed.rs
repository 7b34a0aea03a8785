//! Whether a reader wanted something that is not loaded.

use std::sync::atomic::{AtomicBool, Ordering};

/// Notes that a reader wanted a snapshot that only the store has.
///
/// Reading borrows the context, so this is the one thing about it that changes while it is read.
#[derive(Debug, Default)]
pub(crate) struct Missed(AtomicBool);

impl Missed {
    pub(crate) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if something was missed since the last call.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}
