//! Draws a caret under the invalid part of a text.

use std::fmt::Write as _;
use std::iter::repeat_n;

use crate::Span;

/// Maximum number of columns of the text that are shown.
const WINDOW: usize = 96;
/// Columns shown before the invalid part when the line is cut.
const LEAD: usize = 32;

/// Formats a message about a part of a text: a headline, the line of the text with carets under the
/// part, and a hint.
///
/// ```
/// use contextree_selector::{Span, draw_caret};
///
/// let drawing = draw_caret("warning: nothing has this type", ".bloc", Span::new(0, 5), Some("did you mean `.block`?"));
/// assert_eq!(
///     drawing,
///     "\
/// warning: nothing has this type
///   |
/// 1 | .bloc
///   | ^^^^^
///   = help: did you mean `.block`?"
/// );
/// ```
///
/// The result is plain text without a final line break. It shows only the line on which the part
/// begins, and of a long line only the surroundings of the part. A span that exceeds the text is
/// cut to it.
#[must_use]
pub fn draw_caret(headline: &str, text: &str, span: Span, help: Option<&str>) -> String {
    let range = span.range();
    let start = floor_boundary(text, range.start);
    let end = floor_boundary(text, range.end.max(start));
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_number = text[..line_start].matches('\n').count() + 1;
    let rest = &text[line_start..];
    let line = rest.find('\n').map_or(rest, |newline| &rest[..newline]);
    // A part that extends beyond the line is drawn up to its end.
    let fault = start - line_start..end.min(line_start + line.len()).max(start) - line_start;
    let (shown, lead, carets) = window(line, fault.start.min(line.len()), fault.end);

    let number = line_number.to_string();
    let margin = " ".repeat(number.len());
    let mut drawing = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(drawing, "{headline}");
    let _ = writeln!(drawing, "{margin} |");
    let _ = writeln!(drawing, "{}", format!("{number} | {shown}").trim_end());
    let _ = write!(drawing, "{margin} | {}{}", " ".repeat(lead), "^".repeat(carets));
    if let Some(help) = help {
        let _ = write!(drawing, "\n{margin} = help: {help}");
    }
    drawing
}

/// Returns the visible part of a line, the columns before the invalid part and the columns under
/// it.
fn window(line: &str, start: usize, end: usize) -> (String, usize, usize) {
    let mut shown = String::new();
    let (mut lead, mut carets) = (0, 0);
    let first = first_shown(line, start);
    if first > 0 {
        shown.push('…');
        lead = 1;
    }
    let mut used = lead;
    for (offset, character) in line[first..].char_indices() {
        let (offset, wide) = (first + offset, width(character));
        if used + wide > WINDOW {
            shown.push('…');
            break;
        }
        used += wide;
        if offset < start {
            lead += wide;
        } else if offset < end {
            carets += wide;
        }
        push(&mut shown, character);
    }
    (shown.trim_end().to_owned(), lead, carets.max(1))
}

/// Returns where the visible part begins: the start of the line, or some columns before the invalid
/// part. Reads no more of the line than can be shown.
fn first_shown(line: &str, start: usize) -> usize {
    let fits = line.len() <= 4 * WINDOW && line.chars().map(width).sum::<usize>() <= WINDOW;
    if fits {
        return 0;
    }
    let mut columns = 0;
    let visible = line[..start].char_indices().rev().take_while(|(_, character)| {
        columns += width(*character);
        columns <= LEAD
    });
    visible.last().map_or(start, |(offset, _)| offset)
}

/// Appends a character in the form in which it is shown; [`width`] returns its width.
fn push(shown: &mut String, character: char) {
    match character {
        '\t' => shown.extend(repeat_n(' ', width('\t'))),
        // Invisible characters are replaced by a visible one, so that the caret points at
        // something.
        _ if is_invisible(character) => shown.push('\u{fffd}'),
        _ => shown.push(character),
    }
}

fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{a0}' | '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{3000}' | '\u{feff}')
}

/// Returns the number of columns a character takes on a terminal, accurate enough for a caret.
fn width(character: char) -> usize {
    if character.is_ascii() || is_invisible(character) {
        return if character == '\t' { 4 } else { 1 };
    }
    match u32::from(character) {
        // Combining marks and variation selectors take no column of their own.
        0x0300..=0x036f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff => 0,
        0xfe00..=0xfe0f | 0xfe20..=0xfe2f | 0xe0100..=0xe01ef => 0,
        // East Asian wide characters and emoji.
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 => 2,
        0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Returns the character boundary at or before `offset`; the span may belong to another text.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
