//! Sizes as people write them.

/// Reads a number that may end with a unit: `10k` is 10,000, `1.5M` is 1,500,000, `8Ki` is 8,192.
/// `None` if it is not a whole number.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
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
    let plain = text.trim_end_matches('B');
    let unit =
        UNITS.into_iter().find_map(|(unit, factor)| Some((plain.strip_suffix(unit)?, factor)));
    let (digits, factor) = unit.unwrap_or((plain, 1));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let scale = 10_u64.pow(u32::try_from(part.len()).unwrap_or(0));
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let size = whole.checked_mul(factor)?.checked_add(part * factor / scale)?;
    (part * factor).is_multiple_of(scale).then_some(size)
}
