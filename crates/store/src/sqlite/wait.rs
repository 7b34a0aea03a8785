//! Waiting for other processes that write to the same file.
//!
//! SQLite's own way to wait sleeps longer and longer, up to a tenth of a second, so that whoever waits already keeps losing against newcomers.
//! Here everybody asks again after the same short time, so everybody has the same chance.

use std::thread;
use std::time::{Duration, Instant};

use super::fault::{fault, is_busy};
use crate::error::{Result, StoreError};

/// Until when somebody waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    end: Option<Instant>,
    limit: Duration,
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "how long is waited is no part of any result")]
    pub(super) fn after(limit: Duration) -> Deadline {
        Deadline { end: Instant::now().checked_add(limit), limit }
    }

    #[expect(clippy::disallowed_methods, reason = "how long is waited is no part of any result")]
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Tries something until nobody else is in the way; at least once.
    pub(super) fn retry<T>(&self, mut work: impl FnMut() -> rusqlite::Result<T>) -> Result<T> {
        for turn in 0_u64.. {
            match work() {
                Err(error) if is_busy(&error) => {}
                done => return done.map_err(fault),
            }
            if self.is_over() {
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

/// Returns a fraction of a millisecond that is another one in each turn, so that two who wait do not stay in step.
fn pause(turn: u64) -> Duration {
    let scattered = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
    Duration::from_micros(150 + scattered)
}
