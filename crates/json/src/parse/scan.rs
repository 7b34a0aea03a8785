//! Searches the inside of a string, eight bytes at a time.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

/// Returns the number of bytes before the first `"`, `\` or control character.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return len + special.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + tail.iter().position(|&byte| is_special(byte)).unwrap_or(tail.len())
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Returns a word whose lowest set bit is the top bit of the first special byte.
///
/// Higher bits are meaningless: a borrow may carry from a special byte into its neighbour.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * b' ' as u64) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & TOPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_classified_alike_at_every_position() {
        for byte in 0..=u8::MAX {
            for before in 0..20 {
                let mut bytes = vec![b'a'; before];
                bytes.push(byte);
                bytes.extend([0xff; 20]);
                let expect = if is_special(byte) { before } else { before + 21 };
                assert_eq!(plain_len(&bytes), expect, "byte {byte:#04x} after {before} bytes");
            }
        }
    }
}
