//! Taking times, two at a time.
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
    /// What the ratio may be at most, or must be at least.
    pub bar: f64,
    /// True if the ratio says how many times faster the work is than its reference, and the bar is a floor.
    pub is_gain: bool,
    /// Orientation only: nanoseconds of the work and of its reference.
    pub nanoseconds: (f64, f64),
}

impl Row {
    /// True if the bar holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        if self.is_gain { self.ratio >= self.bar } else { self.ratio <= self.bar }
    }
}

/// Returns the nanoseconds that something takes, divided by the number of times it was done.
pub fn time(times: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    #[expect(clippy::cast_precision_loss, reason = "a benchmark's counts are small")]
    let nanoseconds = start.elapsed().as_nanos() as f64 / times as f64;
    nanoseconds
}

/// Compares two pieces of work over several rounds. Each closure returns nanoseconds per unit; they take turns, and the order
/// changes from round to round.
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

/// Compares like [`compare`], where the work is to be so many times faster than its reference.
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

/// Returns the middle value.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
