//! JSON Lines: where one text ends and the next begins.

use memchr::memchr;

/// Returns the lines of a text, without their line breaks. What follows the last line break is a line only if there is something.
///
/// A log is some hundred megabytes, and looking for the ends of its lines byte by byte would cost a third of what parsing does; hence the crate
/// that searches with the processor's wide registers.
///
/// ```
/// let lines: Vec<&[u8]> = contextree_json::lines(b"{}\n\n[1]\n").collect();
/// assert_eq!(lines, [&b"{}"[..], b"", b"[1]"]);
/// ```
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = match memchr(b'\n', rest) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_a_split_but_for_an_empty_last_one() {
        let texts = ["", "\n", "a", "a\n", "\na", "a\n\n", "a\r\nb", "a\nb\n\nc", "\n\n\n"];
        for text in texts {
            let mut expected: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b'\n').collect();
            expected.pop_if(|last| last.is_empty());
            assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
