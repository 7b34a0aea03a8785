//! `cargo xtask bench`: all bars, and the pages and pictures that show them.

use std::path::Path;

use crate::test::cargo;

/// Measures everything. With `quick`, a tenth of it, and no document is written.
pub(crate) fn run(root: &Path, quick: bool) -> Result<String, String> {
    let program = ["run", "--release", "--quiet", "--package", "contextree-bench", "--bin"];
    let size: &[&str] = if quick { &["--quick"] } else { &[] };
    let heap = [&program[..], &["contextree-heap", "--"], size].concat();
    cargo(root, "memory", &heap, &[])?;
    let pictures: &[&str] =
        if quick { &[] } else { &["--svg", "docs/growth.svg", "--page", "docs/performance.md"] };
    let rows = [&program[..], &["contextree-bench", "--"], size, pictures].concat();
    cargo(root, "time", &rows, &[])?;
    Ok("all bars hold".to_owned())
}
