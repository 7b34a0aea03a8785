//! The benchmarks with a counting allocator. `contextree-bench` starts this build where it is
//! needed.

use std::alloc::System;
use std::process::ExitCode;

use contextree_bench::command::{Build, run};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let region = Region::new(GLOBAL);
    run(Build::Counted(&|| {
        let change = region.change();
        change.bytes_allocated as i64 - change.bytes_deallocated as i64
    }))
}
