//! `cargo xtask fuzz`: coverage-guided fuzzing of all parsers.
//!
//! The targets are built like any other program, with the compiler's coverage counters enabled; no
//! other tool or toolchain is needed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// All targets, and their seeds: a folder in `fuzz`, or a file there with one seed per line.
const TARGETS: [(&str, &str); 14] = [
    ("json", "seeds/json"),
    ("import", "seeds/import"),
    ("history", "seeds/history"),
    ("parse", "seeds/selectors"),
    ("print", "seeds/selectors"),
    ("evaluate", "seeds/selectors"),
    ("session", "seeds/session"),
    ("requests", "../crates/import/tests/samples"),
    ("budget", "seeds/budget"),
    ("stream", "../crates/provider/tests/streams"),
    ("records", "seeds/records"),
    ("database", "seeds/database"),
    ("command", "seeds/command"),
    ("wire", "seeds/wire"),
];

/// The targets of the selector language, which `cargo xtask test` runs for a short time.
const SELECTORS: [&str; 3] = ["parse", "print", "evaluate"];

/// Targets that need the whole engine.
const ENGINE: [&str; 3] = ["import", "history", "session"];

/// Targets that need providers and budgets.
const PROVIDERS: [&str; 3] = ["requests", "budget", "stream"];

/// Targets that need the stores and the doors. Their readers also run in `crates/trials/tests/it/inputs.rs`, without this build.
const STORES: [&str; 4] = ["records", "database", "command", "wire"];

const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1 --cfg fuzzing";

/// Runs one target, or all of them one after the other, for this many seconds each.
pub(crate) fn run(root: &Path, target: Option<&str>, seconds: &str) -> Result<String, String> {
    let seconds: u32 =
        seconds.parse().map_err(|_| format!("`{seconds}` is not a number of seconds"))?;
    let names: Vec<&str> = match target {
        Some(name) => vec![name],
        None => TARGETS.iter().map(|(name, _)| *name).collect(),
    };
    run_all(root, &names, seconds)
}

/// Runs the targets of the selector language for a short time; skips them on a machine without a
/// C++ compiler.
pub(crate) fn smoke(root: &Path, seconds: u32) -> Result<String, String> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        return Ok("skipped: libFuzzer needs a C++ compiler".to_owned());
    }
    run_all(root, &SELECTORS, seconds)
}

fn run_all(root: &Path, names: &[&str], seconds: u32) -> Result<String, String> {
    let all = TARGETS.map(|(name, _)| name).join(", ");
    let known = |name: &&str| TARGETS.iter().find(|(known, _)| known == name).copied();
    let targets: Vec<(&str, &str)> = names
        .iter()
        .map(|name| {
            known(name).ok_or_else(|| format!("unknown target `{name}`; expected one of {all}"))
        })
        .collect::<Result<_, String>>()?;
    let folder = root.join("fuzz");
    let host = host()?;
    // With an explicit target, build scripts are built without the counters. The targets have a
    // directory of their own, whatever the rest of the project is built into.
    let mut build = Command::new("cargo");
    build
        .args(["build", "--release", "--quiet", "--target", &host])
        .args(["--target-dir", "target"])
        .env("RUSTFLAGS", COVERAGE)
        .current_dir(&folder);
    for (name, _) in &targets {
        build.args(["--bin", name]);
    }
    for (feature, names) in
        [("engine", &ENGINE[..]), ("providers", &PROVIDERS), ("stores", &STORES)]
    {
        if targets.iter().any(|(name, _)| names.contains(name)) {
            build.args(["--features", feature]);
        }
    }
    if !build.status().is_ok_and(|status| status.success()) {
        return Err("the fuzz targets cannot be built".to_owned());
    }
    let mut done = Vec::new();
    for (name, seeds) in &targets {
        let found = folder.join("found").join(name);
        fs::create_dir_all(&found).map_err(|error| format!("{}: {error}", found.display()))?;
        let mut command =
            Command::new(folder.join("target").join(&host).join("release").join(name));
        command.arg(&found);
        command.args(seed_folder(&folder, seeds)?);
        let words = folder.join(seeds).with_extension("dict");
        if words.is_file() {
            command.arg(format!("-dict={}", words.display()));
        }
        command
            .arg(format!("-max_total_time={seconds}"))
            .args(["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=0"])
            .arg(format!("-artifact_prefix={}/{name}-", folder.join("found").display()))
            .current_dir(&folder);
        let inputs = run_one(command).map_err(|error| format!("{name} cannot be run: {error}"))?;
        match inputs {
            Some(inputs) => done.push(format!("{name} {inputs}")),
            None => return Err(format!("the target `{name}` found something; see fuzz/found")),
        }
    }
    Ok(format!("inputs in {seconds} s each, nothing found: {}", done.join(", ")))
}

/// Runs a target, and passes on what it says. Returns how many inputs it read; `None` if it found something.
#[expect(clippy::print_stderr, reason = "what it says is for the terminal")]
fn run_one(mut command: Command) -> std::io::Result<Option<u64>> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut inputs = 0;
    // It may repeat bytes of an input, which are no text.
    for line in child.stderr.take().into_iter().flat_map(|said| BufReader::new(said).split(b'\n')) {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        match line.strip_prefix("stat::number_of_executed_units:") {
            Some(number) => inputs = number.trim().parse().unwrap_or(0),
            None => eprintln!("{line}"),
        }
    }
    Ok(child.wait()?.success().then_some(inputs))
}

/// Returns the folder of seeds, if there are any. Short seeds are in one file, one per line, with `
/// ` for line breaks.
fn seed_folder(folder: &Path, seeds: &str) -> Result<Option<PathBuf>, String> {
    let many = folder.join(seeds);
    if many.is_dir() {
        return Ok(Some(many));
    }
    let Ok(lines) = fs::read_to_string(many.with_extension("txt")) else { return Ok(None) };
    let seeds = folder.join("found").join(seeds.replace('/', "-"));
    let fail = |error: std::io::Error| format!("{}: {error}", seeds.display());
    fs::create_dir_all(&seeds).map_err(fail)?;
    for (number, line) in lines.lines().enumerate() {
        fs::write(seeds.join(number.to_string()), line.replace("\\n", "\n")).map_err(fail)?;
    }
    Ok(Some(seeds))
}

/// Returns the compiler's name of the host target.
fn host() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc cannot be run: {error}"))?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .ok_or_else(|| "rustc does not print its host".to_owned())
}
