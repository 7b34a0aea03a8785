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

/// A summary does not replace what it is about: both are sent, and no page says that one of them counts more.
// covers: LIF-021
#[test]
fn no_page_gives_a_summary_precedence_over_what_it_is_about() {
    let pages = fs::read_dir(root().join("docs")).expect("the folder can be read");
    let pages = pages.map(|entry| entry.expect("an entry").path());
    let claims = ["precedence", "supersede", "overrides", "overrule", "outrank"];
    let mut read = 0;
    for page in pages.filter(|page| page.extension().is_some_and(|it| it == "md")) {
        // The table has the text of the requirement.
        if page.ends_with("conformance.md") {
            continue;
        }
        let text = fs::read_to_string(&page).expect("it can be read").to_lowercase();
        read += 1;
        for sentence in text.split(['.', '\n']).filter(|it| it.contains("summar")) {
            let claim = claims.iter().find(|claim| sentence.contains(**claim));
            assert_eq!(claim, None, "{}: {sentence}", page.display());
        }
    }
    assert!(read > 10, "there are pages");
}

/// Every command is a process of its own: what one prints of a store and its differences, the next prints again, byte for byte.
// covers: DBG-005
#[test]
fn two_processes_print_the_same_differences_and_explanations() {
    let folder = Folder::new();
    let (text, code) = folder.run("ctx import claude.jsonl");
    assert_eq!(code, 0, "{text}");
    for command in [
        "ctx diff @c3 @c9 --json --details",
        "ctx select '@c3..@c9 .block' --json",
        "ctx explain \"^seq .block[role=user] ?? { content~'part' }\"",
        "ctx show --json",
        "ctx log --json",
        "ctx thread @c9",
    ] {
        let (once, again) = (folder.run(command), folder.run(command));
        assert!(once.0.len() > 20, "`{command}` prints {}", once.0);
        assert_eq!(once, again, "{command}");
    }
}
