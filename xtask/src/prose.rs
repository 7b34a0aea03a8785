//! `cargo xtask prose`: phrases that read like a translation, in documents, comments, help texts
//! and messages.
//!
//! ```text
//! file ─words→ words with their lines ─phrases→ hits ─→ a line each, and a count per crate
//! ```
//!
//! Any hit fails, except below the paths in [`EXEMPT`].

mod phrases;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use phrases::PHRASES;

/// Files and folders whose words are not ours: names of measurements in stored results, the
/// sentences of the specification, test data, and the phrases themselves.
const EXEMPT: [&str; 4] =
    ["docs/performance.md", "docs/conformance.md", "crates/testkit", "xtask/src/prose"];

/// Files that people read.
const ENDINGS: [&str; 8] = [".md", ".rs", ".txt", ".yml", ".toml", ".py", ".ts", ".tsx"];

/// Reports every hit in the repository, or below a path such as `crates/store` or `docs/cli.md`.
///
/// Fails if there is a hit outside of the exempt paths, or below the path that was asked for.
pub(crate) fn run(root: &Path, below: Option<&str>) -> Result<String, String> {
    let below_path = below.unwrap_or_default();
    let hits: Vec<Hit> =
        find(root)?.into_iter().filter(|hit| is_below(&hit.file, below_path)).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for hit in &hits {
        *counts.entry(group(&hit.file)).or_default() += 1;
        let Hit { file, line, found, instead } = hit;
        lines.push(format!("{file}:{line}: \"{found}\": {instead}"));
    }
    lines.push(String::new());
    lines.extend(counts.iter().map(|(group, count)| format!("{count:6}  {group}")));
    lines.push(format!("{:6}  in all", hits.len()));
    let report = lines.join("\n");
    let fails = |hit: &Hit| below.is_some() || !EXEMPT.iter().any(|path| is_below(&hit.file, path));
    if hits.iter().any(fails) { Err(report) } else { Ok(report) }
}

/// A phrase that was found.
struct Hit {
    /// The path from the top of the repository, with `/`.
    file: String,
    line: usize,
    found: String,
    instead: &'static str,
}

fn find(root: &Path) -> Result<Vec<Hit>, String> {
    let mut files = Vec::new();
    collect(root, root, &mut files)?;
    files.sort();
    let mut hits = Vec::new();
    for file in files {
        let text =
            fs::read_to_string(root.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        let words = match file.rsplit('.').next().unwrap_or_default() {
            "rs" | "ts" | "tsx" => words::of_rust(&text),
            "py" | "toml" => words::of_script(&text),
            _ => words::of_text(&text),
        };
        let mut at = 0;
        while at < words.len() {
            let matching = |phrase: &&phrases::Phrase| phrase.matches(&words, at);
            let Some(phrase) = PHRASES.iter().find(matching) else {
                at += 1;
                continue;
            };
            let matched = &words[at..at + phrase.len()];
            let found: Vec<&str> = matched.iter().map(|word| word.text.as_str()).collect();
            let (found, line) = (found.join(" "), words[at].line);
            hits.push(Hit { file: file.clone(), line, found, instead: phrase.instead });
            at += phrase.len();
        }
    }
    Ok(hits)
}

/// Collects the files that people read: documents, sources of crates, help texts, forge files.
fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path: PathBuf = entry.map_err(fail)?.path();
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if path.is_dir() {
            let parts: Vec<&str> = name.split('/').collect();
            let is_made =
                matches!(parts.last(), Some(&"target" | &"node_modules" | &"__pycache__"));
            let is_read = matches!(
                parts.as_slice(),
                [".github" | "docs" | "bindings" | "examples" | "xtask", ..]
                    | ["crates" | "inspector" | "fuzz" | "peers"]
                    | ["inspector", "src", ..]
                    | ["crates", _]
                    | ["crates", _, "src", ..]
            ) && !is_made;
            if is_read {
                collect(root, &path, files)?;
            }
        } else if ENDINGS.iter().any(|end| name.ends_with(end)) {
            files.push(name);
        }
    }
    Ok(())
}

fn is_below(file: &str, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let rest = file.strip_prefix(path);
    rest.is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// Returns the crate of a file, or its top folder, or the file itself.
fn group(file: &str) -> String {
    match file.split('/').collect::<Vec<&str>>().as_slice() {
        ["crates", name, ..] => format!("crates/{name}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{group, is_below};

    #[test]
    fn a_path_contains_itself_and_what_is_in_it() {
        assert!(is_below("crates/store/src/lib.rs", "crates/store"));
        assert!(is_below("crates/store/src/lib.rs", "crates/store/"));
        assert!(is_below("README.md", "README.md"));
        assert!(is_below("README.md", ""));
        assert!(!is_below("crates/store-postgres/src/lib.rs", "crates/store"));
    }

    #[test]
    fn hits_are_counted_per_crate() {
        assert_eq!(group("crates/store/src/lib.rs"), "crates/store");
        assert_eq!(group("docs/cli.md"), "docs");
        assert_eq!(group("README.md"), "README.md");
    }
}
