//! Writes strings as ASCII: runs of plain bytes are copied whole, the rest is escaped.
//!
//! `\b \t
//!  \f \r \" \\` have short forms; other control characters, DEL (U+007F) and everything beyond
//! ASCII become lower-case `\uXXXX`, as surrogate pairs beyond U+FFFF. `/` is not escaped.

use crate::key::Key;

/// Appends `text` as a quoted string.
pub fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    loop {
        let (_, special) = rest.split_at(copy_plain(out, rest.as_bytes()));
        let mut chars = special.chars();
        match chars.next() {
            Some(character) => escape(out, character),
            None => break,
        }
        rest = chars.as_str();
        // Non-ASCII characters are usually adjacent, so they are escaped without checking for plain
        // runs in between.
        while let Some(character) = chars.next().filter(|character| !character.is_ascii()) {
            unicode_escape(out, character);
            rest = chars.as_str();
        }
    }
    out.push(b'"');
}

/// Appends `key` as a quoted string.
pub(super) fn key(out: &mut Vec<u8>, key: &Key) {
    let bytes = key.as_bytes();
    if plain_len(bytes) < bytes.len() {
        return string(out, key.as_str());
    }
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    out.extend_from_slice(bytes);
    out.push(b'"');
}

/// Number of bytes examined together: one vector register.
const BLOCK: usize = 16;

/// Appends the longest prefix that consists of bytes that are plain or have a short form, as far as
/// a cheap test finds one, and returns its length.
///
/// Blocks are copied whole and the excess is cut off afterwards: most texts are short runs between
/// escapes, where calling `memcpy` for a few bytes costs more than copying a block.
fn copy_plain(out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let (blocks, tail) = bytes.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        let Some(first) = first_special(block) else {
            out.extend_from_slice(block);
            continue;
        };
        // No early exit: all bytes of the block are tested at once.
        if !block.iter().fold(true, |all, byte| all & (is_plain(*byte) | is_short(*byte))) {
            let len = out.len() + first;
            out.extend_from_slice(block);
            out.truncate(len);
            return number * BLOCK + first;
        }
        short_forms(out, block);
    }
    let plain = plain_len(tail);
    out.extend_from_slice(&tail[..plain]);
    bytes.len() - tail.len() + plain
}

/// Appends a block in which every byte is plain or has a short form. Branch-free, because the
/// positions of escapes in a text cannot be predicted.
fn short_forms(out: &mut Vec<u8>, block: &[u8; BLOCK]) {
    const ROOM: usize = 3 * BLOCK;
    let start = out.len();
    out.extend_from_slice(&[0; ROOM]);
    let forms = out.last_chunk_mut::<ROOM>().expect("the room was just made");
    let mut len = 0;
    for byte in block {
        let form = FORMS[usize::from(*byte & 0x7f)];
        // Each byte becomes at most two. The mask lets the compiler drop the bounds check.
        let at = len & (2 * BLOCK - 1);
        forms[at..at + 2].copy_from_slice(&form);
        len += 1 + usize::from(form[1] != 0);
    }
    out.truncate(start + len);
}

/// The output for each ASCII byte that is plain or has a short form: one byte and a zero, or two
/// bytes.
const FORMS: [[u8; 2]; 128] = {
    let mut forms = [[0; 2]; 128];
    let mut byte = 0;
    while byte < 128 {
        forms[byte as usize] = match short(byte as char) {
            Some(letter) => [b'\\', letter],
            None => [byte, 0],
        };
        byte += 1;
    }
    forms
};

/// Returns the position of the first byte that is not plain.
fn first_special(block: &[u8; BLOCK]) -> Option<usize> {
    // The compiler vectorizes this comparison.
    let special = block.map(|byte| if is_plain(byte) { 0 } else { u8::MAX });
    match u128::from_le_bytes(special) {
        0 => None,
        special => Some(special.trailing_zeros() as usize / 8),
    }
}

/// Returns how many bytes at the start can be copied as they are.
fn plain_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    for block in blocks {
        if let Some(first) = first_special(block) {
            return len + first;
        }
        len += BLOCK;
    }
    let tail = bytes.get(len..).unwrap_or_default();
    let (words, _) = tail.as_chunks::<8>();
    for word in words {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return len + special.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    // The last word may overlap the one before, whose bytes are known to be plain.
    if let Some(word) = bytes.last_chunk::<8>() {
        return match special_bytes(u64::from_le_bytes(*word)) {
            0 => bytes.len(),
            special => bytes.len() - 8 + special.trailing_zeros() as usize / 8,
        };
    }
    // Four to seven bytes fit into a word as two overlapping halves; this tests only whether all
    // are plain.
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let halves =
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
        if special_bytes(halves) == 0 {
            return bytes.len();
        }
    }
    bytes.iter().position(|&byte| !is_plain(byte)).unwrap_or(bytes.len())
}

