//! Rows of the requirements.

use std::path::Path;

use contextree_json::{Value, parse};

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) area: String,
    pub(super) strength: String,
    pub(super) requirement: String,
    /// How the specification's readers would accept it; names cases.
    pub(super) acceptance: String,
}

impl Row {
    /// True for rows that bind: every strength but SHOULD and MAY.
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
                acceptance: text("test")?,
            })
        })
        .collect()
}
