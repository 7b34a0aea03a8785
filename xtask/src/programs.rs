//! Programs, examples and tests of the workspace, all from one build.
//!
//! A package that is built alone gets other features of its dependencies than the workspace as a whole, so cargo would compile
//! most of it again. Chores therefore use what `cargo test --workspace` has built already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use contextree_json::{Value, parse};

use crate::test::say;

/// What cargo built: executables by package folder, kind (`bin`, `example`, `test`) and name.
type Built = BTreeMap<(String, String, String), PathBuf>;

/// Returns the path of a program of the workspace, such as `ctx`, in the profile of the tests.
pub(crate) fn binary(root: &Path, name: &str) -> Result<PathBuf, String> {
    find(root, |(_, kind, found)| kind == "bin" && found == name, name)
}

/// Returns the path of an example of the workspace, such as `tour`, in the profile of the tests.
pub(crate) fn example(root: &Path, name: &str) -> Result<PathBuf, String> {
    find(root, |(_, kind, found)| kind == "example" && found == name, name)
}

/// Runs tests of `tests/it` in `crates/PACKAGE`, all or those with `filter` in their names, so that they write the files that they
/// would compare otherwise.
pub(crate) fn update(root: &Path, package: &str, filter: Option<&str>) -> Result<(), String> {
    let is_it = |(folder, kind, found): &(String, String, String)| {
        folder == package && kind == "test" && found == "it"
    };
    let tests = find(root, is_it, package)?;
    let status = Command::new(tests)
        .args(filter)
        .arg("--quiet")
        .env("CONTEXTREE_UPDATE", "1")
        .current_dir(root.join("crates").join(package))
        .status()
        .map_err(|error| format!("{package}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the tests of {package} failed")) }
}

fn find(
    root: &Path,
    is_wanted: impl Fn(&(String, String, String)) -> bool,
    name: &str,
) -> Result<PathBuf, String> {
    // Once per run of a chore.
    static BUILT: OnceLock<Result<Built, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| build(root)).as_ref().map_err(Clone::clone)?;
    let found = built.iter().find(|(key, _)| is_wanted(key)).map(|(_, path)| path.clone());
    found.ok_or_else(|| format!("cargo did not build `{name}`"))
}

/// Builds everything, tests included: their dependencies are part of what decides about features.
fn build(root: &Path) -> Result<Built, String> {
    say("programs and tests, debug build: cargo build --workspace --all-targets");
    let output = Command::new("cargo")
        .args(["build", "--workspace", "--all-targets", "--quiet", "--message-format", "json"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err("the workspace does not build; `cargo check --workspace` says why".to_owned());
    }
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages: Result<Vec<Value>, _> = lines.map(parse).collect();
    let messages = messages.map_err(|error| format!("the output of cargo: {error}"))?;
    Ok(messages.iter().filter_map(executable).collect())
}

fn executable(message: &Value) -> Option<((String, String, String), PathBuf)> {
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let path = text(message, "executable")?;
    let manifest = PathBuf::from(text(message, "manifest_path")?);
    let folder = manifest.parent()?.file_name()?.to_string_lossy().into_owned();
    let target = message.get("target")?;
    let is_test = message.get("profile")?.get("test")?.as_bool()?;
    let kind = target.get("kind")?.as_array()?.first()?.as_str()?.to_owned();
    // The unit tests of a program have its name and kind, but are another executable.
    let kind = if is_test && kind != "test" { format!("tests of {kind}") } else { kind };
    Some(((folder, kind, text(target, "name")?), PathBuf::from(path)))
}
