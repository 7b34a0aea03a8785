//! The map of the crates: what each may import, as ARCHITECTURE.md draws it.
//!
//! Read from the manifests, so that an import in the wrong direction fails before it is compiled anywhere.

use std::fs;
use std::path::Path;

/// A crate and the crates of the workspace that it may import. Dev-dependencies are free: tests may look at everything.
///
/// From the bottom up: an import that points upwards cannot be listed, which a test checks.
const CRATES: [(&str, &[&str]); 20] = [
    // Core.
    ("json", &[]),
    ("tree", &["json"]),
    ("selector", &[]),
    ("canon", &["json", "tree"]),
    ("query", &["json", "tree", "selector", "canon"]),
    ("engine", &["json", "tree", "selector", "canon", "query"]),
    // Edge.
    ("provider", &["json", "tree", "canon"]),
    ("import", &["json", "tree", "canon", "engine", "provider"]),
    ("tokens", &["tree", "canon"]),
    ("budget", &["json", "tree", "selector", "canon", "query", "engine", "tokens"]),
    ("cache", &["json", "tree", "engine", "provider", "tokens"]),
    ("store", &["json", "tree", "selector", "canon", "query", "engine"]),
    // Rows only: neither trees nor records.
    ("store-postgres", &["store"]),
    // The library, and the layer that all doors share. An import of `json` besides turns on the conversions of wire forms.
    ("contextree", EVERYTHING_BELOW),
    ("app", &["contextree", "json"]),
    // Doors.
    ("mcp", &["contextree", "app", "json"]),
    ("server", &["contextree", "app", "json", "mcp"]),
    ("record", &["contextree", "app", "server"]),
    // The corpus is inside the program: `ctx conformance`.
    ("cli", &["contextree", "app", "server", "mcp", "record", "conformance"]),
    ("python", &["contextree", "app", "cli", "json"]),
];

/// What the façade re-exports.
const EVERYTHING_BELOW: &[&str] = &[
    "json",
    "tree",
    "selector",
    "canon",
    "query",
    "engine",
    "provider",
    "import",
    "tokens",
    "budget",
    "cache",
    "store",
    "store-postgres",
];

/// Crates that do no IO.
const CORE: [&str; 6] = ["json", "tree", "selector", "canon", "query", "engine"];

/// Crates for development: they may import everything.
const DEVELOPMENT: [&str; 6] =
    ["conformance", "testkit", "testkit-vfs", "trials", "bench", "xtask"];

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
    if DEVELOPMENT.contains(&name) {
        return Vec::new();
    }
    let Some((_, imports)) = CRATES.iter().find(|(own, _)| *own == name) else {
        return vec![format!("`{name}` is not on the map; add it in xtask/src/map.rs")];
    };
    let mut wrong = Vec::new();
    for dependency in dependencies(manifest) {
        let own = match dependency.as_str() {
            "contextree" => "contextree",
            other => match other.strip_prefix("contextree-") {
                Some(own) => own,
                None if CORE.contains(&name) && !PURE.contains(&other) => {
                    wrong.push(format!("`{name}` is a core crate and may not use `{other}`"));
                    continue;
                }
                None => continue,
            },
        };
        if !imports.contains(&own) {
            wrong.push(format!("`{name}` may not import `{own}`"));
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
        assert_eq!(manifest("selector", &["contextree-tree"]).len(), 1, "text knows no trees");
        assert_eq!(manifest("provider", &["contextree-engine"]).len(), 1);
        assert_eq!(manifest("store-postgres", &["contextree-tree"]).len(), 1, "rows are opaque");
        assert_eq!(manifest("server", &["contextree-cli"]).len(), 1, "doors do not open doors");
        assert!(
            manifest("cli", &["contextree", "contextree-app", "contextree-conformance"]).is_empty()
        );
        assert_eq!(manifest("unknown", &[]).len(), 1, "every crate is on the map");
    }

    #[test]
    fn the_map_has_no_cycle() {
        for (place, (name, imports)) in CRATES.iter().enumerate() {
            let below: Vec<&str> = CRATES[..place].iter().map(|(name, _)| *name).collect();
            for import in *imports {
                let is_below = below.contains(import) || *import == "conformance";
                assert!(is_below, "`{import}` is not below `{name}`");
            }
        }
    }
}
