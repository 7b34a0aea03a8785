//! Measures the heap per retained snapshot.

use crate::measure::Row;
use crate::work::{chat, turn};

/// The length of a text; a turn has three.
const LENGTH: usize = 120;

/// The maximum size of a snapshot in bytes, beyond its content.
const BAR: f64 = 2048.0;

/// Measures the size of a snapshot at a number of turns, beyond the texts themselves: averaged over
/// all, and for a further one.
///
/// `allocated` returns the number of bytes that are allocated and not freed.
pub fn rows(turns: usize, allocated: &dyn Fn() -> i64) -> Vec<Row> {
    let start = allocated();
    let mut context = chat(turns, LENGTH);
    let built = allocated();
    // As many again: tables double in size, so each doubling is counted once, wherever it happens.
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
