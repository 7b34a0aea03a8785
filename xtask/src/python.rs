//! `cargo xtask python`: builds the wheel of `bindings/python` and runs its tests, types, lints and examples.
//!
//! The wheel is built once, with the profile of the tests and in the folder that they share, so that little is compiled twice. It is
//! installed into an environment under `target/`, as a user would install it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contextree_testkit::postgres::Server;

use crate::providers::{environment, run};
use crate::test::{cargo, say};

/// Builds the wheel, installs it, and checks it.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let package = root.join("bindings/python");
    let python = install(root, "dev")?;
    let tool = |words: &[&str]| {
        let mut command = Command::new(&python);
        command.arg("-m").args(words).current_dir(&package);
        run(&mut command)
    };
    say("python: lints");
    tool(&["ruff", "check", "."])?;
    tool(&["ruff", "format", "--check", "."])?;
    say("python: types, strict");
    tool(&["mypy"])?;
    tool(&["pyright", "--pythonpath", &python.display().to_string()])?;
    // A program of a user, with the package that is installed: its annotations must be found, and be enough.
    let user = "tests/typed_user.py";
    tool(&["mypy", "--strict", "--config-file=", user])?;
    tool(&["pyright", "--pythonpath", &python.display().to_string(), user])?;
    tool(&["mypy.stubtest", "contextree._native", "--ignore-disjoint-bases"])?;
    say("python: tests, every corpus case, and the examples of the documents");
    let server = Server::obtain()?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-m", "not adapter", "-p", "no:cacheprovider"]);
    run(tests.env("CONTEXTREE_TEST_POSTGRES", server.url()).current_dir(&package))?;
    say("python: the wheel in an environment with nothing else");
    install_clean(root, &python)?;
    Ok("the Python package passed".to_owned())
}

/// Returns the interpreter of an environment with the tools of the package: maturin, pytest, type checkers.
pub(crate) fn tools(root: &Path) -> Result<PathBuf, String> {
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    environment(&root.join("target/python"), &root.join("bindings/python/tests"))
}

/// Builds the wheel with a profile and installs it. Returns the interpreter of its environment.
pub(crate) fn install(root: &Path, profile: &str) -> Result<PathBuf, String> {
    let root = &root.canonicalize().map_err(|error| error.to_string())?;
    let python = tools(root)?;
    let wheel = build(root, &python, profile)?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(&wheel);
    run(&mut install)?;
    Ok(python)
}

/// Installs the wheel as a user does, without the tools of the tests, and uses the package and the program.
fn install_clean(root: &Path, python: &Path) -> Result<(), String> {
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    let (folder, wheel) = (root.join("target/python/clean"), built(&root)?);
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let own = folder.join("bin/python");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&own).args(pip).arg(&wheel))?;
    let uses = "import contextree; contextree.open('memory:').context('x').user('Hello')";
    run(Command::new(&own).args(["-c", uses]).current_dir(&folder))?;
    run(Command::new(folder.join("bin/ctx")).arg("--version"))
}

/// Builds the wheel. Returns its path.
fn build(root: &Path, python: &Path, profile: &str) -> Result<PathBuf, String> {
    say("python: the wheel");
    let wheels = root.join("target/python/wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| error.to_string())?;
    }
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", profile, "--target-dir"]);
    build.arg(root.join("target")).arg("--out").arg(&wheels).arg("--interpreter").arg(python);
    run(build.current_dir(root.join("bindings/python")))?;
    built(root)
}

/// Returns the path of the wheel that was built.
fn built(root: &Path) -> Result<PathBuf, String> {
    let wheels = root.join("target/python/wheels");
    let entries = fs::read_dir(&wheels).map_err(|error| error.to_string())?;
    let mut found = entries.flatten().map(|entry| entry.path());
    let wheel = found.find(|path| path.extension().is_some_and(|name| name == "whl"));
    wheel.ok_or_else(|| format!("no wheel in {}", wheels.display()))
}

/// Measures the package against the library, both with the profile of a release: `bindings/python/benches/bars.py`.
pub(crate) fn bench(root: &Path) -> Result<String, String> {
    let root = &root.canonicalize().map_err(|error| error.to_string())?;
    let python = install(root, "release")?;
    let package = "contextree-python";
    let example =
        ["build", "--release", "--quiet", "--package", package, "--example", "python-baseline"];
    cargo(root, "the library's side", &example, &[])?;
    let baseline = root.join("target/release/examples/python-baseline");
    let mut measure = Command::new(&python);
    measure.arg("benches/bars.py").arg(baseline).current_dir(root.join("bindings/python"));
    run(&mut measure)?;
    Ok("every bar of the Python package is met".to_owned())
}
