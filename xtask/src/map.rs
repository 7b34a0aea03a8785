//! The map of the crates: which layer each is in, and which layers it may import.
//!
//! Read from the manifests, so that an import in the wrong direction fails before it is compiled anywhere.

use std::fs;
use std::path::Path;

/// A layer: its crates, and the layers whose crates they may import besides those of their own.
struct Layer {
    name: &'static str,
    crates: &'static [&'static str],
    imports: &'static [&'static str],
}

/// The layers from the bottom up. Dev-dependencies are free: tests may look at everything.
const LAYERS: [Layer; 6] = [
    Layer {
        name: "core",
        crates: &["json", "tree", "canon", "selector", "query", "engine"],
        imports: &[],
    },
    Layer {
        name: "edge",
        crates: &["provider", "import", "tokens", "budget", "cache", "store", "store-postgres"],
        imports: &["core"],
    },
    Layer { name: "library", crates: &["contextree"], imports: &["core", "edge"] },
    // `json` as well: the feature with the conversions of wire forms belongs to it.
    Layer { name: "app", crates: &["app"], imports: &["library"] },
    Layer {
        name: "doors",
        crates: &["cli", "server", "mcp", "record", "python"],
        imports: &["library", "app"],
    },
    Layer {
        name: "development",
        crates: &["conformance", "testkit", "testkit-vfs", "trials", "bench", "xtask"],
        imports: &["core", "edge", "library", "app", "doors"],
    },
];

/// Imports that cross the layers, each with its reason.
const EXCEPTIONS: [(&str, &str); 5] = [
    // Turns on the conversions of wire forms; the crate itself is the one that `contextree` re-exports.
    ("app", "json"),
    ("server", "json"),
    ("mcp", "json"),
    ("python", "json"),
    // The corpus inside the program: `ctx conformance`.
    ("cli", "conformance"),
];

/// What core crates may use from outside the workspace: data structures and algorithms, nothing that reads or writes the world.
const PURE: [&str; 10] = [
    "itoa",
    "memchr",
    "zmij",
    "serde",
    "serde_json",
    "crc32fast",
    "sha2",
    "similar",
    "thiserror",
    "tracing",
];

/// Checks that every crate has its place, and that all imports point downwards.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut names = Vec::new();
    let mut wrong = Vec::new();
    for folder in ["crates", "bindings"] {
        let folder = root.join(folder);
        let entries = fs::read_dir(&folder);
        let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let file = entry.path().join("Cargo.toml");
            let Ok(name) = entry.file_name().into_string() else { continue };
            if file.exists() {
                names.push((name, file));
            }
        }
    }
    names.sort();
    for (name, file) in &names {
        let manifest = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        wrong.extend(problems(name, &manifest));
    }
    match wrong.is_empty() {
        true => Ok(format!("the imports of {} crates point downwards", names.len())),
        false => Err(wrong.join("\n")),
    }
}

/// Returns what is wrong with the dependencies of a crate.
fn problems(name: &str, manifest: &str) -> Vec<String> {
    let Some(layer) = LAYERS.iter().find(|layer| layer.crates.contains(&name)) else {
        return vec![format!("`{name}` has no layer; add it to the map in xtask/src/map.rs")];
    };
    let mut wrong = Vec::new();
    for dependency in dependencies(manifest) {
        let own = match dependency.as_str() {
            "contextree" => "contextree",
            other => match other.strip_prefix("contextree-") {
                Some(own) => own,
                None if layer.name == "core" && !PURE.contains(&other) => {
                    wrong.push(format!("`{name}` is a core crate and may not use `{other}`"));
                    continue;
                }
                None => continue,
            },
        };
        let may = layer.crates.contains(&own)
            || LAYERS
                .iter()
                .any(|below| layer.imports.contains(&below.name) && below.crates.contains(&own))
            || EXCEPTIONS.contains(&(name, own));
        if !may {
            let layer = layer.name;
            wrong.push(format!("`{name}` ({layer}) may not import `{own}`"));
        }
    }
    wrong
}

/// Returns the names in `[dependencies]` and `[target.….dependencies]`. Manifests here name one dependency per line or table.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_list = false;
    for line in manifest.lines() {
        let line = line.trim();
        if let Some(title) = line.strip_prefix('[') {
            let title = title.trim_end_matches(']');
            is_list = title == "dependencies"
                || (title.starts_with("target.") && title.ends_with(".dependencies"));
            found.extend(title.strip_prefix("dependencies.").map(str::to_owned));
            continue;
        }
        let is_name = line.starts_with(|first: char| first.is_ascii_alphabetic());
        if is_list && is_name && line.contains('=') {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, dependencies: &[&str]) -> Vec<String> {
        let lines: Vec<String> =
            dependencies.iter().map(|name| format!("{name}.workspace = true")).collect();
        let text =
            format!("[dependencies]\n{}\n[dev-dependencies]\nclap = \"4\"\n", lines.join("\n"));
        problems(name, &text)
    }

    #[test]
    fn all_imports_of_the_workspace_point_downwards() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(check(&root).err(), None);
    }

    #[test]
    fn imports_in_the_wrong_direction_are_found() {
        assert!(manifest("engine", &["contextree-tree", "sha2"]).is_empty());
        assert_eq!(manifest("engine", &["contextree-store"]).len(), 1, "core may not import edge");
        assert_eq!(manifest("tree", &["rusqlite"]).len(), 1, "core has no IO");
        assert_eq!(manifest("app", &["contextree-cli"]).len(), 1);
        assert_eq!(manifest("cli", &["contextree-store", "contextree-json"]).len(), 2);
        assert!(
            manifest("cli", &["contextree", "contextree-app", "contextree-conformance"]).is_empty()
        );
        assert_eq!(manifest("unknown", &[]).len(), 1, "every crate has a layer");
    }
}
