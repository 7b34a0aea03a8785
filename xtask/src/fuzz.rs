//! `cargo xtask fuzz`: coverage-guided fuzzing of everything that parses.
//!
//! The targets are built like any other program, only with the compiler's coverage counters switched on: no other tool and no other
//! toolchain is needed.

use std::fs;
use std::path::Path;
use std::process::Command;

/// All targets, and whether their input is text to be read.
pub(crate) const TARGETS: [&str; 5] = ["json", "import", "history", "selector", "session"];

const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1 --cfg fuzzing";

/// Runs one target, or all of them one after the other, for so many seconds each.
pub(crate) fn run(root: &Path, target: Option<&str>, seconds: &str) -> Result<String, String> {
    if seconds.parse::<u32>().is_err() {
        return Err(format!("`{seconds}` is not a number of seconds"));
    }
    let targets: Vec<&str> = match target {
        Some(name) if TARGETS.contains(&name) => vec![name],
        Some(name) => return Err(format!("no target `{name}`; there are {}", TARGETS.join(", "))),
        None => TARGETS.to_vec(),
    };
    let folder = root.join("fuzz");
    let host = host()?;
    // With the target named, build scripts are built without the counters.
    let build = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--target", &host])
        .env("RUSTFLAGS", COVERAGE)
        .current_dir(&folder)
        .status();
    if !build.is_ok_and(|status| status.success()) {
        return Err("the fuzz targets cannot be built".to_owned());
    }
    for name in &targets {
        let found = folder.join("found").join(name);
        fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
        let seeds = folder.join("seeds").join(name);
        let mut command =
            Command::new(folder.join("target").join(&host).join("release").join(name));
        command.arg(&found);
        if seeds.is_dir() {
            command.arg(&seeds);
        }
        let status = command
            .arg(format!("-max_total_time={seconds}"))
            .args(["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=0"])
            .arg(format!("-artifact_prefix={}/", folder.join("found").display()))
            .current_dir(&folder)
            .status()
            .map_err(|error| format!("{name} cannot be run: {error}"))?;
        if !status.success() {
            return Err(format!("the target `{name}` found something; see fuzz/found"));
        }
    }
    Ok(format!("{} for {seconds} s each: nothing found", targets.join(", ")))
}

/// The machine's own target, as the compiler calls it.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc cannot be run: {error}"))?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .ok_or_else(|| "rustc does not say what its host is".to_owned())
}
