//! Heap per retained snapshot.

use std::fmt::Write as _;

use crate::work::{chat, turn};

/// The length of a text; three of them a turn.
const LENGTH: usize = 120;

/// Measures what a further snapshot costs at a number of turns, beyond the texts themselves.
///
/// `allocated` returns the bytes that are allocated and not freed.
pub fn report(turns: usize, allocated: &dyn Fn() -> i64) -> String {
    let mut out = String::new();
    let start = allocated();
    let mut context = chat(turns, LENGTH);
    let built = allocated();
    // Long enough that pages and tables that grow in steps are counted in their share.
    let more = turns / 4;
    (0..more).for_each(|number| turn(&mut context, turns + number, LENGTH));
    let grown = allocated();
    let content = i64::try_from(3 * LENGTH).unwrap_or(i64::MAX);
    let per = |bytes: i64, count: usize| bytes / i64::try_from(count).unwrap_or(1) - content;
    let whole = per(built - start, turns);
    let further = per(grown - built, more);
    let _ = writeln!(
        out,
        "heap per retained snapshot over the first {turns} turns: {whole} bytes beyond its content"
    );
    let _ = writeln!(
        out,
        "heap per further snapshot at {turns} turns: {further} bytes beyond its content (bar: 2048)"
    );
    let verdict = if further <= 2048 && whole <= 2048 { "holds" } else { "missed" };
    let _ = writeln!(out, "{verdict}");
    drop(context);
    out
}
