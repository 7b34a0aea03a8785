//! Splits texts for `o200k_base` and `o200k_harmony`.
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```

use super::{contraction_of_any_case, run, spaces};
use crate::class::{Class, class_at};

/// Returns the end of the piece that starts at an offset.
pub(crate) fn end_of_piece(text: &str, start: usize) -> usize {
    let Some((class, next)) = class_at(text, start) else { return start };
    match class {
        Class::Upper | Class::Lower | Class::Caseless => {
            with_contraction(text, word(text, start).unwrap_or(next))
        }
        Class::Number => {
            let mut end = next;
            for _ in 0..2 {
                match class_at(text, end) {
                    Some((Class::Number, next)) => end = next,
                    _ => break,
                }
            }
            end
        }
        // Any character but a letter, a number or a line break may precede a word. A mark is also a
        // word by itself, which the expression tries before capitals alone.
        Class::Mark => with_contraction(text, small_word(text, next).unwrap_or(next)),
        Class::Other => match word(text, next) {
            Some(end) => with_contraction(text, end),
            None => others(text, next),
        },
        Class::Space => {
            if let Some(end) = word(text, next) {
                return with_contraction(text, end);
            }
            if text.as_bytes()[start] == b' '
                && let Some((following, after)) = class_at(text, next)
                && following.is_other()
            {
                return others(text, after);
            }
            blank(text, start)
        }
        Class::Newline => blank(text, start),
    }
}

/// Returns the end of a word: one that ends with lower-case letters, or else capitals alone.
fn word(text: &str, start: usize) -> Option<usize> {
    match small_word(text, start) {
        Ok(end) => Some(end),
        Err(end) => (end > start).then_some(end),
    }
}

/// Returns the end of capitals followed by lower-case letters; as an error, the end of the
/// capitals.
///
/// Letters without case and marks count as both. If no lower-case letter follows the capitals, the
/// expression backtracks to the last character that can be one.
fn small_word(text: &str, start: usize) -> Result<usize, usize> {
    let mut end = start;
    let mut after_caseless = None;
    while let Some((class, next)) = class_at(text, end) {
        match class {
            Class::Upper => {}
            Class::Caseless | Class::Mark => after_caseless = Some(next),
            Class::Lower => {
                let small = |class| matches!(class, Class::Lower | Class::Caseless | Class::Mark);
                return Ok(run(text, next, small));
            }
            _ => break,
        }
        end = next;
    }
    after_caseless.ok_or(end)
}

fn with_contraction(text: &str, end: usize) -> usize {
    contraction_of_any_case(text, end).unwrap_or(end)
}

fn others(text: &str, at: usize) -> usize {
    let mut end = run(text, at, Class::is_other);
    while let Some(b'\r' | b'\n' | b'/') = text.as_bytes().get(end) {
        end += 1;
    }
    end
}

fn blank(text: &str, start: usize) -> usize {
    let spaces = spaces(text, start);
    spaces.after_newline.unwrap_or_else(|| spaces.before_word(text, start))
}
