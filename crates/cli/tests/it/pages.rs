//! `docs/cli.md` is what the program says of itself; the corpus and the manual in the program are those of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::transcript::{Folder, compare, updates};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The package has a copy of the page, because a published crate cannot include files outside of its own folder.
#[test]
fn help_reference_equals_the_page_on_selectors() {
    let page = fs::read_to_string(root().join("docs/selectors.md")).expect("the page exists");
    let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/topics/reference.md");
    if updates() {
        fs::write(copy, page).expect("the copy can be written");
    } else {
        compare("topics/reference.md", &fs::read_to_string(copy).unwrap_or_default(), &page);
    }
}

#[test]
fn the_reference_of_the_commands_is_up_to_date() {
    let file = root().join("docs/cli.md");
    let now = contextree_cli::reference();
    if updates() {
        fs::write(file, now).expect("the document can be written");
    } else {
        compare("docs/cli.md", &fs::read_to_string(file).unwrap_or_default(), &now);
    }
}

#[test]
fn the_program_has_every_case_of_the_corpus() {
    let corpus = root().join("crates/conformance/corpus");
    let folder = Folder::new();
    let ids = |command: &str| -> BTreeSet<String> {
        let (text, code) = folder.run(command);
        assert_eq!(code, 0, "{text}");
        text.lines().map(str::to_owned).collect()
    };
    let inside = ids("ctx conformance --jsonl");
    let outside = ids(&format!("ctx conformance --jsonl --vectors {}", corpus.display()));
    assert_eq!(inside, outside);
    assert!(inside.len() > 900, "the corpus is not empty");
}
