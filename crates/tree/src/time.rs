//! Formats instants.

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// Returns nanoseconds since 1970 as UTC text with nine fraction digits:
/// `1970-01-01T00:00:00.000000001Z`.
///
/// Implemented here because it must not depend on a locale, a time zone or the choices of a
/// library, and because every 64-bit stamp must have a text.
#[must_use]
pub fn iso(nanoseconds: i64) -> String {
    let mut out = Vec::with_capacity(30);
    write_iso(&mut out, nanoseconds);
    out.into_iter().map(char::from).collect()
}

/// Like [`iso`], but appends to a buffer.
pub fn write_iso(out: &mut Vec<u8>, nanoseconds: i64) {
    let seconds = nanoseconds.div_euclid(NANOS);
    let fraction = nanoseconds.rem_euclid(NANOS);
    let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    // Years of 64-bit nanoseconds have four digits: 1677 to 2262.
    digits(out, year, 4, b'-');
    digits(out, month, 2, b'-');
    digits(out, day, 2, b'T');
    digits(out, of_day / 3600, 2, b':');
    digits(out, of_day / 60 % 60, 2, b':');
    digits(out, of_day % 60, 2, b'.');
    digits(out, fraction, 9, b'Z');
}

fn digits(out: &mut Vec<u8>, value: i64, width: u32, after: u8) {
    for place in (0..width).rev() {
        let digit = u8::try_from(value / 10_i64.pow(place) % 10).expect("a decimal digit");
        out.push(b'0' + digit);
    }
    out.push(after);
}

/// Returns year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian
/// calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years start in March, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn stamps_have_their_iso_mirror() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(iso(1_724_670_000_000_000_003), "2024-08-26T11:00:00.000000003Z");
        assert_eq!(iso(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(iso(951_782_400_000_000_000), "2000-02-29T00:00:00.000000000Z");
        assert_eq!(iso(i64::MAX), "2262-04-11T23:47:16.854775807Z");
    }
}
