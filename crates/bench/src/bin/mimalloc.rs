//! The benchmarks with mimalloc. `contextree-bench` starts this build where it is needed.

use std::process::ExitCode;

use contextree_bench::command::{Build, run};
use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    run(Build::Mimalloc)
}
