//! Finds the tests that name the rows they cover.

use std::path::{Path, PathBuf};

const MARK: &str = "// covers: ";

/// A test with the rows that it names.
#[derive(Debug)]
pub(super) struct Test {
    /// `testkit/tests/it/order.rs::priority_does_not_affect_order`.
    pub(super) name: String,
    pub(super) covers: Vec<String>,
}

impl Test {
    /// Returns the test with its name relative to the folder above.
    pub(super) fn below(self, folder: &str) -> Self {
        Test { name: format!("{folder}/{}", self.name), ..self }
    }
}

/// Returns the tests of all Rust files below a directory that have a line `// covers: …` above
/// them.
pub(super) fn scan(directory: &Path) -> Result<Vec<Test>, String> {
    let mut files = Vec::new();
    collect(directory, &mut files)?;
    files.sort();
    let mut tests = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let short = file.strip_prefix(directory).unwrap_or(&file).display().to_string();
        read(&short, &text, &mut tests)?;
    }
    Ok(tests)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fail = |error: std::io::Error| format!("{}: {error}", directory.display());
    for entry in std::fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(file: &str, text: &str, tests: &mut Vec<Test>) -> Result<(), String> {
    let mut covers: Vec<String> = Vec::new();
    let mut is_test = false;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if let Some(ids) = line.strip_prefix(MARK) {
            covers.extend(ids.split(',').map(|id| id.trim().to_owned()));
        } else if line.starts_with("#[test]") {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| !covers.is_empty()) {
            let name = rest.split(['(', '<']).next().unwrap_or(rest);
            if !is_test {
                return Err(format!(
                    "{file}:{}: `{name}` covers rows but is not a test",
                    index + 1
                ));
            }
            let covers = std::mem::take(&mut covers);
            tests.push(Test { name: format!("{file}::{name}"), covers });
            is_test = false;
        } else if line.starts_with("#[") || line.starts_with("//") {
            // Attributes and comments may come between.
        } else {
            if !covers.is_empty() {
                return Err(format!("{file}:{}: `{MARK}` is not followed by a test", index + 1));
            }
            is_test = false;
        }
    }
    Ok(())
}
