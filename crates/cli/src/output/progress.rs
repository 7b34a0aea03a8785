//! Progress of long work: a bar with rate and time left, on a terminal only, and only if the work takes longer than a second.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use contextree_app::Progress as Step;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::environment::Environment;

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar of the task that a command reports. A new task replaces it.
pub(crate) struct Bars<'e> {
    environment: &'e Environment,
    bar: RefCell<Option<(&'static str, Progress)>>,
}

impl<'e> Bars<'e> {
    /// Returns no bar yet.
    pub(crate) fn new(environment: &'e Environment) -> Bars<'e> {
        Bars { environment, bar: RefCell::new(None) }
    }

    /// Shows how far a command is.
    pub(crate) fn at(&self, step: Step) {
        let mut bar = self.bar.borrow_mut();
        if bar.as_ref().is_none_or(|(task, _)| *task != step.task) {
            // The old bar is removed before the new one is drawn.
            *bar = None;
            *bar = Some((step.task, Progress::of(self.environment, step)));
        }
        if let (Some((_, progress)), false) = (&*bar, step.unit.is_empty()) {
            progress.at(step.done, step.of.unwrap_or(step.done));
        }
    }
}

/// A bar on standard error. It is removed when the work is done.
struct Progress {
    bar: ProgressBar,
    /// True while it waits to be shown.
    waits: Cell<bool>,
}

impl Progress {
    fn of(environment: &Environment, step: Step) -> Progress {
        match step.unit {
            "" => Progress::waiting(environment, step.task),
            "bytes" => Progress::of_bytes(environment, step.task, step.of),
            unit => Progress::new(environment, step.task, unit),
        }
    }

    /// Returns a bar that counts in these units.
    fn new(environment: &Environment, what: &str, unit: &str) -> Progress {
        let template =
            format!("{what} {{wide_bar}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left");
        Self::with_template(environment, &template)
    }

    /// Returns a bar that counts bytes, with an unknown total for standard input.
    fn of_bytes(environment: &Environment, what: &str, of: Option<u64>) -> Progress {
        let template = match of {
            Some(_) => "{wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{spinner} {bytes}, {bytes_per_sec}",
        };
        Self::with_template(environment, &format!("{what} {template}"))
    }

    /// Returns a spinner for work of unknown length.
    fn waiting(environment: &Environment, what: &str) -> Progress {
        let progress =
            Self::with_template(environment, &format!("{{spinner}} {what}, {{elapsed}}"));
        if progress.waits.take() {
            // It draws itself, from a thread of its own.
            progress.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            progress.bar.enable_steady_tick(PATIENCE);
        }
        progress
    }

    fn with_template(environment: &Environment, template: &str) -> Progress {
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::hidden().with_style(style);
        Progress { bar, waits: Cell::new(environment.stderr_is_terminal) }
    }

    /// Sets how far the work is.
    fn at(&self, done: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(done);
        if self.waits.get() && self.bar.elapsed() > PATIENCE {
            self.waits.set(false);
            // Ten times a second is enough for an eye.
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
