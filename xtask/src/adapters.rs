//! `cargo xtask adapters`: every adapter of the Python package under the suite of its framework.
//!
//! Each directory of `bindings/python/adapters` that has a `requirements.txt` has an environment of its own with pinned versions, in
//! `target/adapters`. The package is the sources of the tree with the native module of the debug build, so nothing is installed twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contextree_testkit::postgres::Server;

use crate::test::{cargo, say};

/// Suites that `cargo xtask test` leaves out: the wheel of the Claude Agent SDK has 349 MB.
const BY_HAND: [&str; 1] = ["claude_agent"];

/// Which suites to run.
#[derive(Clone, Copy)]
pub(crate) enum Which<'n> {
    /// All of them.
    All,
    /// Those whose environments are small.
    Small,
    /// The one with this name.
    One(&'n str),
}

impl Which<'_> {
    fn includes(self, name: &str) -> bool {
        match self {
            Which::All => true,
            Which::Small => !BY_HAND.contains(&name),
            Which::One(only) => only == name,
        }
    }
}

/// Which versions of the frameworks are tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    /// Those in `requirements.txt`.
    Pinned,
    /// The newest ones.
    Latest,
}

/// Runs the tests of adapters. Stores on a PostgreSQL server are tested, too.
pub(crate) fn run(root: &Path, versions: Versions, which: Which<'_>) -> Result<String, String> {
    cargo(root, "the native module", &["build", "--quiet", "--package", "contextree-python"], &[])?;
    let target = target(root);
    let package = assemble(root, &target, "debug")?;
    let names = names(root, which)?;
    if names.is_empty() {
        return Err("there is no such adapter; see bindings/python/adapters".to_owned());
    }
    let server = Server::obtain()?;
    let mut failed = Vec::new();
    for name in &names {
        let tests = root.join("bindings/python/adapters").join(name);
        let python = environment(&target.join("adapters"), &tests, name, versions)?;
        if !types_hold(root, &target, &python, name) {
            failed.push(name.as_str());
        }
        say(&format!("adapter {name}: tests"));
        let mut pytest = Command::new(&python);
        pytest.args(["-m", "pytest", "--no-header", "-rPs", "--show-capture=stdout"]).arg(&tests);
        pytest.env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1");
        pytest.env("CONTEXTREE_TEST_POSTGRES", server.url());
        let status = pytest.status().map_err(|error| format!("pytest cannot be run: {error}"))?;
        if !status.success() {
            failed.push(name.as_str());
        }
    }
    failed.dedup();
    match failed.as_slice() {
        [] => Ok(format!("{} adapters pass: {}", names.len(), names.join(", "))),
        failed => Err(format!("failed: {}", failed.join(", "))),
    }
}

/// Installs the packages of the small environments, so that their suites can begin at once.
pub(crate) fn install(root: &Path) -> Result<(), String> {
    for name in names(root, Which::Small)? {
        let tests = root.join("bindings/python/adapters").join(&name);
        environment(&target(root).join("adapters"), &tests, &name, Versions::Pinned)?;
    }
    Ok(())
}

/// Returns the names of adapters that have a suite, sorted.
fn names(root: &Path, which: Which<'_>) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = entries(&root.join("bindings/python/adapters"))?
        .into_iter()
        .filter(|path| path.join("requirements.txt").is_file())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .filter(|name| which.includes(name))
        .collect();
    names.sort();
    Ok(names)
}

/// Checks the types of an adapter with those of its framework. The suite of the providers' SDKs has no module of its own.
fn types_hold(root: &Path, target: &Path, python: &Path, name: &str) -> bool {
    let sources = root.join("bindings/python/python");
    let module = format!("contextree/{name}.py");
    if !sources.join(&module).is_file() {
        return true;
    }
    say(&format!("adapter {name}: types, strict"));
    let mut mypy = Command::new(python);
    mypy.args(["-m", "mypy", "--strict", "--no-error-summary", "--config-file=", "--cache-dir"]);
    mypy.arg(target.join("adapters/types").join(name)).arg(module).current_dir(sources);
    call(&mut mypy).is_ok()
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Puts the sources and the native module of a profile into one directory.
fn assemble(root: &Path, target: &Path, profile: &str) -> Result<PathBuf, String> {
    let package = target.join("adapters").join(format!("package-{profile}"));
    let modules = package.join("contextree");
    let _ = fs::remove_dir_all(&modules);
    fs::create_dir_all(&modules).map_err(|error| at(&modules, &error))?;
    for source in entries(&root.join("bindings/python/python/contextree"))? {
        let copy = modules.join(source.file_name().unwrap_or_default());
        if source.is_file() {
            fs::copy(&source, &copy).map_err(|error| at(&source, &error))?;
        }
    }
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let native = target.join(format!("{profile}/{prefix}_native{suffix}"));
    fs::copy(&native, modules.join("_native.abi3.so")).map_err(|error| at(&native, &error))?;
    Ok(package)
}

/// Returns the interpreter of an environment with the packages of an adapter; creates it if they changed.
fn environment(
    place: &Path,
    tests: &Path,
    name: &str,
    versions: Versions,
) -> Result<PathBuf, String> {
    let file = tests.join("requirements.txt");
    let mut wanted = fs::read_to_string(&file).map_err(|error| at(&file, &error))?;
    let mut folder = place.join(name);
    if versions == Versions::Latest {
        folder = place.join(format!("{name}-latest"));
        let names = wanted.lines().map(|line| line.split("==").next().unwrap_or_default());
        wanted = names.collect::<Vec<_>>().join("\n");
    }
    let (python, stamp) = (folder.join("bin/python"), folder.join("requirements.txt"));
    if versions == Versions::Pinned && fs::read_to_string(&stamp).is_ok_and(|known| known == wanted)
    {
        return Ok(python);
    }
    say(&format!("environment for {name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(place).map_err(|error| at(place, &error))?;
    call(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let list = folder.join("wanted.txt");
    fs::write(&list, &wanted).map_err(|error| at(&list, &error))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    call(Command::new(&python).args(install).arg(&list))?;
    fs::write(&stamp, &wanted).map_err(|error| at(&stamp, &error))?;
    Ok(python)
}

fn call(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("failed: {command:?}")) }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let found = fs::read_dir(folder).map_err(|error| at(folder, &error))?;
    found.map(|entry| entry.map(|entry| entry.path()).map_err(|error| at(folder, &error))).collect()
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Measures the adapters that have bars, `bench.py` in their directories, with a module of a release build.
pub(crate) fn bench(root: &Path) -> Result<String, String> {
    let build = ["build", "--release", "--quiet", "--package", "contextree-python"];
    cargo(root, "the native module, release build", &build, &[])?;
    let target = target(root);
    let package = assemble(root, &target, "release")?;
    let mut missed = Vec::new();
    for tests in entries(&root.join("bindings/python/adapters"))? {
        let (bench, name) = (tests.join("bench.py"), tests.file_name().unwrap_or_default());
        if !bench.is_file() {
            continue;
        }
        let name = name.to_string_lossy().into_owned();
        let python = environment(&target.join("adapters"), &tests, &name, Versions::Pinned)?;
        say(&format!("bars of the adapter {name}"));
        let mut measure = Command::new(&python);
        measure.arg(&bench).env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1");
        if call(&mut measure).is_err() {
            missed.push(name);
        }
    }
    match missed.as_slice() {
        [] => Ok("every bar of the adapters is met".to_owned()),
        missed => Err(format!("bars were missed: {}", missed.join(", "))),
    }
}
