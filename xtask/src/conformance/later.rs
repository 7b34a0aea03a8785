//! Rows that wait for a part that does not exist yet. The table shows them as open.

use super::rows::Row;

/// Areas of the selector language.
const SELECTOR_AREAS: [&str; 3] = ["SYN", "SEM", "RNG"];

const SELECTORS: &str = "selector issue";
const SELECTOR_PART: &str = "selector issue (the part of the engine is tested)";

/// Rows of the engine's areas that cannot be shown without a selector language.
pub(super) const LATER: &[(&str, &str)] = &[
    ("STR-013", SELECTORS),
    ("STR-014", SELECTORS),
    ("STR-020", SELECTORS),
    ("STR-027", SELECTORS),
    ("IDH-029", SELECTORS),
    ("IDH-032", SELECTORS),
    ("PLO-021", SELECTORS),
    ("PLO-022", SELECTORS),
    ("SNP-016", SELECTOR_PART),
    ("DIF-002", SELECTOR_PART),
    ("ADO-001", SELECTOR_PART),
    ("ADO-004", SELECTORS),
    ("ADO-010", SELECTOR_PART),
    ("ERC-001", SELECTORS),
    ("ERC-002", SELECTORS),
    ("ERC-003", SELECTORS),
    ("ERC-004", SELECTORS),
    ("DBG-001", SELECTOR_PART),
    ("DBG-002", SELECTORS),
    ("DBG-003", SELECTORS),
];

/// Returns why a row has to wait, if it has to.
pub(super) fn reason(row: &Row) -> Option<&'static str> {
    if SELECTOR_AREAS.contains(&row.area.as_str()) {
        return Some(SELECTORS);
    }
    LATER.iter().find(|(id, _)| *id == row.id).map(|(_, reason)| *reason)
}
