//! Prints the table, for people and for machines.

use std::fmt::Write as _;

use crate::measure::Row;

/// Returns a row as a line of a Markdown table.
#[must_use]
pub fn line(row: &Row) -> String {
    let Row { name, ratio, spread, bar, .. } = row;
    let sign = if row.is_gain { '≥' } else { '≤' };
    let (limit, verdict) = match (bar.is_finite(), row.holds()) {
        (false, _) => (String::new(), ""),
        (true, true) => (format!("{sign} {bar}×"), "holds"),
        (true, false) => (format!("{sign} {bar}×"), "**missed**"),
    };
    format!("| {name} | {ratio:.2}× | {:.2}–{:.2} | {limit} | {verdict} |", spread.0, spread.1)
}

/// Returns the whole table in Markdown.
#[must_use]
pub fn markdown(rows: &[Row]) -> String {
    let mut out =
        String::from("| what | ratio (median) | spread | bar | |\n|---|--:|--:|--:|---|\n");
    for row in rows {
        let _ = writeln!(out, "{}", line(row));
    }
    out
}

/// Returns the rows as JSON Lines.
#[must_use]
pub fn json(rows: &[Row]) -> String {
    rows.iter()
        .map(|row| {
            format!(
                "{{\"name\":{:?},\"ratio\":{:.4},\"min\":{:.4},\"max\":{:.4},\"bar\":{},\"is_gain\":{},\"holds\":{},\"ns\":{:.1},\"reference_ns\":{:.1}}}\n",
                row.name,
                row.ratio,
                row.spread.0,
                row.spread.1,
                if row.bar.is_finite() { row.bar.to_string() } else { "null".to_owned() },
                row.is_gain,
                row.holds(),
                row.nanoseconds.0,
                row.nanoseconds.1
            )
        })
        .collect()
}
