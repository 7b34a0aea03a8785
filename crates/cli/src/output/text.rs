//! Text that fits: columns, one-line previews, sizes, times.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns how many columns a text takes, styles aside.
pub(crate) fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
}

/// Returns a text on one line: line breaks and other control characters are shown, not obeyed.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => line.push('⏎'),
            '\t' => line.push('⇥'),
            '\r' => {}
            _ if character.is_control() || is_reordering(character) => line.push('\u{fffd}'),
            _ => line.push(character),
        }
    }
    line
}

/// Returns whether a character changes the order in which a terminal shows the others: text could look like what it is not.
pub(crate) fn is_reordering(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What an escaped character begins with. Neither a shell nor `xargs` changes it, as they do with a backslash.
const ESCAPE: &str = "%{";

/// Returns an id or a name as one word of one line. Characters that a terminal or a script would obey become `%{1b}`. The `%` of a
/// text that looks like that already is escaped, too: no two ids are the same word, and [`unescaped`] reads it back.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let is_strange = |character: char| character.is_control() || is_reordering(character);
    if !text.contains(is_strange) && !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if is_strange(character) || text[at..].starts_with(ESCAPE) {
            escaped.push_str(&format!("%{{{:x}}}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Returns the id that [`word`] printed. A text that it would not have printed stays as it is.
pub(crate) fn unescaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((plain, escape)) = rest.split_once(ESCAPE) {
        text.push_str(plain);
        let read = escape.split_once('}').and_then(|(digits, rest)| {
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            Some((character, rest))
        });
        let Some((character, after)) = read else { return word.to_owned() };
        text.push(character);
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Reads an id, or a selector, from the command line, as [`word`] printed it.
pub(crate) fn parse_word(word: &str) -> Result<String, std::convert::Infallible> {
    Ok(unescaped(word))
}

/// Returns a text as one argument of a shell: in quotes, unless no character of it means anything there.
pub(crate) fn argument(text: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_.:/@+=,~".contains(character);
    match !text.is_empty() && !text.starts_with('~') && text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', "'\\''"))),
    }
}

/// Returns a text with the lines and signs of this program in plain ASCII, for terminals that have no others. The gap after a sign that
/// takes more columns becomes narrower, so that columns stay in line.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Columns to save before the next cell, and the blanks since the last one.
    let (mut owed, mut blanks) = (0_usize, 0_usize);
    for character in text.chars() {
        match character {
            ' ' => blanks += 1,
            '\n' => (owed, blanks) = (0, 0),
            _ => {
                if blanks > 2 {
                    let saved = owed.min(blanks - 2);
                    plain.truncate(plain.len() - saved);
                    owed -= saved;
                }
                blanks = 0;
            }
        }
        owed += match character {
            '…' => 2,
            '→' | '←' | '⏎' | '⇥' | '±' => 1,
            _ => 0,
        };
        match character {
            '├' | '╰' | '└' => plain.push('+'),
            '─' => plain.push('-'),
            '│' => plain.push('|'),
            '→' => plain.push_str("->"),
            '←' => plain.push_str("<-"),
            '…' => plain.push_str("..."),
            '⏎' => plain.push_str("\\n"),
            '⇥' => plain.push_str("\\t"),
            '–' | '−' => plain.push('-'),
            '±' => plain.push_str("+-"),
            '●' | '·' => plain.push('*'),
            '█' => plain.push('#'),
            other => plain.push(other),
        }
    }
    plain
}

/// Cuts a text to a number of columns; `…` replaces what is left out.
pub(crate) fn cut(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        shown.push(character);
    }
    shown.push('…');
    shown
}

/// Breaks a line between words so that it fits; the lines after the first are indented. The text may have styles.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> String {
    wrap_below(text, 2, width)
}

/// Breaks lines that do not fit. The rest is indented to the second column of the line, if it has two, or to its first word.
pub(crate) fn fold(text: &str, width: Option<usize>) -> String {
    let fold = |line: &str| {
        let plain = anstream::adapter::strip_str(line).to_string();
        let margin = plain.len() - plain.trim_start().len();
        let is_drawn = plain.contains(['│', '└', '┌', '─']);
        let second = plain[margin..].find("  ").map(|gap| {
            let rest = &plain[margin + gap..];
            plain[..margin + gap].width() + rest.len() - rest.trim_start().len()
        });
        let indent = second.filter(|second| width.is_some_and(|width| *second <= width / 2));
        match is_drawn {
            true => format!("{line}\n"),
            false => format!("{}\n", wrap_below(line, indent.unwrap_or(margin), width)),
        }
    };
    text.lines().map(fold).collect()
}

/// Breaks a line between words so that it fits; the lines after the first begin with this many blanks.
pub(crate) fn wrap_below(text: &str, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| columns(text) > *width) else { return text.to_owned() };
    let mut wrapped = String::new();
    let (mut used, mut has_word) = (0, false);
    for (index, word) in text.split(' ').enumerate() {
        let wide = columns(word);
        if has_word && used + 1 + wide > width {
            wrapped.truncate(wrapped.trim_end().len());
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            used = indent;
        } else if index > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += wide;
        has_word |= wide > 0;
    }
    wrapped
}

