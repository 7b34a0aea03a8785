//! Addresses of states and sizes, as they are written on the command line.

use contextree_app::{Address, InvalidAddress, Range};

/// Reads `@`, `@t0`, `@t-3`, `@c12` or `12`.
pub(crate) fn parse_address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|error: InvalidAddress| error.to_string())
}

/// Reads `A..B`, or a single address.
pub(crate) fn parse_range(text: &str) -> Result<Range, String> {
    text.parse().map_err(|error: InvalidAddress| error.to_string())
}

/// Reads a number that may end with a unit: `10k` is 10,000, `1.5M` is 1,500,000, `8Ki` is 8,192.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("k", 1_000),
        ("K", 1_000),
        ("m", 1_000_000),
        ("M", 1_000_000),
        ("g", 1_000_000_000),
        ("G", 1_000_000_000),
    ];
    let wrong =
        || format!("`{text}` is not a size; write for example `8000`, `10k`, `1.5M` or `8Ki`");
    let plain = text.trim_end_matches('B');
    let unit =
        UNITS.into_iter().find_map(|(unit, factor)| Some((plain.strip_suffix(unit)?, factor)));
    let (digits, factor) = unit.unwrap_or((plain, 1));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > 6 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let scale = 10_u64.pow(u32::try_from(part.len()).unwrap_or(0));
    let part: u64 = if part.is_empty() { 0 } else { part.parse().map_err(|_| wrong())? };
    let size = whole.checked_mul(factor).and_then(|whole| whole.checked_add(part * factor / scale));
    match (part * factor) % scale {
        0 => size.ok_or_else(wrong),
        // Half a byte.
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("0", 0),
            ("8000", 8_000),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1.5M", 1_500_000),
            ("8Ki", 8_192),
            ("1.5KiB", 1_536),
            ("20kB", 20_000),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "k", "10x", "-1", "1.5", "ten", "99999999999999999999", ".5k", "1.k5"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
