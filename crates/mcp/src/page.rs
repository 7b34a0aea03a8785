//! Answers of bounded size: as many entries as fit, and a cursor for the rest.

use contextree_app::Error;

/// How many bytes an answer has unless the caller says otherwise: about 2,000 tokens.
pub(crate) const USUAL: usize = 8_000;
/// The smallest and the largest limit that a caller can set.
pub(crate) const LEAST: usize = 500;
pub(crate) const MOST: usize = 50_000;

/// Room for the line that names the cursor.
const TRAILER: usize = 200;

/// Where an answer continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    /// The entry.
    entry: usize,
    /// The byte of the entry.
    byte: usize,
    /// The check of all entries before it: a cursor for an answer that has changed since is refused.
    check: u32,
}

impl Cursor {
    fn read(text: &str, entries: &[String]) -> Result<Cursor, Error> {
        let mut parts = text.split('.');
        let mut number = |radix| {
            let part = parts.next()?;
            u32::from_str_radix(part, radix).ok()
        };
        let fields = (number(10), number(10), number(16));
        let (Some(entry), Some(byte), Some(check)) = fields else {
            return Err(Error::usage(format!("`{text}` is not a cursor"))
                .with_hint("pass the cursor of the answer before, unchanged"));
        };
        let cursor = Cursor { entry: entry as usize, byte: byte as usize, check };
        let fits =
            entries.get(cursor.entry).is_some_and(|entry| entry.is_char_boundary(cursor.byte));
        if parts.next().is_some() || !fits || cursor.check != check_of(&entries[..cursor.entry]) {
            return Err(Error::usage("the context has changed since the cursor was returned")
                .with_hint("call again without a cursor"));
        }
        Ok(cursor)
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}.{:x}", self.entry, self.byte, self.check)
    }
}

fn check_of(entries: &[String]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for entry in entries {
        hasher.update(entry.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize()
}

/// Returns how many bytes an answer may have.
///
/// # Errors
///
/// `E_USAGE` if the limit is out of range.
pub(crate) fn size(limit: Option<u64>) -> Result<usize, Error> {
    let Some(limit) = limit else { return Ok(USUAL) };
    let fits = usize::try_from(limit).ok().filter(|limit| (LEAST..=MOST).contains(limit));
    fits.ok_or_else(|| Error::usage(format!("`limit` is {limit}; it can be {LEAST} to {MOST}")))
}

/// Returns the entries from a cursor on, one per line, in at most `limit` bytes.
///
/// # Errors
///
/// `E_USAGE` if the cursor was not returned for these entries.
pub(crate) fn page(
    entries: &[String],
    cursor: Option<&str>,
    limit: usize,
) -> Result<String, Error> {
    let start = match cursor {
        Some(cursor) => Cursor::read(cursor, entries)?,
        None => Cursor { entry: 0, byte: 0, check: 0 },
    };
    let room = limit - TRAILER;
    let mut text = String::new();
    let mut at = start;
    while let Some(entry) = entries.get(at.entry) {
        let rest = &entry[at.byte..];
        if text.len() + rest.len() < room {
            text.push_str(rest);
            text.push('\n');
            at = Cursor { entry: at.entry + 1, byte: 0, check: 0 };
            continue;
        }
        if text.is_empty() {
            // An entry that is larger than a page is cut: every page has something, so the last one is reached.
            let cut = boundary(rest, room);
            text.push_str(&rest[..cut]);
            text.push('\n');
            at.byte += cut;
        }
        at.check = check_of(&entries[..at.entry]);
        let shown = at.entry;
        let of = entries.len();
        text.push_str(&format!(
            "[{shown} of {of} entries so far; for the rest call again with cursor \"{at}\"]"
        ));
        return Ok(text);
    }
    text.pop();
    Ok(text)
}

/// Returns the last boundary of a character that is not after `end`. The standard library has it from Rust 1.91 on.
pub(crate) fn boundary(text: &str, end: usize) -> usize {
    (0..=end.min(text.len())).rfind(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows cursors to the end; returns everything.
    fn all(entries: &[String], limit: usize) -> String {
        let mut text = String::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = page(entries, cursor.as_deref(), limit).expect("a page");
            assert!(page.len() <= limit, "{} > {limit}", page.len());
            match page.rsplit_once("\n[") {
                Some((shown, trailer)) if trailer.contains("cursor \"") => {
                    text.push_str(shown);
                    let next = trailer.split('"').nth(1).expect("a cursor").to_owned();
                    if next.split('.').nth(1) == Some("0") {
                        text.push('\n');
                    }
                    cursor = Some(next);
                }
                _ => return text + &page,
            }
        }
    }

    #[test]
    fn pages_together_are_the_whole_answer() {
        let entries: Vec<String> =
            (0..400).map(|number| "é".repeat(number * 7 % 900) + &number.to_string()).collect();
        for limit in [500, 777, 5_000, 50_000] {
            assert_eq!(all(&entries, limit), entries.join("\n"));
        }
        assert_eq!(page(&[], None, USUAL).expect("nothing"), "");
    }

    #[test]
    fn cursor_of_an_answer_that_changed_is_refused() {
        let mut entries: Vec<String> = (0..200).map(|number| format!("entry {number}")).collect();
        let first = page(&entries, None, 500).expect("a page");
        let cursor = first.split('"').nth(1).expect("a cursor").to_owned();
        assert!(page(&entries, Some(&cursor), 500).is_ok());
        entries[0] = "another".to_owned();
        assert!(page(&entries, Some(&cursor), 500).is_err());
        for bad in ["", "x", "1", "1.0", "1.0.zz", "9999.0.0", "1.99.0", "1.0.0.0", "-1.0.0"] {
            assert!(page(&entries, Some(bad), USUAL).is_err(), "{bad}");
        }
        assert!(size(Some(499)).is_err());
        assert!(size(Some(u64::MAX)).is_err());
    }
}
