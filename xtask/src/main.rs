//! The project's chores: `cargo xtask <chore>`.

mod adapters;
mod bench;
mod check;
mod conformance;
mod example;
mod features;
mod format;
mod fuzz;
mod hostile;
mod inspector;
mod map;
mod mcp;
mod msrv;
mod packages;
mod prepare;
mod programs;
mod prose;
mod providers;
mod python;
mod record;
mod release;
mod setup;
mod test;
mod tidy;
mod tokens;
mod trials;
mod wasm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adapters::{Versions, Which};

const USAGE: &str = "usage: cargo xtask test              every check and every test
       cargo xtask setup             installs what the tests need, if it is missing: a PostgreSQL server, Chromium
       cargo xtask check             the fast tier: format, lints, and tests that finish within three minutes
       cargo xtask bench [--quick]   every bar of our own
       cargo xtask bench --peers [NAME] [--quick]   the same work by other systems, or those with NAME in theirs
       cargo xtask bench --scale [--quick] [PART]   large stores, many commits: contexts, turns, content, sqlite, postgres
       cargo xtask bench page        docs/performance.md from the results in docs/performance.json
       cargo xtask fuzz [TARGET] [--seconds N]   fuzzing; ten minutes each by default
       cargo xtask trials TRIAL …    the trials of the stores by hand: faults, power, simulate, histories, proxy, damage, soak; --help lists their options
       cargo xtask simulate [--for 8h] [--seed N]   the same as `trials simulate`
       cargo xtask soak [--for 8h]   the same as `trials soak`
       cargo xtask cli               the pages and pictures of the command line, from the program
       cargo xtask schema            crates/app/schema.json and crates/server/openapi.json, from the types of requests and responses
       cargo xtask map               the layers of the crates, and that imports point downwards
       cargo xtask format            digests by a reader in another language
       cargo xtask tokens            token counts by another library
       cargo xtask tokens --write    the vocabularies in crates/tokens/data, from their sources
       cargo xtask providers         rendered requests, judged by the types of the official SDKs
       cargo xtask python            the Python package: wheel, tests, corpus, strict types, lints, examples
       cargo xtask python --bench    the package against the library
       cargo xtask adapters [NAME]   the adapters of the Python package, under the suites of their frameworks
       cargo xtask adapters --latest the same with the newest versions of the frameworks
       cargo xtask adapters --bench  the adapters against the stores of their frameworks, release build
       cargo xtask record            the official SDKs of providers, through the recording proxy
       cargo xtask record --agents   agents from registries, recorded unchanged; installs 700 MB
       cargo xtask mcp               the official client and the conformance suite of the Model Context Protocol
       cargo xtask inspector         the page: types, the committed bundle, and every view in Chromium
       cargo xtask inspector --write the bundle in crates/server/page, from inspector/
       cargo xtask inspector --pictures   the pictures of the page in docs/pictures
       cargo xtask inspector --bench the bars of the page, in Chromium with a release build
       cargo xtask hostile [--cases N] [--seed N]   hostile requests to a real server; 10,000 by schemathesis by default
       cargo xtask example           builds and runs examples/agent, a program outside the workspace
       cargo xtask tidy              what the house style asks of files
       cargo xtask prose [PATH]      phrases to rewrite, in documents, comments and messages
       cargo xtask msrv              the minimum Rust version is the same everywhere
       cargo xtask features          each feature alone, none, and all
       cargo xtask wasm              the core crates compile for wasm32-unknown-unknown
       cargo xtask release --dry-run what a release checks, packages and would publish
       cargo xtask conformance [--check]   the table docs/conformance.md";

#[expect(clippy::print_stderr, reason = "a chore answers on the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["test"] => test::run(&root()),
        ["setup"] => setup::run(),
        ["check"] => check::run(&root()),
        ["bench", rest @ ..] => bench::run(&root(), rest),
        ["fuzz"] => fuzz::run(&root(), None, "600"),
        ["fuzz", "--seconds", seconds] => fuzz::run(&root(), None, seconds),
        ["fuzz", target] => fuzz::run(&root(), Some(target), "600"),
        ["fuzz", target, "--seconds", seconds] => fuzz::run(&root(), Some(target), seconds),
        ["trials", rest @ ..] => trials::run(&root(), rest),
        ["simulate" | "soak", ..] => trials::run(&root(), &arguments),
        ["cli"] => test::write_cli(&root()),
        ["schema"] => test::write_schema(&root()),
        ["map"] => map::check(&root()),
        ["format"] => format::check(&root()),
        ["tokens"] => tokens::check(&root()),
        ["tokens", "--write"] => tokens::write(&root()),
        ["providers"] => providers::check(&root()),
        ["python"] => python::check(&root()),
        ["python", "--bench"] => python::bench(&root()),
        ["adapters"] => adapters::run(&root(), Versions::Pinned, Which::All),
        ["adapters", "--latest"] => adapters::run(&root(), Versions::Latest, Which::All),
        ["adapters", "--bench"] => adapters::bench(&root()),
        ["adapters", name] => adapters::run(&root(), Versions::Pinned, Which::One(name)),
        ["record"] => record::check(&root()),
        ["record", "--agents"] => record::agents::check(&root()),
        ["mcp"] => mcp::check(&root()),
        ["inspector"] => inspector::check(&root()),
        ["inspector", "--write"] => inspector::write(&root()),
        ["inspector", "--pictures"] => inspector::pictures(&root()),
        ["inspector", "--bench"] => inspector::bench(&root()),
        ["hostile", rest @ ..] => hostile::run_with(&root(), rest),
        ["example"] => example::run(&root()),
        ["tidy"] => tidy::check(&root()),
        ["prose"] => prose::run(&root(), None),
        ["prose", path] => prose::run(&root(), Some(path)),
        ["msrv"] => msrv::check(&root()),
        ["features"] => features::check(&root()),
        ["wasm"] => wasm::check(&root()),
        ["release", "--dry-run"] => release::dry_run(&root()),
        ["conformance"] => conformance::write(&root()),
        ["conformance", "--check"] => conformance::check(&root()),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(message) => {
            eprintln!("{message}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
