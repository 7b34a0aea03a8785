//! Pages of the workspace that must say what the code says. `CONTEXTREE_UPDATE=1` writes them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use contextree::{Code, Kind};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_code_in_the_workspace_is_in_the_enum() {
    let mut files = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        collect(&folder.unwrap().path().join("src"), &mut files);
    }
    let mut unknown = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for piece in text.split("\"E_").skip(1) {
            let Some((rest, _)) = piece.split_once('"') else { continue };
            let code = format!("E_{rest}");
            let is_code = rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            if is_code && !rest.is_empty() && Code::from_text(&code).is_none() {
                unknown.insert(format!("{code} in {}", file.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "add these to crates/contextree/src/error/code.rs: {unknown:#?}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn the_page_of_errors_lists_every_code() {
    let page = root().join("docs/errors.md");
    let expected = errors_page();
    if std::env::var_os("CONTEXTREE_UPDATE").is_some() {
        fs::write(&page, &expected).unwrap();
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    assert!(
        found == expected,
        "docs/errors.md differs from the codes; CONTEXTREE_UPDATE=1 writes it"
    );
}

const KINDS: [(Kind, &str, &str, &str); 11] = [
    (Kind::Usage, "2", "400", "The request is wrong. Repeating it does not help."),
    (Kind::NotFound, "3", "404", "Something that was named does not exist."),
    (Kind::Exists, "2", "409", "Something of this name exists already."),
    (Kind::Conflict, "4", "409", "Another writer was faster. Read again and repeat."),
    (Kind::Sealed, "2", "409", "The past, or a call in flight, does not change."),
    (Kind::Denied, "2", "403", "The caller may not do this."),
    (Kind::Limit, "2", "413", "A limit of size or count would be exceeded."),
    (Kind::Corrupt, "5", "500", "Bytes are damaged, or do not have the digest they state."),
    (Kind::Io, "5", "500", "A file, a stream or a store could not be read or written."),
    (Kind::Unavailable, "5", "503", "A store is busy or cannot be reached. Try again later."),
    (Kind::Internal, "5", "500", "A bug in Contextree. Please report it."),
];

fn errors_page() -> String {
    let mut page = String::from(
        "# Errors

Every error has a stable code, a kind and a message; where they are known, also a location (a span of a selector, a line, a path in a JSON
document, a node) and a hint. The hint of an error is more specific than the last column, which says what helps in general. The codes are the same in Rust (`contextree::Error::code`), in JSON and on the command line. New codes may be
added; existing ones keep their meaning.

This page is written from `crates/contextree/src/error/code.rs`: `CONTEXTREE_UPDATE=1 cargo test -p contextree --test it`.

## Kinds

The kind says what a program can do about an error. It decides the exit code of `ctx` and the HTTP status.

| kind | exit code | HTTP status | meaning |
|---|---|---|---|
",
    );
    for (kind, exit, status, meaning) in KINDS {
        writeln!(page, "| `{kind}` | {exit} | {status} | {meaning} |").unwrap();
    }
    page.push_str("\n## Codes\n\n| code | kind | cause | what to do |\n|---|---|---|---|\n");
    for code in Code::ALL {
        assert!(KINDS.iter().any(|(kind, ..)| *kind == code.kind()), "{code}");
        let (kind, cause, remedy) = (code.kind(), code.meaning(), code.remedy());
        assert!(remedy.ends_with('.') && !remedy.is_empty(), "{code} says what to do");
        writeln!(page, "| `{code}` | `{kind}` | {cause} | {remedy} |").unwrap();
    }
    page
}

#[test]
fn the_readmes_show_the_example_program() {
    let program = fs::read_to_string(root().join("examples/agent/src/main.rs")).unwrap();
    let (_, body) = program.split_once("\n\n").unwrap();
    let lines = body.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 25, "the agent loop has {lines} lines");
    for page in ["README.md", "crates/contextree/README.md"] {
        let readme = fs::read_to_string(root().join(page)).unwrap();
        assert!(
            readme.contains(&format!("```rs\n{body}```\n")),
            "{page} does not show examples/agent/src/main.rs as it is"
        );
    }
}
