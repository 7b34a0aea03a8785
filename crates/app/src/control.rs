//! What a caller may do while a command runs: stop it, and watch how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contextree::query::{Interrupt, QueryLimits};

use crate::Error;

/// Stops commands. Clones share one state, so that another thread can cancel.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the command to stop. It returns the error `E_CANCELED` at the next step where it may stop; what it stored stays.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the command was asked to stop.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, as a participle: `checking`, `importing`.
    pub task: &'static str,
    /// What `done` counts: `snapshots`, `pages`, `bytes`; empty if the task counts nothing.
    pub unit: &'static str,
    /// How much is done.
    pub done: u64,
    /// How much there is, if that is known.
    pub of: Option<u64>,
}

/// How much a command may do and return. A door that serves strangers sets these; [`Limits::default`] has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most nodes, rows or entries of a response.
    pub results: Option<usize>,
    /// The most steps of evaluating a selector, over all snapshots: about one for each condition and node.
    pub selector_cost: Option<u64>,
}

/// The name of the limit that a selector reaches when its command is canceled.
pub(crate) const CANCELED: &str = "canceled";

/// The caller's side of a running command: cancellation, limits and progress. [`Control::default`] has none of them.
#[derive(Default)]
pub struct Control<'c> {
    cancel: Cancel,
    limits: Limits,
    progress: Option<&'c dyn Fn(Progress)>,
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Control").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl<'c> Control<'c> {
    /// Returns a control that stops the command when `cancel` is set.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Returns a control with limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns a control that calls `progress` every time the command has done a little more.
    #[must_use]
    pub fn with_progress(mut self, progress: &'c dyn Fn(Progress)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Reports progress.
    pub(crate) fn at(&self, progress: Progress) {
        if let Some(report) = self.progress {
            report(progress);
        }
    }

    /// Reports that a task without a count has begun.
    pub(crate) fn begin(&self, task: &'static str) {
        self.at(Progress { task, unit: "", done: 0, of: None });
    }

    /// Refuses a response that is too large.
    ///
    /// # Errors
    ///
    /// `E_RESULT_LIMIT`.
    pub(crate) fn check_results(&self, number: usize) -> Result<(), Error> {
        match self.limits.results {
            Some(most) if number > most => {
                let message =
                    format!("there are {number} results, and at most {most} are returned");
                Err(Error::new("E_RESULT_LIMIT", message)
                    .with_detail("results", number as u64)
                    .with_detail("limit", most as u64)
                    .with_hint("ask for a page at a time"))
            }
            _ => Ok(()),
        }
    }

    /// Returns how many entries of a list to look for: as many as were asked for, but only one more than may be returned. With
    /// [`Control::check_list`] that is enough to notice a list that is too long.
    pub(crate) fn most_of_list(&self, wanted: Option<usize>) -> usize {
        let most = self.limits.results.map_or(usize::MAX, |most| most.saturating_add(1));
        wanted.map_or(most, |wanted| wanted.min(most))
    }

    /// Refuses a list that is too long. It may have been cut after one entry too many.
    ///
    /// # Errors
    ///
    /// `E_RESULT_LIMIT`.
    pub(crate) fn check_list(&self, length: usize) -> Result<(), Error> {
        match self.limits.results {
            Some(most) if length > most => {
                let message = format!("there are more than {most} results");
                Err(Error::new("E_RESULT_LIMIT", message)
                    .with_detail("limit", most as u64)
                    .with_hint("ask for a page at a time"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the length of a page: what was asked for, but no more than may be returned. Only for responses that say what they left out.
    pub(crate) fn page(&self, wanted: Option<usize>) -> usize {
        let most = self.limits.results.unwrap_or(usize::MAX);
        wanted.map_or(most, |wanted| wanted.min(most))
    }

    /// Returns how much work a selector may be: what the request says, but no more than the door allows. It ends when the command is canceled.
    pub(crate) fn query_limits(&self, most: Option<u64>) -> QueryLimits {
        let cancel = self.cancel.clone();
        let canceled = move || cancel.is_canceled().then_some(CANCELED);
        let mut limits =
            QueryLimits { interrupt: Some(Interrupt::new(canceled)), ..QueryLimits::default() };
        let usual = limits.steps_per_snapshot;
        if let Some(most) = most {
            (limits.steps_per_snapshot, limits.steps) = (most, most);
        }
        if let Some(door) = self.limits.selector_cost {
            limits.steps_per_snapshot = limits.steps_per_snapshot.min(usual);
            limits.steps = most.unwrap_or(door).min(door);
        }
        limits
    }

    /// Returns why a selector was not answered: the error, or that the command was canceled.
    pub(crate) fn or_canceled(&self, error: Error) -> Error {
        self.check().err().unwrap_or(error)
    }

    /// Stops the command if it was canceled.
    ///
    /// # Errors
    ///
    /// `E_CANCELED`, if it was.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cancel.is_canceled() {
            true => Err(Error::canceled()),
            false => Ok(()),
        }
    }
}