/// Returns whether a byte is copied as it is: printable ASCII except `"` and `\`.
fn is_plain(byte: u8) -> bool {
    (byte.wrapping_sub(b' ') < 0x5f) & (byte != b'"') & (byte != b'\\')
}

/// Returns a word whose lowest set bit is the top bit of the first byte that is not plain.
///
/// Higher bits are meaningless: a borrow may carry from a special byte into its neighbour.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let equals = |byte: u8| {
        let difference = word ^ (ONES * u64::from(byte));
        difference.wrapping_sub(ONES) & !difference
    };
    (word | control | equals(b'"') | equals(b'\\') | equals(0x7f)) & TOPS
}

fn escape(out: &mut Vec<u8>, character: char) {
    match short(character) {
        Some(letter) => out.extend_from_slice(&[b'\\', letter]),
        None => unicode_escape(out, character),
    }
}

/// Returns the character after the backslash in a short form.
const fn short(character: char) -> Option<u8> {
    Some(match character {
        '"' => b'"',
        '\\' => b'\\',
        '\n' => b'n',
        '\t' => b't',
        '\r' => b'r',
        '\u{8}' => b'b',
        '\u{c}' => b'f',
        _ => return None,
    })
}

/// Returns whether a byte has a short form.
fn is_short(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte.wrapping_sub(8) < 6) & (byte != 0x0b)
}

fn unicode_escape(out: &mut Vec<u8>, character: char) {
    let mut units = [0; 2];
    match character.encode_utf16(&mut units) {
        [unit] => out.extend_from_slice(&code_unit(*unit)),
        units => units.iter().for_each(|unit| out.extend_from_slice(&code_unit(*unit))),
    }
}

/// Returns `\uXXXX`. All four digits are computed at once, one per byte of a word.
fn code_unit(unit: u16) -> [u8; 6] {
    const ONES: u32 = u32::from_be_bytes([1; 4]);
    let unit = u32::from(unit);
    let pairs = (unit & 0xff00) << 8 | unit & 0x00ff;
    let digits = (pairs << 4 | pairs) & (0x0f * ONES);
    let letters = (digits + 6 * ONES) >> 4 & ONES;
    let to_letter = u32::from(b'a' - b'0' - 10);
    let [a, b, c, d] = (digits + u32::from(b'0') * ONES + letters * to_letter).to_be_bytes();
    [b'\\', b'u', a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_written_as_python_writes_them() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(written(text), expect);
        }
        check("", r#""""#);
        check("Hello world", r#""Hello world""#);
        check("a/b", r#""a/b""#);
        check("a\n\t\r\u{8}\u{c}\0\u{1f}\u{7f}\"\\/", r#""a\n\t\r\b\f\u0000\u001f\u007f\"\\/""#);
        check("Grüße, 日本", r#""Gr\u00fc\u00dfe, \u65e5\u672c""#);
        check("ok 😀 𝄞", r#""ok \ud83d\ude00 \ud834\udd1e""#);
        check("\u{80}\u{2028}\u{ffff}\u{10ffff}", r#""\u0080\u2028\uffff\udbff\udfff""#);
    }

    #[test]
    fn every_special_byte_is_found_at_every_position() {
        for byte in 0..=0x7f_u8 {
            let mut alone = Vec::new();
            escape_or_copy(&mut alone, byte as char);
            let alone = String::from_utf8(alone).unwrap();
            for (before, after) in
                (0..70).flat_map(|before| [(before, 0), (before, 3), (before, 70)])
            {
                let (before, after) = ("~".repeat(before), " ".repeat(after));
                let text = format!("{before}{}{after}", byte as char);
                assert_eq!(written(&text), format!("\"{before}{alone}{after}\""), "{byte:#04x}");
            }
        }
    }

    /// The reference: escapes character by character, without blocks or words.
    fn escape_or_copy(out: &mut Vec<u8>, character: char) {
        match character {
            ' ' | '!' | '#'..='[' | ']'..='~' => out.push(character as u8),
            _ => escape(out, character),
        }
    }
}
