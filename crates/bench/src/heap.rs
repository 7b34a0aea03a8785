//! Heap per retained snapshot.

use crate::measure::Row;
use crate::work::{chat, turn};

/// The length of a text; three of them a turn.
const LENGTH: usize = 120;

/// What a snapshot may take, in bytes, beyond what it says.
const BAR: f64 = 2048.0;

/// Measures what a snapshot costs at a number of turns, beyond the texts themselves: over all of them, and for a further one.
///
/// `allocated` returns the bytes that are allocated and not freed.
pub fn rows(turns: usize, allocated: &dyn Fn() -> i64) -> Vec<Row> {
    let start = allocated();
    let mut context = chat(turns, LENGTH);
    let built = allocated();
    // As many again: tables double, so each is counted once, wherever its step is.
    let more = turns;
    (0..more).for_each(|number| turn(&mut context, turns + number, LENGTH));
    let grown = allocated();
    drop(context);
    let content = i64::try_from(3 * LENGTH).unwrap_or(i64::MAX);
    let row = |what: &str, bytes: i64, count: usize, bar: f64| {
        let bytes = (bytes / i64::try_from(count).unwrap_or(1) - content) as f64;
        let ratio = bytes / BAR;
        Row {
            name: format!("{what} {turns} turns: {bytes} bytes beyond its content, against {BAR}"),
            ratio,
            spread: (ratio, ratio),
            bar,
            is_gain: false,
            nanoseconds: (bytes, BAR),
        }
    };
    vec![
        row("heap per retained snapshot over the first", built - start, turns, f64::INFINITY),
        row("heap per further snapshot at", grown - built, more, 1.0),
    ]
}
