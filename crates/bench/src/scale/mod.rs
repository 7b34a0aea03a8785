//! Measures large workloads: many contexts, one long context, a lot of content, many commits for a
//! long time. On a real disk, in the current directory.
//!
//! Each part fills a store, reports what it measured, and deletes what it wrote.

mod content;
mod contexts;
mod rate;
mod turns;

pub use content::content;
pub use contexts::contexts;
pub use rate::{Target, rate};
pub use turns::turns;

use contextree::{Context, NewNode, Place};
use contextree_store::{Store, StoreError, StoreOptions};

use crate::measure::Row;
use crate::store::text;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Contexts in one store.
    pub contexts: u64,
    /// Turns in one context.
    pub turns: u64,
    /// Bytes of content in one store.
    pub bytes: u64,
    /// The number of commits per second, limited by how fast the disk can sync.
    pub rate: f64,
    /// The duration in seconds.
    pub seconds: f64,
}

impl Size {
    /// The sizes for which the bars are defined.
    pub const FULL: Size = Size {
        contexts: 100_000,
        turns: 1_000_000,
        bytes: 10_000_000_000,
        rate: 2_000.0,
        seconds: 600.0,
    };
    /// Small sizes, for a check that everything runs.
    pub const QUICK: Size =
        Size { contexts: 1_000, turns: 10_000, bytes: 50_000_000, rate: 2_000.0, seconds: 5.0 };
}

/// The results of a part: rows with a bar, and sentences.
#[derive(Debug, Default)]
pub struct Found {
    /// Rows.
    pub rows: Vec<Row>,
    /// Sentences.
    pub notes: Vec<String>,
}

/// The number of concurrent writers.
const WRITERS: u64 = 32;

/// The memory limit for idle contexts in bytes: low, so that it is reached early and memory can be
/// seen to stay flat.
const IDLE: u64 = 16 << 20;

/// The maximum growth of resident memory, from a fifth of the work to its end.
const FLAT: f64 = 1.25;

fn open(path: &std::path::Path) -> Result<Store, StoreError> {
    let options = StoreOptions { idle_bytes: IDLE, ..StoreOptions::deterministic() };
    Store::open_with(&format!("sqlite:{}", path.display()), options)
}

/// Adds a turn of two messages that hardly compress.
fn turn(context: &mut Context, seed: u64, length: usize) {
    for (index, role) in ["user", "assistant"].into_iter().enumerate() {
        let said = text(seed * 2 + index as u64, length);
        context.add(Place::head(), NewNode::text(&*said).role(role)).expect("it is allowed");
    }
    context.commit().expect("a commit succeeds");
}

fn row(name: String, ratio: f64, bar: f64) -> Row {
    Row { name, ratio, spread: (ratio, ratio), bar, is_gain: false, nanoseconds: (ratio, bar) }
}

/// Samples of resident memory during some work. It must not grow after a warm-up.
#[derive(Debug, Default)]
struct Memory {
    samples: Vec<u64>,
}

impl Memory {
    fn sample(&mut self) {
        self.samples.push(crate::peers::resident());
    }

    /// Compares the maximum of the last fifth with the maximum of the second fifth.
    fn flat(&self, what: &str) -> Row {
        let fifth = (self.samples.len() / 5).max(1);
        let most = |part: &[u64]| part.iter().copied().max().unwrap_or(0).max(1) as f64;
        let early = most(
            &self.samples[fifth.min(self.samples.len() - 1)..(2 * fifth).min(self.samples.len())],
        );
        let late = most(&self.samples[self.samples.len().saturating_sub(fifth)..]);
        let name = format!(
            "{what}: resident memory in the last fifth of the work ({:.0} MB), against the second fifth",
            late / 1e6
        );
        row(name, late / early, FLAT)
    }
}

/// Returns percentiles of times, in milliseconds.
fn percentiles(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| crate::store::at(times, share) / 1e6;
    let last = times.last().copied().unwrap_or(f64::NAN) / 1e6;
    format!("p50 {:.2} ms, p99 {:.2} ms, longest {last:.1} ms", at(0.5), at(0.99))
}
