//! `cargo xtask release --dry-run`: everything that a release does, except publishing and tagging.
//!
//! A release itself is a pushed tag: `.github/workflows/release.yml` runs this check and publishes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::msrv;
use crate::packages::{self, Package};
use crate::test::cargo;

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Checks manifests, changelog and work tree, builds every package from its archive, and lists what
/// a release would publish.
pub(crate) fn dry_run(root: &Path) -> Result<String, String> {
    let packages = packages::read(root)?;
    let order = packages::publish_order(&packages)?;
    let version = version_of(&packages)?;
    let mut problems = manifest_problems(root, &packages, version);
    problems.extend(msrv::problems(root, &packages)?);
    let is_tagged = git(root, &["tag", "--points-at", "HEAD"])?
        .lines()
        .any(|tag| tag.strip_prefix('v') == Some(version));
    let changelog = fs::read_to_string(root.join("CHANGELOG.md"))
        .map_err(|error| format!("CHANGELOG.md: {error}"))?;
    let heading = heading(&changelog, version);
    match heading {
        Heading::Version => {}
        Heading::Unreleased if !is_tagged => {}
        Heading::Unreleased | Heading::Missing => {
            problems.push(format!("CHANGELOG.md: no entries under `## {version}`"));
        }
    }
    let changed = git(root, &["status", "--porcelain"])?;
    if !changed.is_empty() {
        problems.push(format!("uncommitted changes:\n{}", changed.trim_end()));
    }
    if !problems.is_empty() {
        return Err(format!("not ready for a release:\n- {}", problems.join("\n- ")));
    }
    let mut arguments = vec!["package"];
    for package in &order {
        arguments.extend(["--package", &package.name]);
    }
    cargo(root, "packages, each built from its archive", &arguments, &[])?;
    Ok(plan(&order, version, heading))
}

/// The newest section of the changelog that can be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heading {
    /// The section of this version.
    Version,
    /// Only *Unreleased*; it gets the name of the version before the tag.
    Unreleased,
    /// Neither, or without entries.
    Missing,
}

fn heading(changelog: &str, version: &str) -> Heading {
    let has_entries = |title: &str| {
        let is_title = |line: &&str| {
            let words = line.strip_prefix("## ");
            words.and_then(|words| words.split_whitespace().next()) == Some(title)
        };
        let mut lines = changelog.lines().skip_while(|line| !is_title(line)).skip(1);
        lines
            .by_ref()
            .take_while(|line| !line.starts_with("## "))
            .any(|line| line.starts_with("- "))
    };
    if has_entries(version) {
        Heading::Version
    } else if has_entries("Unreleased") {
        Heading::Unreleased
    } else {
        Heading::Missing
    }
}

/// Returns the one version of all packages.
fn version_of(packages: &[Package]) -> Result<&str, String> {
    let first = packages.first().ok_or("the workspace has no packages")?;
    match packages.iter().find(|package| package.version != first.version) {
        None => Ok(&first.version),
        Some(other) => Err(format!(
            "versions differ: {} {}, {} {}",
            first.name, first.version, other.name, other.version
        )),
    }
}

/// Checks the manifests and licence files of published packages.
pub(crate) fn check_manifests(root: &Path) -> Result<(), String> {
    let packages = packages::read(root)?;
    packages::publish_order(&packages)?;
    match manifest_problems(root, &packages, version_of(&packages)?).as_slice() {
        [] => Ok(()),
        problems => Err(problems.join("\n")),
    }
}

fn manifest_problems(root: &Path, packages: &[Package], version: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages.iter().filter(|package| package.is_public) {
        let name = &package.name;
        if !package.missing.is_empty() {
            problems.push(format!("{name}: no {} in Cargo.toml", package.missing.join(", ")));
        }
        for licence in LICENCES {
            // A link that was checked out as a file has the path as its text.
            let text = |folder: &Path| fs::read(folder.join(licence)).ok();
            let (own, ours) = (text(&package.folder), text(root));
            if own.is_none() || own != ours {
                problems.push(format!("{name}: {licence} is not the licence of the project"));
            }
        }
        for needed in &package.dependencies {
            let is_public =
                packages.iter().any(|other| other.is_public && other.name == needed.name);
            let problem = match (is_public, needed.is_dev) {
                (false, false) => "is not published",
                // Cargo drops a development dependency without a version when it packages.
                (false, true) if needed.requirement != "*" => "is not published; drop its version",
                (true, false) if needed.requirement != format!("^{version}") => {
                    "has another version in Cargo.toml"
                }
                _ => continue,
            };
            problems.push(format!("{name}: the dependency {} {problem}", needed.name));
        }
    }
    problems
}

fn plan(order: &[&Package], version: &str, heading: Heading) -> String {
    let mut lines = vec!["a release would".to_owned()];
    if heading == Heading::Unreleased {
        lines.push(format!(
            "- first need `## Unreleased` in CHANGELOG.md renamed to `## {version}`"
        ));
    }
    lines.push("- publish, in this order:".to_owned());
    lines.extend(order.iter().map(|package| format!("    {} {version}", package.name)));
    lines.push(format!("- tag v{version}"));
    lines.join("\n")
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Heading, heading};

    #[test]
    fn a_changelog_is_ready_if_the_version_has_entries() {
        let check = |text: &str, expected| assert_eq!(heading(text, "0.2.0"), expected, "{text}");
        check("## 0.2.0 (2027-01-01)\n\n### New\n\n- x\n\n## 0.1.0\n", Heading::Version);
        check("## Unreleased\n\n- x\n\n## 0.1.0\n\n- y\n", Heading::Unreleased);
        check("## Unreleased\n\n## 0.1.0\n\n- y\n", Heading::Missing);
        check("## 0.2.0\n\n## 0.1.0\n\n- y\n", Heading::Missing);
        check("", Heading::Missing);
    }
}
