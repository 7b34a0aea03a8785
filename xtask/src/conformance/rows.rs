//! Reads the rows of the requirements.

use std::path::Path;

use contextree_json::{Value, parse};

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) area: String,
    pub(super) strength: String,
    pub(super) requirement: String,
    /// The sections of the specification that state it: `002 §3.7; 003 10-A/C`.
    pub(super) places: String,
    /// The acceptance test, which names cases.
    pub(super) acceptance: String,
}

impl Row {
    /// Returns the parts of the specification's checklist (chapter 10, A to E) that ask for the
    /// row.
    pub(super) fn checklist(&self) -> impl Iterator<Item = char> {
        let mentions = self.places.split("10-").skip(1);
        mentions.flat_map(|rest| {
            let end = rest.find(|letter| !matches!(letter, 'A'..='E' | '/')).unwrap_or(rest.len());
            rest[..end].chars().filter(|letter| *letter != '/')
        })
    }

    /// Returns whether the row is binding: every strength but SHOULD and MAY.
    pub(super) fn binds(&self) -> bool {
        !matches!(self.strength.as_str(), "SHOULD" | "MAY")
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<Row>, String> {
    let fail = |message: String| format!("{}: {message}", path.display());
    let text = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let value = parse(&text).map_err(|error| fail(error.to_string()))?;
    let rows = value.as_array().ok_or_else(|| fail("not a list".to_owned()))?;
    rows.iter()
        .map(|row| {
            let text = |name: &str| {
                let text = row.get(name).and_then(Value::as_str);
                text.map(str::to_owned).ok_or_else(|| fail(format!("a row without `{name}`")))
            };
            Ok(Row {
                id: text("id")?,
                area: text("area")?,
                strength: text("strength")?,
                requirement: text("requirement")?,
                places: text("where")?,
                acceptance: text("test")?,
            })
        })
        .collect()
}
