//! Soak: hours of mixed work by processes that are killed again and again; memory, open files, file size and latency over time, as a plot.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use contextree::{ContextSettings, NewNode, Place};
use contextree_store::{Retention, Session, Store, StoreError};
use contextree_testkit::Rng;

use crate::folder::Folder;
use crate::histories;
use crate::script::{Failure, check_all, open};

/// How things are at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Seconds since the beginning.
    pub seconds: f64,
    /// Resident memory of this process, in bytes.
    pub memory: u64,
    /// Its open files.
    pub files: u64,
    /// The size of the file and its log, in bytes.
    pub size: u64,
    /// The median time of a durable step since the sample before, in microseconds.
    pub median: u64,
    /// The 99th percentile of these times.
    pub slow: u64,
}

/// What a soak did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Durable steps of this process.
    pub steps: u64,
    /// What other processes did beside it.
    pub others: histories::Report,
    /// The measurements.
    pub samples: Vec<Sample>,
}

/// The contexts that this process writes.
const CONTEXTS: usize = 8;

/// Works for a time: this process writes, forks, collects, deletes and verifies; beside it, others do the same and are killed.
///
/// # Errors
///
/// If a promise is broken.
#[expect(clippy::disallowed_methods, reason = "a soak lasts for a time, and measures times")]
pub fn run(program: &Path, time: Duration, seed: u64) -> Result<Report, Failure> {
    let folder = Folder::new();
    let url = folder.url("store.db");
    let store = open(&url).map_err(|error| error.to_string())?;
    let (begin, mut random) = (Instant::now(), Rng::new(seed));
    let mut report = Report::default();
    let mut round = 0;
    while begin.elapsed() < time {
        round += 1;
        let others = histories::run(program, &url, 3, 150, seed * 1_000 + round)?;
        report.others.add(&others);
        let mut times = Vec::new();
        for _ in 0..200 {
            let name = format!("soak {}", random.index(CONTEXTS));
            let mut session = store
                .session_or_new(&name, &ContextSettings::default())
                .map_err(|error| format!("{}: {error}", error.code()))?;
            let text = "some words ".repeat(1 + random.index(100));
            let before = Instant::now();
            step(&mut session, &text, random.percent(30)).map_err(|error| error.to_string())?;
            times.push(before.elapsed());
            report.steps += 1;
        }
        tend(&store, &mut random).map_err(|error| format!("{}: {error}", error.code()))?;
        check_all(&store)?;
        report.samples.push(sample(begin.elapsed(), &folder, times));
    }
    Ok(report)
}

