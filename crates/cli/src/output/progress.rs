//! Progress of long work: a bar with rate and time left, on a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::environment::Environment;

/// A bar on standard error; nothing where nobody sees it. It appears with its first step and goes with the work.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Returns a bar that counts in these units.
    pub(crate) fn new(environment: &Environment, what: &str, unit: &str) -> Progress {
        if !environment.stderr_is_terminal {
            return Progress(ProgressBar::hidden());
        }
        let template =
            format!("{what} {{wide_bar}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left");
        let style = ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        // Ten times a second is enough for an eye.
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress(bar)
    }

    /// Tells how far the work is.
    pub(crate) fn at(&self, done: u64, of: u64) {
        self.0.set_length(of);
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
