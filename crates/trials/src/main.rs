//! `contextree-trials`: the trials at any size. `cargo xtask trials` runs it.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program with a clock and a terminal"
)]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use contextree_testkit::postgres::Server;
use contextree_trials::folder::Folder;
use contextree_trials::spread::{Size, spread};
use contextree_trials::{
    damage, faults, full, histories, inputs, power, proxy, simulate, soak, worst,
};
use peak_alloc::PeakAlloc;

/// The worst selectors are measured.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Trials of the stores, at any size.
#[derive(Parser)]
struct Arguments {
    /// How many threads work on trials whose units are independent: `faults`, `power`, `inputs`, `damage`.
    #[arg(long, global = true, default_value_t = 2)]
    threads: usize,
    #[command(subcommand)]
    trial: Trial,
}

#[derive(Subcommand)]
enum Trial {
    /// A fault at every call to the disk, in four modes.
    Faults {
        /// How many steps the session has.
        #[arg(long, default_value_t = 40)]
        steps: u64,
        /// The call that fails first.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Every N-th call fails.
        #[arg(long, default_value_t = 1)]
        stride: u64,
        /// At most this many faults.
        #[arg(long, default_value_t = u64::MAX)]
        limit: u64,
    },
    /// Power loss after any call to the disk.
    Power {
        /// How many steps the session has.
        #[arg(long, default_value_t = 60)]
        steps: u64,
        /// How many states of the disk are opened.
        #[arg(long, default_value_t = 100_000)]
        states: u64,
        /// The seed of the first state.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Clients, faults and models under one seeded scheduler.
    Simulate {
        /// How long: `30s`, `10m`, `8h`.
        #[arg(long = "for", default_value = "10m", value_parser = duration)]
        time: Duration,
        /// The first seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many things clients do in each simulation.
        #[arg(long, default_value_t = 200)]
        acts: u64,
    },
    /// A connection to PostgreSQL that is cut, cut off or late at every message.
    Proxy {
        /// How many steps the session has.
        #[arg(long, default_value_t = 16)]
        steps: u64,
        /// The message that is disturbed first.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Every N-th message is disturbed.
        #[arg(long, default_value_t = 1)]
        stride: u64,
    },
    /// Processes that read, write, collect and verify, with kills, checked for linearizability.
    Histories {
        /// How long: `30s`, `10m`, `8h`.
        #[arg(long = "for", default_value = "10m", value_parser = duration)]
        time: Duration,
        /// How many processes at a time.
        #[arg(long, default_value_t = 5)]
        clients: usize,
        /// How many operations in each history.
        #[arg(long, default_value_t = 2_000)]
        operations: u64,
        /// The first seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// On a PostgreSQL server instead of in a file.
        #[arg(long)]
        postgres: bool,
        /// The server is killed and started again after every tenth kill of a client.
        #[arg(long, requires = "postgres")]
        restarts: bool,
        /// Until at least this many clients were killed, however long it takes.
        #[arg(long, default_value_t = 0)]
        kills: u64,
        /// Until `verify` was run at least this often beside writers, however long it takes.
        #[arg(long, default_value_t = 0)]
        verifies: u64,
    },
    /// Hours of mixed work with kills; writes a plot.
    Soak {
        /// How long: `30s`, `10m`, `8h`.
        #[arg(long = "for", default_value = "1h", value_parser = duration)]
        time: Duration,
        /// The seed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Where the plot is written.
        #[arg(long, default_value = "soak.svg")]
        plot: std::path::PathBuf,
    },
    /// One process of `histories`.
    #[command(hide = true)]
    Client {
        #[arg(long)]
        url: String,
        #[arg(long)]
        seed: u64,
    },
    /// Hostile inputs: stored records, database files, command lines, requests.
    Inputs {
        /// What reads them: `records`, `database`, `command`, `wire`; all, one after the other, by default.
        #[arg(long)]
        reader: Option<String>,
        /// How many for each reader.
        #[arg(long, default_value_t = 100_000)]
        inputs: u64,
        /// The seed of the first input.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Selectors of 16 KB over 100,000 nodes: the slowest one, and the one that takes the most memory.
    Selectors {
        /// How many random ones, besides those that are expensive on purpose.
        #[arg(long, default_value_t = 100)]
        random: u64,
        /// The seed of the first random one.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Deletes and collects on a disk without a free byte.
    Full {
        /// How many turns each of three contexts has.
        #[arg(long, default_value_t = 400)]
        turns: u64,
        /// The seed of the contents.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Changed bits, pages, rows and records.
    Damage {
        /// How many random changes.
        #[arg(long, default_value_t = 1_000_000)]
        changes: u64,
        /// The seed of the first change.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Every bit of bytes that are not 0 instead, in this many parts.
        #[arg(long)]
        bits: Option<usize>,
        /// Which part.
        #[arg(long, default_value_t = 0)]
        part: usize,
        /// Bits of bytes that are 0 as well.
        #[arg(long)]
        zeros: bool,
        /// Every bit of the file instead.
        #[arg(long)]
        every_bit: bool,
    },
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let number: u64 = number.parse().map_err(|_| format!("`{text}` is not like `30s` or `8h`"))?;
    match unit {
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number * 60)),
        "h" => Ok(Duration::from_secs(number * 3_600)),
        _ => Err(format!("`{text}` is not like `30s`, `10m` or `8h`")),
    }
}

fn main() -> ExitCode {
    let begin = Instant::now();
    let Arguments { threads, trial } = Arguments::parse();
    let done = run(trial, threads);
    let seconds = begin.elapsed().as_secs();
    // The last line says how it ended; a process that was killed by a signal has none.
    match done {
        // A client has said everything already.
        Ok(report) if report.is_empty() => ExitCode::SUCCESS,
        Ok(report) => {
            println!("{report}\nDONE in {seconds} s");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("FAILED: {failure}\nFAILED after {seconds} s");
            ExitCode::FAILURE
        }
    }
}

/// Prints how far a trial is, about a hundred times.
fn progress(units: u64) -> impl Fn(u64) + Sync {
    let begin = Instant::now();
    let shown = AtomicU64::new(0);
    move |done| {
        let percent = done.saturating_mul(100) / units.max(1);
        if shown.fetch_max(percent, Ordering::Relaxed) < percent {
            let seconds = begin.elapsed().as_secs_f64();
            #[expect(clippy::cast_precision_loss, reason = "a speed for people")]
            let speed = done as f64 / seconds.max(0.001);
            println!("{done} of {units}, {seconds:.0} s, {speed:.1} per second");
        }
    }
}

fn run(trial: Trial, threads: usize) -> Result<String, String> {
    match trial {
        Trial::Faults { steps, first, stride, limit } => {
            let calls = faults::one(steps, u64::MAX, faults::Mode::Once, &mut BTreeMap::new())?;
            let most = limit.div_ceil(faults::Mode::ALL.len() as u64);
            let units = calls.saturating_sub(first).div_ceil(stride.max(1)).min(most);
            let work = |from: u64, count: u64| {
                let limit = count * faults::Mode::ALL.len() as u64;
                faults::run(steps, first + from * stride, stride, limit)
            };
            let size = Size { units, chunk: 25, threads };
            spread(size, work, faults::Report::add, progress(units))
                .map(|report| format!("{report:#?}"))
        }
        Trial::Power { steps, states, seed } => {
            let work = |first, count| power::run(steps, count, seed + first);
            let size = Size { units: states, chunk: power::ROUND, threads };
            spread(size, work, power::Report::add, progress(states))
                .map(|report| format!("{report:#?}"))
        }
        Trial::Simulate { time, seed, acts } => {
            let (begin, mut seed) = (Instant::now(), seed);
            let mut report = simulate::Report::default();
            while begin.elapsed() < time {
                for place in [simulate::Where::Memory, simulate::Where::File] {
                    simulate::one(seed, place, acts, &mut report)?;
                }
                seed += 1;
            }
            Ok(format!("{report:#?}\nthe next seed is {seed}"))
        }
        Trial::Proxy { steps, first, stride } => {
            let server = Server::obtain()?;
            proxy::run(&server, steps, first, stride).map(|report| format!("{report:#?}"))
        }
        Trial::Histories {
            time,
            clients,
            operations,
            seed,
            postgres,
            restarts,
            kills,
            verifies,
        } => {
            let program = std::env::current_exe().map_err(|error| error.to_string())?;
            let (begin, mut seed) = (Instant::now(), seed);
            let server = postgres.then(Server::obtain).transpose()?;
            let mut sum = histories::Report::default();
            let restart = || match &server {
                Some(server) => server.kill().and_then(|()| server.restart()),
                None => Ok(()),
            };
            let restart: Option<&dyn Fn() -> Result<(), String>> = restarts.then_some(&restart);
            while begin.elapsed() < time || sum.kills < kills || sum.verifies < verifies {
                let folder = Folder::new();
                let url = match &server {
                    Some(server) => server.url_with(&format!("schema=history_{seed}")),
                    None => folder.url("store.db"),
                };
                let done = histories::run_with(&program, &url, clients, operations, seed, restart)?;
                sum.add(&done);
                seed += 1;
                println!("{sum:?}, {} s", begin.elapsed().as_secs());
            }
            Ok(format!("{sum:#?}\nthe next seed is {seed}"))
        }
        Trial::Soak { time, seed, plot } => {
            let program = std::env::current_exe().map_err(|error| error.to_string())?;
            let report = soak::run(&program, time, seed)?;
            let drawn = std::fs::write(&plot, soak::plot(&report.samples));
            drawn.map_err(|error| format!("{}: {error}", plot.display()))?;
            let (first, last) = (report.samples.first(), report.samples.last());
            let soak::Report { steps, others, samples } = &report;
            let count = samples.len();
            let shown =
                format!("{steps} steps, {others:#?}, {count} samples\n{first:#?}\n{last:#?}");
            report.check().map_err(|failure| format!("{failure}\n{shown}"))?;
            Ok(shown)
        }
        Trial::Client { url, seed } => {
            let done = histories::client::run(&url, seed, &mut std::io::stdout());
            done.map(|()| String::new()).map_err(|error| error.to_string())
        }
        Trial::Inputs { reader, inputs, seed } => {
            let readers = match reader {
                Some(name) => vec![inputs::Reader::named(&name)?],
                None => inputs::Reader::ALL.to_vec(),
            };
            let mut done = Vec::new();
            for reader in readers {
                let work = |first, count| inputs::run(reader, count, seed + first);
                let chunk = (inputs / 200).clamp(1, 1_000);
                let size = Size { units: inputs, chunk, threads };
                let read = spread(size, work, |sum, more| *sum += more, progress(inputs))?;
                done.push(format!("{reader:?}: {read}"));
                println!("{reader:?}: {read}");
            }
            Ok(done.join("\n"))
        }
        Trial::Selectors { random, seed } => selectors(random, seed),
        Trial::Full { turns, seed } => full::run(turns, seed).map(|report| format!("{report:#?}")),
        Trial::Damage { changes, seed, bits, part, zeros, every_bit } => {
            let report = match bits {
                Some(parts) => damage::run_bits(part, parts, zeros)?,
                None => {
                    let subject = damage::Subject::new()?;
                    let bits = u64::try_from(subject.bits()).unwrap_or(u64::MAX);
                    let units = if every_bit { bits } else { changes };
                    let work = |first: u64, count: u64| match every_bit {
                        true => {
                            let index = |number| usize::try_from(number).unwrap_or(usize::MAX);
                            damage::run_bits_on(&subject, index(first), index(count), true)
                        }
                        false => damage::run_on(&subject, count, seed + first),
                    };
                    let size = Size { units, chunk: 200, threads };
                    spread(size, work, damage::Report::add, progress(units))?
                }
            };
            match report.panics == 0 && report.wrong.is_empty() {
                true => Ok(format!("{report:#?}")),
                false => Err(format!("{report:#?}")),
            }
        }
    }
}

/// What a selector may take: the bars of the project.
const MOST_TIME: Duration = Duration::from_secs(1);
const MOST_BYTES: usize = 200 << 20;

fn selectors(random: u64, seed: u64) -> Result<String, String> {
    let tree = worst::large(25_000);
    let (mut slowest, mut largest) = ((Duration::ZERO, String::new()), (0, String::new()));
    let (mut answered, mut limits) = (0, 0);
    let chosen = worst::chosen();
    for text in chosen.into_iter().chain((seed..seed + random).map(worst::random)) {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let begin = Instant::now();
        let outcome = worst::evaluate(&text, &tree)?;
        let time = begin.elapsed();
        let bytes = MEMORY.peak_usage().saturating_sub(before);
        match outcome {
            worst::Outcome::Nodes(_) => answered += 1,
            worst::Outcome::Limit => limits += 1,
            worst::Outcome::Invalid => return Err(format!("not a selector: {text:.80}")),
        }
        let shown: String = text.chars().take(60).collect();
        slowest = slowest.max((time, shown.clone()));
        largest = largest.max((bytes, shown));
    }
    let report = format!(
        "{answered} answered, {limits} refused with E_LIMIT\nslowest: {} ms: {}…\nlargest: {} MB: {}…",
        slowest.0.as_millis(),
        slowest.1,
        largest.0 >> 20,
        largest.1
    );
    match slowest.0 < MOST_TIME && largest.0 < MOST_BYTES {
        true => Ok(report),
        false => Err(report),
    }
}
