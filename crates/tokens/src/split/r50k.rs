//! Splits texts for `r50k_base`, `p50k_base` and their variants.
//!
//! ```text
//! '(?:[sdmt]|ll|ve|re) | ?\p{L}++ | ?\p{N}++ | ?[^\s\p{L}\p{N}]++ | \s++$ | \s+(?!\S) | \s
//! ```

use super::{run, spaces};
use crate::class::{Class, class_at};

/// Returns the end of the piece that starts at an offset.
pub(crate) fn end_of_piece(text: &str, start: usize) -> usize {
    let Some((class, next)) = class_at(text, start) else { return start };
    if let Some(end) = contraction(text, start) {
        return end;
    }
    let word = |class: Class, next| match class {
        Class::Number => Some(run(text, next, |class| class == Class::Number)),
        class if class.is_letter() => Some(run(text, next, Class::is_letter)),
        class if class.is_other() => Some(run(text, next, Class::is_other)),
        _ => None,
    };
    if let Some(end) = word(class, next) {
        return end;
    }
    if text.as_bytes()[start] == b' '
        && let Some((following, after)) = class_at(text, next)
        && let Some(end) = word(following, after)
    {
        return end;
    }
    spaces(text, start).before_word(text, start)
}

/// Returns the end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d`, if one starts here.
fn contraction(text: &str, at: usize) -> Option<usize> {
    match text.as_bytes().get(at..)? {
        [b'\'', b's' | b't' | b'm' | b'd', ..] => Some(at + 2),
        [b'\'', b'r' | b'v', b'e', ..] | [b'\'', b'l', b'l', ..] => Some(at + 3),
        _ => None,
    }
}
