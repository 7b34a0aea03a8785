//! The grammar of numbers: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

/// The extent of a number in a text.
pub(crate) struct Shape {
    /// Length in bytes, at least one.
    pub(crate) len: usize,
    /// Whether there is neither a fraction nor an exponent.
    pub(crate) is_integer: bool,
}

/// Returns the extent of the number at the start of `bytes`, or the position of the first byte that
/// the grammar does not allow (the length of `bytes` if they end too early).
pub(crate) fn scan(bytes: &[u8]) -> Result<Shape, usize> {
    let at = |place: usize| bytes.get(place).copied();
    let mut len = usize::from(at(0) == Some(b'-'));
    if at(len) == Some(b'0') {
        len += 1;
        if at(len).is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(len);
        }
    } else {
        len = digits(bytes, len)?;
    }
    let mut is_integer = true;
    if at(len) == Some(b'.') {
        is_integer = false;
        len = digits(bytes, len + 1)?;
    }
    if matches!(at(len), Some(b'e' | b'E')) {
        is_integer = false;
        len += 1;
        if matches!(at(len), Some(b'+' | b'-')) {
            len += 1;
        }
        len = digits(bytes, len)?;
    }
    Ok(Shape { len, is_integer })
}

/// Returns the position after one or more digits that begin at `start`.
fn digits(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let tail = bytes.get(start..).unwrap_or_default();
    match tail.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(tail.len()) {
        0 => Err(start.min(bytes.len())),
        count => Ok(start + count),
    }
}

/// Parses an integer of at most 18 digits and returns it with its length; `None` for any other
/// text.
#[inline]
pub(super) fn scan_short_integer(bytes: &[u8]) -> Option<(i64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let sign_len = usize::from(negative);
    let mut size = 0;
    let mut len = sign_len;
    for &byte in bytes.get(sign_len..)? {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            if matches!(byte, b'.' | b'e' | b'E') {
                return None;
            }
            break;
        }
        if len == sign_len + 18 {
            return None;
        }
        size = size * 10 + i64::from(digit);
        len += 1;
    }
    // A lone `-` is not a number, and no digit may follow a leading zero.
    let leading_zero = bytes.get(sign_len) == Some(&b'0') && len > sign_len + 1;
    if len == sign_len || leading_zero {
        return None;
    }
    Some((if negative { -size } else { size }, len))
}
