//! Waiting for other processes that write to the same file.
//!
//! SQLite's own busy handler sleeps longer and longer, up to a tenth of a second, so that a process that waits already keeps
//! losing against newcomers. Here every process tries again after the same short time, so all have the same chance.

use std::thread;
use std::time::{Duration, Instant};

use super::fault::{fault, is_busy};
use crate::error::{Result, StoreError};

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    end: Option<Instant>,
    limit: Duration,
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "the time to wait is not part of any result")]
    pub(super) fn after(limit: Duration) -> Deadline {
        Deadline { end: Instant::now().checked_add(limit), limit }
    }

    #[expect(clippy::disallowed_methods, reason = "the time to wait is not part of any result")]
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Tries something until no other process holds the lock; at least once.
    pub(super) fn retry<T>(&self, mut work: impl FnMut() -> rusqlite::Result<T>) -> Result<T> {
        for turn in 0_u64.. {
            match work() {
                Err(error) if is_busy(&error) => {}
                done => return done.map_err(fault),
            }
            if self.is_over() {
                tracing::warn!(tries = turn + 1, "gave up waiting for another process");
                break;
            }
            thread::sleep(pause(turn));
        }
        let message = format!(
            "another process has been writing for {} ms without a pause",
            self.limit.as_millis()
        );
        Err(StoreError::Busy { message })
    }
}

/// Returns sub-millisecond jitter that differs on every attempt, so that two waiting processes do not stay in step.
fn pause(turn: u64) -> Duration {
    let scattered = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
    Duration::from_micros(150 + scattered)
}
