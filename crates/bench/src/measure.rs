//! Measures times, as ratios of two pieces of work.
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::time::Instant;

/// The outcome of one comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was measured, and against what.
    pub name: String,
    /// The median of the ratios of all rounds.
    pub ratio: f64,
    /// The smallest and the largest ratio.
    pub spread: (f64, f64),
    /// The maximum ratio, or the minimum if `is_gain`.
    pub bar: f64,
    /// Whether the ratio is a speed-up over the reference, so that the bar is a minimum.
    pub is_gain: bool,
    /// For orientation only: nanoseconds of the work and of its reference.
    pub nanoseconds: (f64, f64),
}

impl Row {
    /// Returns whether the bar holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        if self.is_gain { self.ratio >= self.bar } else { self.ratio <= self.bar }
    }
}

/// Returns the nanoseconds of some work, divided by the number of repetitions.
pub fn time(times: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    #[expect(clippy::cast_precision_loss, reason = "a benchmark's counts are small")]
    let nanoseconds = start.elapsed().as_nanos() as f64 / times as f64;
    nanoseconds
}

/// Compares two pieces of work over several rounds. Each closure returns nanoseconds per unit; they
/// alternate, and so does their order.
pub fn compare(
    name: &str,
    bar: f64,
    rounds: usize,
    mut work: impl FnMut() -> f64,
    mut reference: impl FnMut() -> f64,
) -> Row {
    // One round to warm up.
    work();
    reference();
    let mut ratios = Vec::new();
    let mut times = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let (ours, theirs) = if round % 2 == 0 {
            let ours = work();
            (ours, reference())
        } else {
            let theirs = reference();
            (work(), theirs)
        };
        ratios.push(ours / theirs);
        times.0.push(ours);
        times.1.push(theirs);
    }
    let spread = (
        ratios.iter().copied().fold(f64::INFINITY, f64::min),
        ratios.iter().copied().fold(0.0, f64::max),
    );
    Row {
        name: name.to_owned(),
        ratio: median(ratios),
        spread,
        bar,
        is_gain: false,
        nanoseconds: (median(times.0), median(times.1)),
    }
}

/// Like [`compare`], but the work should be this many times faster than its reference.
pub fn faster(
    name: &str,
    bar: f64,
    rounds: usize,
    work: impl FnMut() -> f64,
    reference: impl FnMut() -> f64,
) -> Row {
    let row = compare(name, bar, rounds, work, reference);
    let (least, most) = row.spread;
    Row { ratio: row.ratio.recip(), spread: (most.recip(), least.recip()), is_gain: true, ..row }
}

/// Returns the median.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
