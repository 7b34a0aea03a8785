//! The line of JSON that a program prints.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::fmt::Write as _;
use std::time::Instant;

/// The measurements so far, as the inside of a JSON object.
#[derive(Debug, Default)]
pub struct Answer {
    fields: String,
    why: String,
}

impl Answer {
    /// Runs some work several times and records the times. A first run, which is not timed, is a
    /// warm-up.
    pub fn measure<T>(&mut self, name: &str, times: usize, mut work: impl FnMut() -> T) -> T {
        let mut result = work();
        let taken = (0..times).map(|_| {
            let start = Instant::now();
            result = work();
            start.elapsed().as_nanos() as f64
        });
        let taken = taken.collect::<Vec<_>>();
        self.list(name, &taken);
        result
    }

    /// Records a list of nanoseconds.
    pub fn list(&mut self, name: &str, nanoseconds: &[f64]) {
        let items: Vec<String> = nanoseconds.iter().map(|time| format!("{time:.0}")).collect();
        let _ = write!(self.fields, "{name:?}:[{}],", items.join(","));
    }

    /// Records a number.
    pub fn number(&mut self, name: &str, number: u64) {
        let _ = write!(self.fields, "{name:?}:{number},");
    }

    /// Records why something was not measured.
    pub fn why(&mut self, name: &str, reason: &str) {
        let comma = if self.why.is_empty() { "" } else { "," };
        let _ = write!(self.why, "{comma}{name:?}:{reason:?}");
    }

    /// Returns the line.
    #[must_use]
    pub fn json(&self) -> String {
        format!("{{{}\"why\":{{{}}}}}", self.fields, self.why)
    }
}

/// Returns the resident memory of this process in bytes.
#[must_use]
pub fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    let kilobytes: u64 =
        line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    kilobytes * 1_024
}
