//! `cargo xtask test`: runs all checks of the project, the cheapest first.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use crate::{
    adapters, conformance, example, fuzz, inspector, map, msrv, prepare, programs, prose,
    providers, release, setup, tidy,
};

/// How long each fuzz target of the selector language runs here; `cargo xtask fuzz` takes any time.
const FUZZ_SECONDS: u32 = 15;

/// Less optimisation of whole programs than a release has: the tests are built once and run for seconds.
const QUICK_RELEASE: [(&str, &str); 2] =
    [("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")];

/// Runs all steps; stops at the first that fails.
///
/// ```text
/// packages are installed ─────────────┐
/// lints, debug build, its tests ──────┴─┬─ doors: SDKs, Python, adapters, browser, hostile requests
///                                       └─ builds: release, a program outside, fuzz targets
/// ```
pub(crate) fn run(root: &Path) -> Result<String, String> {
    say("setup: what the tests need");
    setup::run()?;
    // Downloads wait for the network, compilers for the processor.
    beside(|| prepare::run(root), || workspace(root))?;
    beside(|| builds(root), || doors(root))?;
    say("done");
    Ok("everything passed".to_owned())
}

/// Does two things at the same time.
fn beside(
    first: impl FnOnce() -> Result<(), String> + Send,
    second: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        first.join().map_err(|_| "a step panicked".to_owned())?.and(second)
    })
}

/// The sources, and the debug build of everything with its tests.
fn workspace(root: &Path) -> Result<(), String> {
    say("tidy: files, names, lengths");
    tidy::check(root)?;
    say("prose: phrases that read like a translation");
    prose::run(root, None)?;
    say("map: imports point downwards");
    map::check(root)?;
    say("minimum Rust version");
    msrv::check(root)?;
    say("manifests of published packages");
    release::check_manifests(root)?;
    say("conformance table");
    conformance::check(root)?;
    cargo(root, "format", &["fmt", "--all", "--check"], &[])?;
    let deny = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    cargo(root, "lints", &deny, &[])?;
    let docs = ["doc", "--workspace", "--no-deps", "--quiet"];
    cargo(root, "documents of the code", &docs, &[("RUSTDOCFLAGS", "-D warnings")])?;
    cargo(root, "tests, debug build", &["test", "--workspace", "--quiet"], &[])
}

/// What is built in another way than the workspace, in folders of its own.
fn builds(root: &Path) -> Result<(), String> {
    // Both builds are compared with the same golden digests, so both give the same bytes.
    let release = ["test", "--release", "--quiet", "--package", "contextree-testkit"];
    cargo(root, "tests of the whole engine, release build", &release, &QUICK_RELEASE)?;
    say("a program outside the workspace");
    example::run(root)?;
    say(&format!("fuzz targets of the selector language, {FUZZ_SECONDS} s each"));
    say(&fuzz::smoke(root, FUZZ_SECONDS)?);
    Ok(())
}

/// What other languages, browsers and protocols see, with the debug build.
fn doors(root: &Path) -> Result<(), String> {
    say("digests by a reader in another language");
    crate::format::check(root)?;
    say("tokens by another library");
    crate::tokens::check(root)?;
    say("requests, judged by the types of the official SDKs");
    providers::check(root)?;
    say("the official SDKs, through the recording proxy");
    say(&crate::record::check(root)?);
    say("the Model Context Protocol, by its own client and suite");
    say(&crate::mcp::check(root)?);
    say("the Python package");
    crate::python::check(root)?;
    say("the adapters of the Python package, under the suites of their frameworks");
    adapters::run(root, adapters::Versions::Pinned, adapters::Which::Small)?;
    say("the inspector, in a browser");
    inspector::check(root)?;
    say("hostile requests to the server");
    crate::hostile::check(root)?;
    say("heap of a snapshot");
    // Allocated bytes are the same in every build.
    providers::run(Command::new(programs::binary(root, "contextree-bench-counted")?).arg("heap"))?;
    say("the guided tours");
    providers::run(&mut Command::new(programs::example(root, "tour")?))?;
    providers::run(Command::new(programs::binary(root, "ctx")?).arg("quickstart"))
}

/// Writes the files generated from the program `ctx`: its reference, its pictures, the output in
/// the tutorial, the transcripts of its tests.
pub(crate) fn write_cli(root: &Path) -> Result<String, String> {
    programs::update(root, "cli", None)?;
    Ok("docs/cli.md, docs/tutorial.md, docs/pictures and crates/cli/tests/cases are up to date; look at the changes".to_owned())
}

/// Writes the JSON Schema of the wire forms, and the description of the routes.
pub(crate) fn write_schema(root: &Path) -> Result<String, String> {
    programs::update(root, "app", Some("schema"))?;
    programs::update(root, "server", Some("api"))?;
    Ok("crates/app/schema.json and crates/server/openapi.json are up to date; look at the changes"
        .to_owned())
}

/// Names a step on the terminal, with the minutes since the chore began: that is how one sees which step is slow.
#[expect(clippy::print_stderr, reason = "progress of a chore")]
#[expect(clippy::disallowed_methods, reason = "the time that a chore takes is shown, never stored")]
pub(crate) fn say(step: &str) {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let seconds = BEGIN.get_or_init(Instant::now).elapsed().as_secs();
    eprintln!("xtask {:02}:{:02}: {step}", seconds / 60, seconds % 60);
}

/// Runs cargo, with its output on the terminal.
pub(crate) fn cargo(
    root: &Path,
    step: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<(), String> {
    say(&format!("{step}: cargo {}", arguments.join(" ")));
    let status = Command::new("cargo")
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {step}")) }
}
