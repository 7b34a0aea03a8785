//! Times as logs write them: RFC 3339, or numbers of seconds, milliseconds, microseconds or
//! nanoseconds since 1970.

use contextree_json::{Object, Value};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Fields with the time of an entry, most exact first.
const NAMES: [&str; 8] =
    ["timestamp", "ts", "time", "created_at", "createdAt", "logged_at", "start_time", "created"];

/// Returns the time of an entry in nanoseconds, if one of its fields has it.
pub(crate) fn time_of(entry: &Object) -> Option<i64> {
    NAMES.iter().find_map(|name| read(entry.get(name)?))
}

/// Reads a time. A text without an offset is in UTC.
pub(crate) fn read(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => read_text(text),
        Value::Number(_) => from_number(value.as_i64(), value.as_f64()?),
        _ => None,
    }
}

fn read_text(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return i64::try_from(time.as_nanosecond()).ok();
    }
    if let Ok(civil) = text.parse::<DateTime>() {
        let time = civil.to_zoned(TimeZone::UTC).ok()?.timestamp();
        return i64::try_from(time.as_nanosecond()).ok();
    }
    let integer = text.parse::<i64>().ok();
    from_number(integer, text.parse::<f64>().ok()?)
}

/// Reads a number by its magnitude: seconds until the year 5138, then finer units.
fn from_number(integer: Option<i64>, number: f64) -> Option<i64> {
    let unit = match number {
        number if !number.is_finite() || number < 1e8 => return None,
        number if number < 1e11 => 1_000_000_000,
        number if number < 1e14 => 1_000_000,
        number if number < 1e17 => 1_000,
        number if number < 9e18 => 1,
        _ => return None,
    };
    if let Some(integer) = integer {
        return integer.checked_mul(unit);
    }
    // Fractions of a second: doubles have microseconds at best.
    let micros = (number * (unit as f64 / 1_000.0)).round();
    #[expect(clippy::cast_possible_truncation, reason = "it is below 9e15")]
    let micros = micros as i64;
    micros.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<i64>) {
        let value = contextree_json::parse(text.as_bytes()).expect("it is JSON");
        assert_eq!(read(&value), expected, "{text}");
    }

    #[test]
    fn times_are_read_in_every_unit() {
        let second = 1_780_254_715_000_000_000;
        check(r#""2026-05-31T19:11:55Z""#, Some(second));
        check(r#""2026-05-31T21:11:55.241+02:00""#, Some(second + 241_000_000));
        check(r#""2026-05-31T19:11:55.241""#, Some(second + 241_000_000));
        check(r#""2026-05-31 19:11:55""#, Some(second));
        check("1780254715", Some(second));
        check("1780254715.25", Some(second + 250_000_000));
        check("1780254715241", Some(second + 241_000_000));
        check("1780254715241000000", Some(second + 241_000_000));
        check(r#""1780254715241000000""#, Some(second + 241_000_000));
    }

    #[test]
    fn anything_else_is_not_a_time() {
        for text in ["12", "-1780254715", "1e30", "null", "[]", r#""soon""#, r#""12""#, "true"] {
            check(text, None);
        }
    }
}
