//! `cargo xtask test`: runs all checks of the project, the cheapest first.

use std::path::Path;
use std::process::Command;

use crate::{conformance, example, fuzz, inspector, map, msrv, prose, setup, tidy};

/// How long each fuzz target of the selector language runs here; `cargo xtask fuzz` takes any time.
const FUZZ_SECONDS: u32 = 15;

/// Runs all steps; stops at the first that fails.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    say("setup: what the tests need");
    setup::run()?;
    say("tidy: files, names, lengths");
    tidy::check(root)?;
    say("prose: phrases that read like a translation");
    prose::run(root, None)?;
    say("map: imports point downwards");
    map::check(root)?;
    say("minimum Rust version");
    msrv::check(root)?;
    say("conformance table");
    conformance::check(root)?;
    cargo(root, "format", &["fmt", "--all", "--check"], &[])?;
    let deny = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    cargo(root, "lints", &deny, &[])?;
    let docs = ["doc", "--workspace", "--no-deps", "--quiet"];
    cargo(root, "documents of the code", &docs, &[("RUSTDOCFLAGS", "-D warnings")])?;
    cargo(root, "tests, debug build", &["test", "--workspace", "--quiet"], &[])?;
    // Both builds are compared with the same golden digests, so both give the same bytes.
    let release = ["test", "--release", "--quiet", "--package", "contextree-testkit"];
    cargo(root, "tests of the whole engine, release build", &release, &[])?;
    say("digests by a reader in another language");
    crate::format::check(root)?;
    say("tokens by another library");
    crate::tokens::check(root)?;
    say("requests, judged by the types of the official SDKs");
    crate::providers::check(root)?;
    say("the Python package");
    crate::python::check(root)?;
    say("the inspector, in a browser");
    inspector::check(root)?;
    // Allocated bytes are the same in every build, and this one exists already.
    let bench = ["run", "--quiet", "--package", "contextree-bench", "--bin"];
    let heap = [&bench[..], &["contextree-bench-counted", "--", "heap"]].concat();
    cargo(root, "heap of a snapshot", &heap, &[])?;
    let tour = ["run", "--release", "--quiet", "--package", "contextree", "--example", "tour"];
    cargo(root, "the guided tour", &tour, &[])?;
    let facade = ["test", "--quiet", "--package", "contextree", "--all-features"];
    cargo(root, "the crate `contextree` with all features", &facade, &[])?;
    say("a program outside the workspace");
    example::run(root)?;
    say(&format!("fuzz targets of the selector language, {FUZZ_SECONDS} s each"));
    say(&fuzz::smoke(root, FUZZ_SECONDS)?);
    let quickstart = ["run", "--release", "--quiet", "--", "quickstart"];
    cargo(root, "the guided tour of the command line", &quickstart, &[])?;
    Ok("everything passed".to_owned())
}

/// Writes the files generated from the program `ctx`: its reference, its pictures, the output in
/// the tutorial, the transcripts of its tests.
pub(crate) fn write_cli(root: &Path) -> Result<String, String> {
    let arguments = ["test", "--quiet", "--package", "contextree-cli", "--test", "it"];
    cargo(root, "documents of the command line", &arguments, &[("CONTEXTREE_UPDATE", "1")])?;
    Ok("docs/cli.md, docs/tutorial.md, docs/pictures and crates/cli/tests/cases are up to date; look at the changes".to_owned())
}

/// Writes the JSON Schema of the wire forms, and the description of the routes.
pub(crate) fn write_schema(root: &Path) -> Result<String, String> {
    let arguments = ["test", "--quiet", "--package", "contextree-app", "--test", "it", "schema"];
    cargo(root, "schema of the wire forms", &arguments, &[("CONTEXTREE_UPDATE", "1")])?;
    let arguments = ["test", "--quiet", "--package", "contextree-server", "--test", "it", "api"];
    cargo(root, "description of the routes", &arguments, &[("CONTEXTREE_UPDATE", "1")])?;
    Ok("crates/app/schema.json and crates/server/openapi.json are up to date; look at the changes"
        .to_owned())
}

#[expect(clippy::print_stderr, reason = "progress of a chore")]
pub(crate) fn say(step: &str) {
    eprintln!("xtask: {step}");
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
