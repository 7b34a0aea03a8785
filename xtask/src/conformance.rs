//! `docs/conformance.md`: every requirement, the tests and cases that show it, and its status.
//!
//! Requirements are read from `crates/conformance/corpus/requirements.json`. A test names the
//! requirements that it shows in a line directly above it (`// covers: STR-004, STR-007`); a case
//! of the corpus covers those that it names in `covers`, and those whose acceptance test names it.
//! Cases are run when the table is made; tests are run by `cargo test`.

mod acceptance;
mod rows;
mod sources;
mod table;

use std::path::Path;

use rows::Row;
use table::Standing;

const FILE: &str = "docs/conformance.md";

/// Writes the table.
pub(crate) fn write(root: &Path) -> Result<String, String> {
    let standings = standings(root)?;
    let text = table::render(&standings);
    std::fs::write(root.join(FILE), &text).map_err(|error| format!("{FILE}: {error}"))?;
    Ok(format!("{FILE}: {}", table::summary(&standings)))
}

/// Fails if the table is out of date, or if a requirement that needs a test has none.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let standings = standings(root)?;
    let mut problems: Vec<String> = standings
        .iter()
        .filter(|standing| standing.is_missing())
        .map(|standing| format!("{}: no test covers this row", standing.row.id))
        .collect();
    problems.extend(standings.iter().flat_map(|standing| {
        let failing = standing.cases.iter().filter(|case| case.failed);
        failing.map(|case| format!("{}: the case {} fails", standing.row.id, case.id))
    }));
    let written = std::fs::read_to_string(root.join(FILE)).unwrap_or_default();
    if written != table::render(&standings) {
        problems.push(format!("{FILE} is out of date: run `cargo xtask conformance`"));
    }
    if problems.is_empty() {
        Ok(format!("{FILE} is up to date: {}", table::summary(&standings)))
    } else {
        Err(problems.join("\n"))
    }
}

fn standings(root: &Path) -> Result<Vec<Standing>, String> {
    let rows = rows::read(&root.join("crates/conformance/corpus/requirements.json"))?;
    let mut tests = sources::scan(&root.join("crates"))?;
    let chores = sources::scan(&root.join("xtask"))?;
    tests.extend(chores.into_iter().map(|test| test.below("xtask")));
    let is_known = |id: &str| id.starts_with("ER-") || rows.iter().any(|row| row.id == id);
    let named = tests.iter().flat_map(|test| test.covers.iter().map(move |id| (id, &test.name)));
    for (id, name) in named {
        if !is_known(id) {
            return Err(format!("{name} covers `{id}`, which is not a requirement"));
        }
    }
    let cases = acceptance::Cases::run(&root.join("crates/conformance/corpus"))?;
    let standing = |row: Row| {
        let tests = tests.iter().filter(|test| test.covers.contains(&row.id));
        let tests = tests.map(|test| test.name.clone()).collect();
        let cases = cases.of(&row)?;
        Ok(Standing { tests, cases, row })
    };
    rows.into_iter().map(standing).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::standings;
    use super::table::CHECKLIST;

    // covers: ADO-011
    #[test]
    fn every_line_of_the_specifications_checklist_has_a_result() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let standings = standings(&root).expect("the table can be made");
        for (letter, name) in CHECKLIST {
            let of_part = |part: char| part == letter;
            let mut rows = standings.iter().filter(|each| each.row.checklist().any(of_part));
            assert!(rows.clone().next().is_some(), "{name} has lines");
            assert!(rows.all(|each| each.is_shown()), "{name}");
        }
    }
}
