//! The locks of the group commit and of the pool. The tests in `tests/locking` put those of shuttle in their place, and try orders of threads.

#[cfg(feature = "sqlite")]
pub(crate) use std::sync::Condvar;
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
