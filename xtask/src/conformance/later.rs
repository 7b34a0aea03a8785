//! Rows that wait for a part that does not exist yet. The table shows them as open.

use super::rows::Row;

/// Areas of the selector language, which is still growing tests of its own.
const SELECTOR_AREAS: [&str; 3] = ["SYN", "SEM", "RNG"];

/// Returns why a row that nothing shows has to wait, if it has to.
pub(super) fn reason(row: &Row) -> Option<&'static str> {
    SELECTOR_AREAS.contains(&row.area.as_str()).then_some("selector issue")
}
