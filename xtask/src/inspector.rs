//! `cargo xtask inspector`: builds the page and uses it in a real browser.
//!
//! The bundle is committed, so that building the program needs no Node. This chore builds it again from `inspector/`, compares it byte
//! for byte, and then drives the page of a real `ctx serve` in Chromium.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::programs;
use crate::test::{cargo, say};

/// Files that the build makes. Others in the folder are written by hand.
const BUNDLE: [&str; 5] =
    ["index.html", "inspector.js", "inspector.css", "inter.woff2", "jetbrains-mono.woff2"];

/// The most bytes of the bundle after compression.
const LARGEST: usize = 150_000;

const STALE: &str = "build it with `cargo xtask inspector --write` and commit it";

/// Checks the types, compares the bundle, and drives the page.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let folder = root.join("inspector");
    let built = root.join("target/inspector");
    install(root)?;
    say("inspector: types");
    tool(&folder, "typescript/bin/tsc", &["--noEmit"], &[])?;
    say("inspector: the committed bundle");
    build(&folder, &built)?;
    let committed = root.join("crates/server/page");
    for name in BUNDLE {
        let read = |folder: &Path| fs::read(folder.join(name)).map_err(|error| error.to_string());
        if read(&built)? != read(&committed)? {
            return Err(format!(
                "crates/server/page/{name} is not what inspector/ builds; {STALE}"
            ));
        }
    }
    let size = compressed(&built)?;
    if size > LARGEST {
        return Err(format!("the bundle has {size} bytes compressed, more than {LARGEST}"));
    }
    let program = programs::binary(root, "ctx")?;
    say("inspector: every view in Chromium");
    run(Command::new("node")
        .args(["--test", "test/views.test.mjs", "test/export.test.mjs", "test/large.test.mjs"])
        .env("CTX", program)
        .current_dir(&folder))?;
    Ok(format!("every view works; the bundle has {size} bytes compressed"))
}

/// Builds the bundle into the server's crate.
pub(crate) fn write(root: &Path) -> Result<String, String> {
    let folder = root.join("inspector");
    install(root)?;
    build(&folder, &root.join("crates/server/page"))?;
    Ok("crates/server/page is up to date; look at the changes".to_owned())
}

/// Makes the pictures of the documents.
pub(crate) fn pictures(root: &Path) -> Result<String, String> {
    let folder = root.join("inspector");
    install(root)?;
    let program = programs::binary(root, "ctx")?;
    let pictures = root.join("docs/pictures");
    let mut draw = Command::new("node");
    draw.arg("test/pictures.mjs").arg(&pictures).env("CTX", program);
    run(draw.current_dir(&folder))?;
    Ok("docs/pictures/inspector-*.png are new; look at them".to_owned())
}

/// Measures the page with a release build, and prints each bar with its number; fails if one is missed.
pub(crate) fn bench(root: &Path) -> Result<String, String> {
    let folder = root.join("inspector");
    install(root)?;
    let build = ["build", "--release", "--quiet", "--package", "contextree-cli"];
    cargo(root, "inspector: the server, release build", &build, &[])?;
    let program = std::path::absolute(root.join("target/release/ctx"));
    let program = program.map_err(|error| error.to_string())?;
    run(Command::new("node").arg("test/measure.mjs").env("CTX", program).current_dir(&folder))?;
    Ok("all bars of the page hold".to_owned())
}

/// Installs the packages of the lock file, unless they are there.
pub(crate) fn install(root: &Path) -> Result<(), String> {
    let folder = &root.join("inspector");
    let lock = fs::read(folder.join("package-lock.json")).map_err(|error| error.to_string())?;
    let done = folder.join("node_modules/installed-lock.json");
    if fs::read(&done).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    say("inspector: npm install");
    // Not `npm ci`: it refuses a lock file without the bundler's parts for other systems, which not every registry has.
    let npm = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    run(Command::new("npm").args(npm).current_dir(folder)).map_err(|error| {
        format!("{error}; the inspector needs Node.js 20 with npm (in {})", root.display())
    })?;
    fs::write(done, lock).map_err(|error| error.to_string())
}

fn build(folder: &Path, into: &Path) -> Result<(), String> {
    let into = std::path::absolute(into).map_err(|error| error.to_string())?;
    let variable = [("INSPECTOR_OUT", into.as_path())];
    tool(folder, "vite/bin/vite.js", &["build", "--logLevel", "warn"], &variable)
}

/// Runs a program of the installed packages.
fn tool(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &Path)],
) -> Result<(), String> {
    let mut command = Command::new("node");
    command.arg(Path::new("node_modules").join(program)).args(arguments).current_dir(folder);
    run(command.envs(variables.iter().copied()))
}

/// Returns the size of the bundle as a browser loads it: texts with gzip; fonts are compressed already.
fn compressed(folder: &Path) -> Result<usize, String> {
    let mut sum = 0;
    for name in BUNDLE {
        let file = folder.join(name);
        let output = match name.ends_with(".woff2") {
            true => fs::read(&file).map_err(|error| error.to_string())?,
            false => {
                let output = Command::new("gzip").args(["-9", "-c"]).arg(&file).output();
                output.map_err(|error| format!("gzip: {error}"))?.stdout
            }
        };
        sum += output.len();
    }
    Ok(sum)
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {command:?}")) }
}
