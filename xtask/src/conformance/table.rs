//! Writes the table as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::acceptance::Ran;
use super::rows::Row;

/// A row and what shows it.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) row: Row,
    pub(super) tests: Vec<String>,
    pub(super) cases: Vec<Ran>,
}

impl Standing {
    /// Returns whether a test or a passing case shows the row.
    pub(super) fn is_shown(&self) -> bool {
        !self.tests.is_empty() || self.cases.iter().any(|case| !case.waits && !case.failed)
    }

    /// Returns whether the row is binding and nothing shows it.
    pub(super) fn is_missing(&self) -> bool {
        self.row.binds() && !self.is_shown()
    }

    fn status(&self) -> String {
        if self.cases.iter().any(|case| case.failed) {
            return "**fails**".to_owned();
        }
        match self.row.binds() {
            _ if self.is_shown() => "pass".to_owned(),
            true => "**missing**".to_owned(),
            false => "–".to_owned(),
        }
    }
}

/// Returns a summary in one line.
pub(super) fn summary(standings: &[Standing]) -> String {
    let count = |is: &dyn Fn(&&Standing) -> bool| standings.iter().filter(is).count();
    format!(
        "{} rows, {} shown, {} missing",
        standings.len(),
        count(&|standing| standing.status() == "pass"),
        count(&|standing| standing.is_missing()),
    )
}

pub(super) fn render(standings: &[Standing]) -> String {
    let mut text = String::from(HEAD);
    let mut areas: Vec<&str> = Vec::new();
    for standing in standings {
        if !areas.contains(&standing.row.area.as_str()) {
            areas.push(&standing.row.area);
        }
    }
    text.push_str("\n| area | rows | binding | pass | without a test |\n|---|--:|--:|--:|--:|\n");
    for area in &areas {
        let rows: Vec<&Standing> =
            standings.iter().filter(|standing| standing.row.area == *area).collect();
        let count = |is: fn(&Standing) -> bool| rows.iter().filter(|row| is(row)).count();
        let _ = writeln!(
            text,
            "| [{area}](#{}) | {} | {} | {} | {} |",
            area.to_lowercase(),
            rows.len(),
            count(|standing| standing.row.binds()),
            count(|standing| standing.status() == "pass"),
            count(|standing| !standing.is_shown()),
        );
    }
    text.push_str(&checklist(standings));
    for area in areas {
        let _ = write!(
            text,
            "\n## {area}\n\n| row | strength | requirement | tests and cases | status |\n|---|---|---|---|---|\n"
        );
        for standing in standings.iter().filter(|standing| standing.row.area == area) {
            let Row { id, strength, requirement, .. } = &standing.row;
            let _ = writeln!(
                text,
                "| {id} | {strength} | {} | {} | {} |",
                cell(requirement),
                evidence(standing),
                standing.status()
            );
        }
    }
    text
}

/// The parts of the specification's checklist.
pub(super) const CHECKLIST: [(char, &str); 5] = [
    ('A', "Core structure and invariants"),
    ('B', "Selectors"),
    ('C', "Snapshots and diffs"),
    ('D', "Debugging and inspection"),
    ('E', "Commit sequence"),
];

fn checklist(standings: &[Standing]) -> String {
    let mut text = String::from(
        "\n## Checklist\n\nChapter 10 of the specification is a checklist in five parts; a runtime can be built from it alone. Each of its lines is a row below.\n\n\
         | part | rows | result |\n|---|---|---|\n",
    );
    for (letter, name) in CHECKLIST {
        let rows: Vec<&Standing> = standings
            .iter()
            .filter(|each| each.row.checklist().any(|part| part == letter))
            .collect();
        let ids: Vec<&str> = rows.iter().map(|each| each.row.id.as_str()).collect();
        let passed = rows.iter().filter(|each| each.status() == "pass").count();
        let _ = writeln!(
            text,
            "| {letter}. {name} | {} | {passed} of {} pass |",
            ids.join(", "),
            rows.len()
        );
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn evidence(standing: &Standing) -> String {
    let mut parts: Vec<String> =
        standing.tests.iter().map(|name| format!("`{}`", short(name))).collect();
    let mut files: BTreeMap<&str, Vec<&Ran>> = BTreeMap::new();
    for case in &standing.cases {
        files.entry(&case.file).or_default().push(case);
    }
    for (file, cases) in files {
        let waiting = if cases.iter().all(|case| case.waits) { " (waiting)" } else { "" };
        if cases.len() > 4 {
            parts.push(format!("{} cases of {file}{waiting}", cases.len()));
        } else {
            parts.extend(cases.iter().map(|case| format!("{}{waiting}", case.id)));
        }
    }
    parts.join("<br>")
}

/// Shortens `testkit/tests/it/order.rs::name` by what is the same everywhere.
fn short(name: &str) -> String {
    name.replace("/tests/it/", "/").replace("/tests/stores/", "/stores/").replace(".rs::", "::")
}

const HEAD: &str = "\
# Conformance

Written by `cargo xtask conformance`; do not edit. `cargo xtask conformance --check` fails if this file is out of date, or if a
binding row (MUST, MUST NOT, SHALL, DEF) has neither a test nor a passing case.

Rows are those of `crates/conformance/corpus/requirements.json`. A test is named `crate/file::name` and is in that crate's `tests/it/`
(`testkit/stores/file::name`: in `tests/stores/`); a name in capitals is a case of the corpus. *pass* means that all of them pass: cases were run when this file was written, tests are run by `cargo test`.
";
