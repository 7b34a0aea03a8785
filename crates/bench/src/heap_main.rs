//! What a retained snapshot costs in memory.
//!
//! A program of its own, because it counts every allocation and would slow the other measurements down: `contextree-heap [--quick] [--json FILE]`.

use std::alloc::System;
use std::process::ExitCode;

use contextree_bench::heap::rows;
use contextree_bench::outcome::finish;
use contextree_bench::table;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[expect(clippy::print_stdout, reason = "the program's output")]
fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let region = Region::new(GLOBAL);
    let allocated = || {
        let change = region.change();
        change.bytes_allocated as i64 - change.bytes_deallocated as i64
    };
    let rows = rows(if quick { 10_000 } else { 100_000 }, &allocated);
    print!("{}", table::markdown(&rows));
    finish(&rows, &[])
}