/// Returns a size in bytes for people: `37 B`, `1.2 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    // Tenths, rounded down, so that no float is printed.
    let mut tenths = bytes * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Returns `1 turn`, `2 turns`.
pub(crate) fn count(number: usize, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {word}{plural}")
}

/// Returns a number in groups of three digits: `10,286`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

/// The first instant that is taken for a real time; stamps of the logical clock are below it.
const FIRST_REAL: i64 = 86_400_000_000_000;

/// Returns when something was, for people: `3 minutes ago`; for stamps of the logical clock `stamp 12`.
pub(crate) fn ago(stamp: i64, now: i64) -> String {
    if stamp < FIRST_REAL {
        return format!("stamp {stamp}");
    }
    let seconds = (now - stamp) / 1_000_000_000;
    let (amount, unit) = match seconds.unsigned_abs() {
        0..=1 => return "just now".to_owned(),
        seconds @ 2..=119 => (seconds, "second"),
        seconds @ 120..=7_199 => (seconds / 60, "minute"),
        seconds @ 7_200..=172_799 => (seconds / 3_600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    match seconds < 0 {
        true => format!("in {amount} {unit}s"),
        false => format!("{amount} {unit}s ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::{ago, ascii, columns, cut, fold, one_line, size, thousands, unescaped, word, wrap};

    #[test]
    fn what_is_cut_ends_with_an_ellipsis_and_fits() {
        for (text, width, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
        ] {
            assert_eq!(cut(text, Some(width)), expected);
            assert!(columns(expected) <= width);
        }
        assert_eq!(cut("as long as it is", None), "as long as it is");
    }

    #[test]
    fn a_wrapped_line_fits_and_loses_no_word() {
        assert_eq!(wrap("one two three", Some(8)), "one two\n  three");
        assert_eq!(wrap("one   two three", Some(9)), "one   two\n  three");
        assert_eq!(wrap("fits", Some(8)), "fits");
        assert_eq!(ascii("├─ a … b    c\n├─ abcdefg  c"), "+- a ... b  c\n+- abcdefg  c");
        assert_eq!(ascii("a → b  c"), "a -> b  c", "a gap of two stays");
        assert_eq!(wrap("one two three", None), "one two three");
        assert_eq!(fold("  a  one two three", Some(12)), "  a  one two\n     three\n");
        assert_eq!(fold("one two three", Some(8)), "one two\nthree\n");
        assert_eq!(fold("│ one two three", Some(8)), "│ one two three\n");
    }

    #[test]
    fn a_preview_has_no_line_break_and_no_escape() {
        assert_eq!(one_line("a\nb\tc\u{1b}[31m"), "a⏎b⇥c\u{fffd}[31m");
    }

    #[test]
    fn a_strange_id_is_shown_as_one_word_and_never_as_another_id() {
        assert_eq!(word("block:1.1 é"), "block:1.1 é");
        assert_eq!(word("victim\u{1b}[0m"), "victim%{1b}[0m");
        assert_eq!(word("x\nvictim"), "x%{a}victim");
        assert_eq!(word("a\u{202e}b\u{200e}"), "a%{202e}b%{200e}");
        assert_eq!(word("x%{a}victim"), "x%{25}{a}victim");
        assert_eq!(word("100% {a}"), "100% {a}");
    }

    #[test]
    fn a_printed_id_is_read_back_as_the_same_id() {
        for id in
            ["plain", "100%", "x\ny", "x%{a}y", "x%{25}{a}y", "%%{", "a\\b", "\u{61c}%{\u{7}}"]
        {
            assert_eq!(unescaped(&word(id)), id);
        }
        for text in ["%{", "%{}", "%{zz}", "%{110000}", ".block[id='%{']"] {
            assert_eq!(unescaped(text), text, "nothing that was printed");
        }
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        let numbers = [0, 999, 1_000, 10_286, 1_234_567].map(thousands);
        assert_eq!(numbers, ["0", "999", "1,000", "10,286", "1,234,567"]);
    }

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1023, 1024, 1536, 1_048_576, 5 << 40].map(size);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "5.0 TiB"]);
    }

    #[test]
    fn times_are_relative_and_logical_stamps_are_not_mistaken_for_times() {
        let now = 1_800_000_000_000_000_000;
        let at = |seconds: i64| ago(now - seconds * 1_000_000_000, now);
        assert_eq!(
            [at(0), at(90), at(600), at(7200)],
            ["just now", "90 seconds ago", "10 minutes ago", "2 hours ago"]
        );
        assert_eq!(at(-30), "in 30 seconds");
        assert_eq!(ago(12, now), "stamp 12");
    }
}
