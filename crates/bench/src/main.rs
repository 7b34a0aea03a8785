//! The benchmarks with the system's allocator: `contextree-bench [SUBCOMMAND] [--quick] [--json
//! FILE]`.

use std::process::ExitCode;

use contextree_bench::command::{Build, run};

fn main() -> ExitCode {
    run(Build::System)
}
