//! `cargo xtask python`: builds the wheel of `bindings/python` and runs its tests, types, lints and examples.
//!
//! The wheel is built once, with the profile of the tests and in the folder that they share, so that little is compiled twice. It is
//! installed into an environment under `target/`, as a user would install it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::providers::{environment, run};
use crate::test::say;

/// Builds the wheel, installs it, and checks it.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let package = root.join("bindings/python");
    let python = install(root)?;
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
    tool(&["mypy.stubtest", "contextree._native", "--ignore-disjoint-bases"])?;
    say("python: tests, every corpus case, and the examples of the documents");
    tool(&["pytest", "-m", "not adapter", "-p", "no:cacheprovider"])?;
    Ok("the Python package passed".to_owned())
}

/// Builds the wheel and installs it. Returns the interpreter of its environment.
pub(crate) fn install(root: &Path) -> Result<PathBuf, String> {
    let root = &root.canonicalize().map_err(|error| error.to_string())?;
    let package = root.join("bindings/python");
    let work = root.join("target/python");
    let python = environment(&work, &package.join("tests"))?;
    let wheel = build(root, &python)?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(&wheel);
    run(&mut install)?;
    Ok(python)
}

/// Builds the wheel. Returns its path.
pub(crate) fn build(root: &Path, python: &Path) -> Result<PathBuf, String> {
    say("python: the wheel");
    let wheels = root.join("target/python/wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| error.to_string())?;
    }
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--target-dir"]);
    build.arg(root.join("target")).arg("--out").arg(&wheels).arg("--interpreter").arg(python);
    run(build.current_dir(root.join("bindings/python")))?;
    let entries = fs::read_dir(&wheels).map_err(|error| error.to_string())?;
    let mut found = entries.flatten().map(|entry| entry.path());
    let wheel = found.find(|path| path.extension().is_some_and(|name| name == "whl"));
    wheel.ok_or_else(|| format!("no wheel in {}", wheels.display()))
}

/// Measures the package against the library: `bindings/python/benches/bars.py`.
pub(crate) fn bench(root: &Path) -> Result<String, String> {
    let python = install(root)?;
    let package = root.join("bindings/python");
    run(Command::new(&python).arg("benches/bars.py").current_dir(package))?;
    Ok("measured".to_owned())
}
