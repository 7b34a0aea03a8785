//! Splits texts for `cl100k_base`.
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ | ?[^\s\p{L}\p{N}]++[\r\n]*+ | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! ```

use super::{contraction_of_any_case, run, spaces};
use crate::class::{Class, class_at};

/// Returns the end of the piece that starts at an offset.
pub(crate) fn end_of_piece(text: &str, start: usize) -> usize {
    let Some((class, next)) = class_at(text, start) else { return start };
    if let Some(end) = contraction_of_any_case(text, start) {
        return end;
    }
    let letters = |at| run(text, at, Class::is_letter);
    let others = |at| {
        let end = run(text, at, Class::is_other);
        run(text, end, |class| class == Class::Newline)
    };
    match class {
        Class::Upper | Class::Lower | Class::Caseless => letters(next),
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
        Class::Other | Class::Mark => match class_at(text, next) {
            Some((following, after)) if following.is_letter() => letters(after),
            _ => others(next),
        },
        Class::Space | Class::Newline => {
            match class_at(text, next) {
                Some((following, after)) if class == Class::Space && following.is_letter() => {
                    return letters(after);
                }
                Some((following, after))
                    if text.as_bytes()[start] == b' ' && following.is_other() =>
                {
                    return others(after);
                }
                _ => {}
            }
            let spaces = spaces(text, start);
            if spaces.end == text.len() {
                return spaces.end;
            }
            spaces.after_newline.unwrap_or_else(|| spaces.before_word(text, start))
        }
    }
}
