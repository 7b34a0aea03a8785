//! The packages of the workspace, as `cargo metadata` describes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use contextree_json::Value;

/// A package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) rust_version: Option<String>,
    /// False for `publish = false`.
    pub(crate) is_public: bool,
    /// The folder of the manifest.
    pub(crate) folder: PathBuf,
    /// Features except `default`, sorted.
    pub(crate) features: Vec<String>,
    /// Dependencies on packages of the workspace.
    pub(crate) dependencies: Vec<Dependency>,
    /// Required fields of a published manifest that are missing or empty.
    pub(crate) missing: Vec<&'static str>,
}

/// A dependency of one package of the workspace on another.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) is_dev: bool,
    /// The required version: `^0.1.0`, or `*` without one.
    pub(crate) requirement: String,
}

impl Dependency {
    /// Returns whether the published manifest has the dependency.
    fn is_published(&self) -> bool {
        !self.is_dev || self.requirement != "*"
    }
}

/// Fields that crates.io and docs.rs show.
const FIELDS: [&str; 8] = [
    "description",
    "documentation",
    "repository",
    "homepage",
    "readme",
    "license",
    "keywords",
    "categories",
];

/// Returns all packages of the workspace, sorted by name.
pub(crate) fn read(root: &Path) -> Result<Vec<Package>, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata = contextree_json::parse(&output.stdout)
        .map_err(|error| format!("cannot read the output of cargo metadata: {error}"))?;
    let mut packages: Vec<Package> = array(&metadata, "packages").iter().map(package).collect();
    packages.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(packages)
}

/// Returns the packages to publish, each after the ones it depends on.
///
/// A development dependency counts only if it has a version: cargo drops the others from a published manifest.
pub(crate) fn publish_order(packages: &[Package]) -> Result<Vec<&Package>, String> {
    let mut waiting: Vec<&Package> = packages.iter().filter(|package| package.is_public).collect();
    let mut order: Vec<&Package> = Vec::new();
    while !waiting.is_empty() {
        let is_ready = |package: &Package| {
            let mut needed = package.dependencies.iter().filter(|needed| needed.is_published());
            needed.all(|needed| !waiting.iter().any(|other| other.name == needed.name))
        };
        let (ready, rest): (Vec<&Package>, Vec<&Package>) =
            waiting.iter().copied().partition(|package| is_ready(package));
        if ready.is_empty() {
            return Err("the packages depend on each other in a circle".to_owned());
        }
        order.extend(ready);
        waiting = rest;
    }
    Ok(order)
}

fn package(value: &Value) -> Package {
    let manifest = PathBuf::from(text(value, "manifest_path"));
    let features = value.get("features").and_then(Value::as_object);
    let mut features: Vec<String> = features
        .into_iter()
        .flat_map(|features| features.keys().map(str::to_owned))
        .filter(|name| name != "default")
        .collect();
    features.sort();
    let dependencies = array(value, "dependencies")
        .iter()
        .filter(|dependency| dependency.get("path").is_some_and(|path| !path.is_null()))
        .map(|dependency| Dependency {
            name: text(dependency, "name"),
            is_dev: text(dependency, "kind") == "dev",
            requirement: text(dependency, "req"),
        })
        .collect();
    let mut missing: Vec<&str> = FIELDS.into_iter().filter(|name| is_empty(value, name)).collect();
    let all_features = ["metadata", "docs", "rs", "all-features"]
        .into_iter()
        .try_fold(value, |value, key| value.get(key))
        .and_then(Value::as_bool);
    if all_features != Some(true) {
        missing.push("package.metadata.docs.rs");
    }
    Package {
        name: text(value, "name"),
        version: text(value, "version"),
        rust_version: value.get("rust_version").and_then(Value::as_str).map(str::to_owned),
        // `publish = false` is an empty list of registries; without the field it is null.
        is_public: value.get("publish").is_none_or(Value::is_null),
        folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
        features,
        dependencies,
        missing,
    }
}

fn is_empty(value: &Value, name: &str) -> bool {
    match value.get(name) {
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    }
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Dependency, Package, publish_order};

    fn package(name: &str, needs: &[(&str, bool)]) -> Package {
        let dependencies = needs.iter().map(|(name, is_dev)| Dependency {
            name: (*name).to_owned(),
            is_dev: *is_dev,
            requirement: if *is_dev { "*" } else { "^0.1.0" }.to_owned(),
        });
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            rust_version: None,
            is_public: name != "private",
            folder: name.into(),
            features: Vec::new(),
            dependencies: dependencies.collect(),
            missing: Vec::new(),
        }
    }

    #[test]
    fn packages_are_published_after_what_they_depend_on() {
        let packages = [
            package("a", &[("b", false), ("c", false)]),
            package("b", &[("c", false)]),
            package("c", &[("a", true)]),
            package("private", &[("a", false)]),
        ];
        let order = publish_order(&packages).unwrap();
        let names: Vec<&str> = order.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a"]);
    }

    #[test]
    fn a_circle_of_dependencies_is_an_error() {
        let packages = [package("a", &[("b", false)]), package("b", &[("a", false)])];
        assert!(publish_order(&packages).is_err());
        let mut packages = [package("a", &[("b", false)]), package("b", &[("a", true)])];
        assert!(publish_order(&packages).is_ok(), "without a version it is dropped");
        packages[1].dependencies[0].requirement = "^0.1.0".to_owned();
        assert!(publish_order(&packages).is_err(), "with a version it stays in the manifest");
    }
}
