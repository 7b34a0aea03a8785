//! Progress of long work: a bar with rate and time left, on a terminal only, and only if the work takes longer than a second.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::environment::Environment;

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error. It is gone when the work is done.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// True while it waits to be shown.
    waits: Cell<bool>,
}

impl Progress {
    /// Returns a bar that counts in these units.
    pub(crate) fn new(environment: &Environment, what: &str, unit: &str) -> Progress {
        let template =
            format!("{what} {{wide_bar}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left");
        Self::with_template(environment, &template)
    }

    /// Returns a bar that counts bytes, of which it may not be known how many there are: standard input has no length.
    pub(crate) fn of_bytes(environment: &Environment, what: &str, of: Option<u64>) -> Progress {
        let template = match of {
            Some(_) => "{wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{spinner} {bytes}, {bytes_per_sec}",
        };
        Self::with_template(environment, &format!("{what} {template}"))
    }

    /// Returns a sign that something goes on of which nobody knows how long it takes.
    pub(crate) fn waiting(environment: &Environment, what: &str) -> Progress {
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

    /// Tells how far the work is.
    pub(crate) fn at(&self, done: u64, of: u64) {
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
