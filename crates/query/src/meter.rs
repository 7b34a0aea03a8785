//! Limits on the work of one query.
//!
//! Work is counted in steps: one condition tested on one node is about one step. The count depends on the selector and the trees alone, so the
//! same query reaches its limit on every machine or on none. Time is not read here: a caller that has a clock passes in a check.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::error::QueryError;

/// How many steps pass between two calls of the interrupt.
const BETWEEN_CHECKS: u64 = 65_536;

/// Called now and then during a query; stops it by returning the name of the limit that was reached: `deadline`, `canceled`.
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> Option<&'static str> + Send + Sync>);

impl Interrupt {
    /// Returns an interrupt that asks this function.
    pub fn new(check: impl Fn() -> Option<&'static str> + Send + Sync + 'static) -> Interrupt {
        Interrupt(Arc::new(check))
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

/// How much work a query may be. Beyond a limit it fails with `E_LIMIT`, and the error names the limit.
#[derive(Clone, Debug)]
pub struct QueryLimits {
    /// Steps in one snapshot. Default: 20 million, a few hundred milliseconds.
    pub steps_per_snapshot: u64,
    /// Steps in all snapshots that the selector addresses. Default: 2 billion.
    pub steps: u64,
    /// A deadline or a cancellation; see [`Interrupt`].
    pub interrupt: Option<Interrupt>,
}

impl Default for QueryLimits {
    fn default() -> QueryLimits {
        QueryLimits { steps_per_snapshot: 20_000_000, steps: 2_000_000_000, interrupt: None }
    }
}

impl QueryLimits {
    /// Returns limits that no query reaches.
    #[must_use]
    pub fn none() -> QueryLimits {
        QueryLimits { steps_per_snapshot: u64::MAX, steps: u64::MAX, interrupt: None }
    }
}

/// Counts the steps of one query.
#[derive(Debug)]
pub(crate) struct Meter<'l> {
    limits: &'l QueryLimits,
    /// Steps before this snapshot.
    before: Cell<u64>,
    /// Steps in this snapshot.
    here: Cell<u64>,
    /// At how many steps in this snapshot the limits are looked at again.
    next: Cell<u64>,
    reached: Cell<Option<(&'static str, u64)>>,
}

impl<'l> Meter<'l> {
    pub(crate) fn new(limits: &'l QueryLimits) -> Meter<'l> {
        let [before, here, next] = [0; 3].map(Cell::new);
        Meter { limits, before, here, next, reached: Cell::new(None) }
    }

    /// Begins to count the steps of one more snapshot.
    pub(crate) fn begin_snapshot(&self) {
        self.before.set(self.before.get().saturating_add(self.here.replace(0)));
        self.next.set(0);
        self.look();
    }

    /// Counts steps. The work continues until it asks [`Meter::is_out`].
    #[inline]
    pub(crate) fn charge(&self, steps: u64) {
        self.here.set(self.here.get().saturating_add(steps));
    }

    /// Returns true if the query has to end. Then it has no result; see [`Meter::check`].
    #[inline]
    pub(crate) fn is_out(&self) -> bool {
        self.here.get() >= self.next.get() && self.look()
    }

    #[cold]
    fn look(&self) -> bool {
        if self.reached.get().is_some() {
            return true;
        }
        let (here, limits) = (self.here.get(), self.limits);
        // The next look is at the step beyond a limit, if that is soon.
        let left = limits.steps.saturating_sub(self.before.get()).min(limits.steps_per_snapshot);
        self.next.set(here.saturating_add(BETWEEN_CHECKS).min(left.saturating_add(1)));
        if here > limits.steps_per_snapshot {
            self.reached.set(Some(("steps_per_snapshot", limits.steps_per_snapshot)));
        } else if self.before.get().saturating_add(here) > limits.steps {
            self.reached.set(Some(("steps", limits.steps)));
        } else if let Some(name) = limits.interrupt.as_ref().and_then(|Interrupt(check)| check()) {
            self.reached.set(Some((name, 0)));
        }
        if self.reached.get().is_some() {
            self.next.set(0);
        }
        self.reached.get().is_some()
    }

    /// Fails if a limit was reached.
    pub(crate) fn check(&self) -> Result<(), QueryError> {
        self.look();
        match self.reached.get() {
            Some((limit, most)) => Err(QueryError::Limit { limit, most }),
            None => Ok(()),
        }
    }
}