/// A measurement that may grow: its name, what it is, by how many percent, and by how much at least.
type Threshold = (&'static str, fn(&Sample) -> u64, u64, u64);

impl Report {
    /// Compares the last third of the samples with the one before it: what grows with time, not with the work at hand, is a leak.
    ///
    /// # Errors
    ///
    /// The first measurement that is beyond its threshold.
    pub fn check(&self) -> Result<(), Failure> {
        let third = self.samples.len() / 3;
        if third == 0 {
            return Err("fewer than three samples".to_owned());
        }
        let (middle, end) = (&self.samples[third..2 * third], &self.samples[2 * third..]);
        let median = |samples: &[Sample], value: fn(&Sample) -> u64| {
            let mut values: Vec<u64> = samples.iter().map(value).collect();
            values.sort_unstable();
            values[values.len() / 2]
        };
        let rows: [Threshold; 4] = [
            ("memory", |it| it.memory, 20, 16 << 20),
            ("open files", |it| it.files, 10, 8),
            ("file size", |it| it.size, 50, 8 << 20),
            ("median step", |it| it.median, 100, 2_000),
        ];
        for (name, value, percent, least) in rows {
            let (before, after) = (median(middle, value), median(end, value));
            if after > before + (before * percent / 100).max(least) {
                return Err(format!("{name} grew from {before} to {after}"));
            }
        }
        Ok(())
    }
}

fn step(
    session: &mut Session,
    text: &str,
    commits: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    session.update(|context| {
        context.add(Place::head(), NewNode::text(text).role("user").ttl(4))?;
        if commits {
            context.commit()?;
        }
        Ok(())
    })
}

/// Keeps the store small, as an operator would.
fn tend(store: &Store, random: &mut Rng) -> Result<(), StoreError> {
    let retention = Retention { keep_newest: Some(20), ..Retention::default() };
    for row in store.contexts(None, 100)? {
        store.retain(&row.name, &retention, false)?;
    }
    let name = format!("soak {}", random.index(CONTEXTS));
    match store.delete(&name) {
        Ok(()) | Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    store.backend().reclaim().map(drop)
}

fn sample(at: Duration, folder: &Folder, mut times: Vec<Duration>) -> Sample {
    times.sort();
    let rank = |percent: usize| {
        let time = times.get(times.len() * percent / 100).copied().unwrap_or_default();
        u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
    };
    // In pages of 4 KiB, on Linux; 0 elsewhere.
    let memory = fs::read_to_string("/proc/self/statm").ok();
    let memory = memory.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    let size = |name: &str| fs::metadata(folder.file(name)).map_or(0, |file| file.len());
    Sample {
        seconds: at.as_secs_f64(),
        memory: memory.unwrap_or(0) * 4_096,
        files: fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64),
        size: size("store.db") + size("store.db-wal"),
        median: rank(50),
        slow: rank(99),
    }
}

/// A measurement: its name, its unit, where it is, and how many of them are one of the unit.
type Row = (&'static str, &'static str, fn(&Sample) -> u64, f64);

/// Draws the samples: one row for each measurement, each on its own scale from 0.
#[must_use]
pub fn plot(samples: &[Sample]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a picture")]
    let float = |number: u64| number as f64;
    let rows: [Row; 5] = [
        ("memory", "MB", |it| it.memory, 1e6),
        ("open files", "", |it| it.files, 1.0),
        ("file size", "MB", |it| it.size, 1e6),
        ("median step", "ms", |it| it.median, 1e3),
        ("99 % of steps", "ms", |it| it.slow, 1e3),
    ];
    let end = samples.last().map_or(1.0, |sample| sample.seconds.max(1.0));
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 620\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"800\" height=\"620\" fill=\"#fff\"/>\n",
    );
    for (index, (name, unit, value, scale)) in rows.into_iter().enumerate() {
        let base = 110.0 + float(index as u64) * 118.0;
        let most = samples.iter().map(value).max().unwrap_or(1).max(1);
        let shown = float(most) / scale;
        let _ = writeln!(svg, "<text x=\"12\" y=\"{:.0}\">{name}</text>", base - 45.0);
        let _ = writeln!(
            svg,
            "<text x=\"12\" y=\"{:.0}\" fill=\"#666\">up to {shown:.1} {unit}</text>",
            base - 28.0
        );
        let _ = writeln!(svg, "<path d=\"M150 {base} H780\" stroke=\"#bbb\"/>");
        let points = samples.iter().map(|sample| {
            let x = 150.0 + 630.0 * sample.seconds / end;
            let y = base - 90.0 * float(value(sample)) / float(most);
            format!("{x:.1},{y:.1}")
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"#2563eb\" stroke-width=\"1.5\"/>"
        );
    }
    let _ = writeln!(svg, "<text x=\"720\" y=\"608\" fill=\"#666\">{end:.0} s</text>\n</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::{Report, Sample};

    #[test]
    fn what_grows_without_end_is_beyond_a_threshold_and_what_varies_is_not() {
        let samples = |memory: fn(u64) -> u64| -> Report {
            let sample = |number| Sample { memory: memory(number) << 20, ..Sample::default() };
            Report { samples: (0..30).map(sample).collect(), ..Report::default() }
        };
        samples(|number| 100 + number % 7).check().unwrap();
        assert!(samples(|number| 100 + number * 10).check().unwrap_err().contains("memory grew"));
        assert!(Report::default().check().is_err());
    }
}
