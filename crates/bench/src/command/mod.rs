//! The command line, with one subcommand for each kind of measurement.
//!
//! A program has one allocator, and the measurements need three: the system's for comparisons with
//! other programs, mimalloc for ratios that must not depend on how pages are returned to the
//! system, and a counting one, which would slow down all others. So there are three builds of this
//! command line; each starts the build that a subcommand needs.

mod engine;
mod judge;
mod peers;
mod postgres;
mod record;
mod scale;
mod server;
mod startup;
mod store;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand};

use crate::heap;
use crate::outcome::finish;
use crate::table;

/// The allocator of this build.
#[derive(Clone, Copy)]
pub enum Build<'c> {
    /// The system's.
    System,
    /// mimalloc.
    Mimalloc,
    /// The system's, with a counter: returns the number of bytes that are allocated and not freed.
    Counted(&'c dyn Fn() -> i64),
}

impl std::fmt::Debug for Build<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.program())
    }
}

impl Build<'_> {
    fn program(&self) -> &'static str {
        match self {
            Build::System => "contextree-bench",
            Build::Mimalloc => "contextree-bench-mimalloc",
            Build::Counted(_) => "contextree-bench-counted",
        }
    }
}

/// Measures Contextree. Without a subcommand: `engine`.
#[derive(Debug, Parser)]
#[command(name = "contextree-bench")]
struct Line {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    common: Common,
}

/// Options of all subcommands.
#[derive(Clone, Debug, Default, Args)]
pub struct Common {
    /// Measure a tenth of the size, or less
    #[arg(long, global = true)]
    pub quick: bool,
    /// Write the rows to this file, one JSON object per line
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Engine, selectors, tokens, providers
    Engine(engine::Options),
    /// Memory of a retained snapshot
    Heap,
    /// The embedded store; writes to the disk of the current directory
    Store,
    /// Memory of idle contexts; `store` runs it in a process of its own
    #[command(hide = true)]
    Idle(store::Idle),
    /// PostgreSQL against a bare insert
    Postgres,
    /// The recording proxy: time to the first byte, and many calls at once
    Record,
    /// `ctx` from start to answer, against `sqlite3`
    Startup,
    /// The HTTP server on loopback
    Server,
    /// Our side of the comparison with other systems
    Peers(peers::Options),
    /// Imports and cache reports of real logs, against an independent reading of the files
    Judge(judge::Options),
    /// Large stores, and many commits for a long time; writes to the disk of the current directory
    Scale(scale::Options),
}

/// Runs the command line of this process.
#[must_use]
pub fn run(build: Build<'_>) -> ExitCode {
    let line = Line::parse();
    let common = line.common;
    match (line.what.unwrap_or(What::Engine(engine::Options::default())), build) {
        (What::Heap, Build::Counted(allocated)) => measure_heap(&common, allocated),
        (What::Heap, _) => forward("contextree-bench-counted", &[]),
        (What::Engine(options), Build::Mimalloc) => engine::run(&common, &options),
        (What::Engine(_), _) => forward("contextree-bench-mimalloc", &[engine::KEEP]),
        (What::Store, Build::Mimalloc) => store::run(&common),
        (What::Idle(idle), Build::Mimalloc) => store::measure_idle(&idle),
        (What::Store | What::Idle(_), _) => forward("contextree-bench-mimalloc", &[]),
        (_, Build::Mimalloc | Build::Counted(_)) => forward("contextree-bench", &[]),
        (What::Postgres, Build::System) => postgres::run(&common),
        (What::Record, Build::System) => record::run(&common),
        (What::Startup, Build::System) => startup::run(&common),
        (What::Server, Build::System) => server::run(&common),
        (What::Judge(options), Build::System) => judge::run(&options),
        (What::Peers(options), Build::System) => peers::run(&options),
        (What::Scale(options), Build::System) => scale::run(&common, &options),
    }
}

#[expect(clippy::print_stdout, reason = "the program's output")]
fn measure_heap(common: &Common, allocated: &dyn Fn() -> i64) -> ExitCode {
    let rows = heap::rows(if common.quick { 10_000 } else { 100_000 }, allocated);
    print!("{}", table::markdown(&rows));
    finish(common, &rows, &[])
}

/// Starts another build with the arguments of this process and these variables.
#[expect(clippy::print_stdout, reason = "the program's output")]
fn forward(program: &str, variables: &[(&str, &str)]) -> ExitCode {
    let start = || -> std::io::Result<bool> {
        let path = std::env::current_exe()?.with_file_name(program);
        let mut command = Command::new(path);
        command.args(std::env::args_os().skip(1)).envs(variables.iter().copied());
        Ok(command.status()?.success())
    };
    match start() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("{program}: {error}; `cargo build --release -p contextree-bench` builds it");
            ExitCode::FAILURE
        }
    }
}
