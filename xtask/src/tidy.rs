//! Checks the house style, as far as a program can.

use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of lines in a file.
const LONGEST: usize = 800;

/// Checks that every source file begins with `//!`, is not too long, and has no ignored test.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut wrong = Vec::new();
    for file in &files {
        let text =
            fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(file).display();
        if !text.starts_with("//!") {
            wrong.push(format!("{name}: the first line does not say what the file is (`//!`)"));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{name}: {lines} lines; split it by stage or noun"));
        }
        // Written in two parts, so that this file does not match. Lints find unfinished code.
        if text.contains(&["#[", "ignore"].concat()) {
            wrong.push(format!("{name}: a test that does not run"));
        }
    }
    if wrong.is_empty() {
        Ok(format!("{} files are tidy", files.len()))
    } else {
        Err(wrong.join("\n"))
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
