//! Runs our side of `cargo xtask bench --peers`.
//!
//! - `contextree-bench peers conversation chat|agent LENGTH FILE` writes the conversation that
//!   every program follows.
//! - `contextree-bench peers memory|sqlite|sqlite-relaxed|postgres chat|agent LENGTH FILE FOLDER`
//!   follows it and prints one line of JSON.
//!
//! It uses the system's allocator, like the programs of the other systems.
#![expect(clippy::print_stdout, reason = "the program's output")]
#![expect(clippy::disallowed_methods, reason = "a benchmark needs a clock")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use contextree::SnapshotAddress;
use contextree_provider::{Provider, RenderOptions, RequestRenderer};

use crate::peers::{Answer, Kind, Place, System, lines, resident, write};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Options of `peers`. They are positional, because the programs of the other systems are called
/// the same way.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// `memory`, `sqlite`, `sqlite-relaxed` or `postgres`; `conversation` writes the file
    system: String,
    /// `chat` or `agent`
    kind: String,
    /// Turns or calls
    length: u64,
    /// The conversation
    file: PathBuf,
    /// Where a store may be made
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    match answer(options) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer(options: &Options) -> Outcome<String> {
    let Options { system, kind, length, file, folder } = options;
    let kind = Kind::named(kind).ok_or("unknown workload")?;
    if system == "conversation" {
        write(file, kind, *length)?;
        return Ok("{}".to_owned());
    }
    let folder = folder.as_deref().ok_or("a folder for the store is missing")?;
    let place = || Place::named(system, folder).ok_or("unknown system");
    // A short conversation first, as a warm-up.
    let warm = place()?;
    let mut system_of_warm = System::create(&warm)?;
    for line in lines(file)?.take(5) {
        system_of_warm.step(&line)?;
    }
    drop(system_of_warm);
    warm.remove()?;
    let place = place()?;
    let answer = follow(&place, kind, *length, file);
    place.remove()?;
    answer
}

/// Returns the number of final turns that are measured.
fn window(length: u64) -> u64 {
    (length / 5).clamp(5, 100)
}

fn follow(place: &Place, kind: Kind, length: u64, file: &Path) -> Outcome<String> {
    let mut answer = Answer::default();
    let mut system = System::create(place)?;
    answer.number("rss_before", resident());
    let (mut window_times, mut total) = (Vec::new(), 0.0);
    let first = length - window(length).min(length);
    for (number, line) in (0_u64..).zip(lines(file)?) {
        let start = Instant::now();
        system.step(&line)?;
        let taken = start.elapsed().as_nanos() as f64;
        total += taken;
        // The question to an agent precedes its first step.
        if number >= first + u64::from(kind == Kind::Agent) {
            window_times.push(taken);
        }
    }
    answer.number("rss", resident());
    answer.list("turn", &window_times);
    answer.list("total", &[total]);
    past(&mut answer, &mut system, kind, length)?;
    drop(system);
    again(&mut answer, place, kind, length)?;
    Ok(answer.json())
}

fn middle(kind: Kind, length: u64) -> SnapshotAddress {
    SnapshotAddress::Cycle(length / 2 + u64::from(kind == Kind::Agent))
}

/// Measures reads of the context that was just written.
fn past(answer: &mut Answer, system: &mut System, kind: Kind, length: u64) -> Outcome<()> {
    let repeat = if length >= 10_000 { 5 } else { 15 };
    let (count, bytes) = system.read(SnapshotAddress::Back(0))?;
    answer.number("messages", count);
    answer.number("text", bytes);
    let (count, bytes) = answer.measure("middle", repeat, || system.read(middle(kind, length)))?;
    answer.number("middle_messages", count);
    answer.number("middle_text", bytes);
    let last = u32::try_from(length)? + u32::from(kind == Kind::Agent);
    let page = answer.measure("page", repeat, || system.history(last - 9))?;
    let all = answer.measure("history", repeat.min(5), || system.history(1))?;
    answer.number("page_entries", page as u64);
    answer.number("history_entries", all as u64);
    let users = answer.measure("select", repeat, || system.select("@t0 .block[role=user]"))?;
    answer.number("selected", users as u64);
    answer.measure("diff", repeat, || system.diff())?;
    let rendered = answer.measure("render", repeat, || -> Outcome<usize> {
        // A new renderer each time, so that nothing is rendered in advance.
        let mut renderer = RequestRenderer::new(Provider::OpenAiChat, RenderOptions::default());
        let head = system.snapshot(SnapshotAddress::Back(0))?;
        let tree = head.tree();
        Ok(renderer.render(tree)?.bytes.len())
    })?;
    answer.number("rendered", rendered as u64);
    Ok(())
}

/// Measures reads of a store that no process has open.
fn again(answer: &mut Answer, place: &Place, kind: Kind, length: u64) -> Outcome<()> {
    let Some(bytes) = place.bytes()? else {
        for name in ["bytes", "open", "middle_cold"] {
            answer.why(name, "in memory only");
        }
        return Ok(());
    };
    answer.number("bytes", bytes);
    let repeat = if length >= 10_000 { 5 } else { 15 };
    answer.measure("open", repeat, || System::open(place)?.read(SnapshotAddress::Back(0)))?;
    answer.measure("middle_cold", repeat, || System::read_cold(place, middle(kind, length)))?;
    Ok(())
}
