//! Splits texts into pieces before tokens are looked up; a token never spans pieces.
//!
//! Each family of encodings defines its pieces by a regular expression. The functions here are
//! written by hand, one character after the other, and examine no piece more than twice, whatever
//! the text is. The expressions are quoted at their implementations.

mod cl100k;
mod o200k;
mod r50k;

use crate::class::{Class, class_at};

pub(crate) use cl100k::end_of_piece as cl100k;
pub(crate) use o200k::end_of_piece as o200k;
pub(crate) use r50k::end_of_piece as r50k;

/// Returns the end of the run of characters that satisfy a condition.
#[inline]
fn run(text: &str, mut at: usize, belongs: impl Fn(Class) -> bool) -> usize {
    while let Some((class, next)) = class_at(text, at) {
        if !belongs(class) {
            break;
        }
        at = next;
    }
    at
}

/// A run of whitespace: its end, the start of its last character, and the end of its last line
/// break.
struct Spaces {
    end: usize,
    last: usize,
    after_newline: Option<usize>,
}

fn spaces(text: &str, start: usize) -> Spaces {
    let mut spaces = Spaces { end: start, last: start, after_newline: None };
    while let Some((class, next)) = class_at(text, spaces.end) {
        match class {
            Class::Newline => spaces.after_newline = Some(next),
            Class::Space => {}
            _ => break,
        }
        spaces.last = spaces.end;
        spaces.end = next;
    }
    spaces
}

impl Spaces {
    /// `\s+(?!\S)|\s`: the whole run at the end of the text, else all but its last character, else
    /// that character.
    fn before_word(&self, text: &str, start: usize) -> usize {
        if self.end == text.len() || self.last == start { self.end } else { self.last }
    }
}

/// Returns the end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case, if one starts
/// here.
fn contraction_of_any_case(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    if *rest.first()? != b'\'' {
        return None;
    }
    match rest.get(1)?.to_ascii_lowercase() {
        b's' | b't' | b'm' | b'd' => Some(at + 2),
        first @ (b'r' | b'v' | b'l') => {
            let expected = if first == b'l' { b'l' } else { b'e' };
            (rest.get(2)?.to_ascii_lowercase() == expected).then_some(at + 3)
        }
        // The long s (U+017F) is an s in another case.
        0xc5 => (*rest.get(2)? == 0xbf).then_some(at + 3),
        _ => None,
    }
}
