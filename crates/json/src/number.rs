//! Numbers as written: integers of any size are exact, everything else is a double.
//!
//! Whether a number is an integer is decided by its text, as in Python: `1` is an integer, `1.0`
//! and `1e0` are doubles. `-0` is the integer 0 and `-0.0` is the double −0.0.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::parse::number as grammar;

/// A JSON number.
///
/// Equality is equality of the canonical text, so it keeps `1` and `1.0` apart; use
/// [`compare`](Number::compare) for the numeric order.
#[derive(Clone, Debug)]
pub struct Number {
    repr: Repr,
}

/// The three representations of a number. `Big` is used only where `Int` does not fit, so each
/// number has exactly one representation.
#[derive(Clone, Debug)]
pub(crate) enum Repr {
    Int(i64),
    /// Decimal digits without leading zeros, after `-` if negative; always outside the `i64` range.
    Big(Box<str>),
    /// Always finite.
    Float(f64),
}

impl Number {
    /// Returns the integer as a number.
    pub fn from_i64(integer: i64) -> Self {
        Number { repr: Repr::Int(integer) }
    }

    /// Returns the integer as a number.
    pub fn from_u64(integer: u64) -> Self {
        match i64::try_from(integer) {
            Ok(integer) => Self::from_i64(integer),
            Err(_) => Number { repr: Repr::Big(integer.to_string().into_boxed_str()) },
        }
    }

    /// Returns the double as a number, or `None` if it is NaN or infinite.
    pub fn from_f64(float: f64) -> Option<Self> {
        float.is_finite().then_some(Number { repr: Repr::Float(float) })
    }

    /// Parses a JSON integer of any length: `-?(0|[1-9][0-9]*)`.
    pub fn from_integer_text(text: &str) -> Option<Self> {
        Self::parse(text).filter(Number::is_integer)
    }

    /// Parses a JSON number. Returns `None` if `text` is anything else, contains whitespace, or is
    /// a double out of range (`1e400`).
    pub fn parse(text: &str) -> Option<Self> {
        match grammar::scan(text.as_bytes()) {
            Ok(shape) if shape.len == text.len() => Self::from_scanned(text, shape.is_integer),
            _ => None,
        }
    }

    /// Returns the number for a text that is known to follow the grammar; `None` only if it is a
    /// double out of range.
    pub(crate) fn from_scanned(text: &str, is_integer: bool) -> Option<Self> {
        if !is_integer {
            return text.parse().ok().and_then(Self::from_f64);
        }
        Some(match text.parse() {
            Ok(integer) => Self::from_i64(integer),
            Err(_) => Number { repr: Repr::Big(text.into()) },
        })
    }

    /// Returns an upper bound on the length of the canonical text in bytes.
    pub(crate) fn canonical_bound(&self) -> usize {
        match &self.repr {
            Repr::Big(digits) => digits.len(),
            // `-9223372036854775808`, `-2.2250738585072014e-308`.
            Repr::Int(_) | Repr::Float(_) => 24,
        }
    }

    /// Returns whether this is an integer; `1.0` is not.
    pub fn is_integer(&self) -> bool {
        !matches!(self.repr, Repr::Float(_))
    }

    /// Returns the integer if this is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.repr {
            Repr::Int(integer) => Some(integer),
            _ => None,
        }
    }

    /// Returns the integer if this is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.repr {
            Repr::Int(integer) => u64::try_from(*integer).ok(),
            Repr::Big(digits) => digits.parse().ok(),
            Repr::Float(_) => None,
        }
    }

    /// Returns the nearest double, which is infinite for integers beyond the range of doubles.
    pub fn as_f64(&self) -> f64 {
        match &self.repr {
            Repr::Int(integer) => *integer as f64,
            Repr::Big(digits) => digits.parse().unwrap_or(f64::NAN),
            Repr::Float(float) => *float,
        }
    }

    /// Compares by numeric value, exactly: neither side is rounded to a double first.
    ///
    /// `1` equals `1.0` here, and `-0.0` equals `0`.
    pub fn compare(&self, other: &Number) -> Ordering {
        match (&self.repr, &other.repr) {
            (Repr::Int(left), Repr::Int(right)) => left.cmp(right),
            (Repr::Int(_), Repr::Big(right)) => sign_of(right).reverse(),
            (Repr::Big(left), Repr::Int(_)) => sign_of(left),
            (Repr::Big(left), Repr::Big(right)) => compare_digits(left, right),
            (Repr::Float(left), Repr::Float(right)) => compare_floats(*left, *right),
            (Repr::Int(left), Repr::Float(right)) => compare_int_float(*left, *right),
            (Repr::Float(left), Repr::Int(right)) => compare_int_float(*right, *left).reverse(),
            (Repr::Big(left), Repr::Float(right)) => compare_big_float(left, *right),
            (Repr::Float(left), Repr::Big(right)) => compare_big_float(right, *left).reverse(),
        }
    }

    pub(crate) fn repr(&self) -> &Repr {
        &self.repr
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (&self.repr, &other.repr) {
            (Repr::Int(left), Repr::Int(right)) => left == right,
            (Repr::Big(left), Repr::Big(right)) => left == right,
            (Repr::Float(left), Repr::Float(right)) => left.to_bits() == right.to_bits(),
            _ => false,
        }
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.repr {
            Repr::Int(integer) => (0u8, integer).hash(state),
            Repr::Big(digits) => (1u8, digits).hash(state),
            Repr::Float(float) => (2u8, float.to_bits()).hash(state),
        }
    }
}

/// Compares a big integer, which is always outside the `i64` range, with any `i64`.
fn sign_of(digits: &str) -> Ordering {
    if digits.starts_with('-') { Ordering::Less } else { Ordering::Greater }
}

/// Compares two integers in canonical decimal text.
fn compare_digits(left: &str, right: &str) -> Ordering {
    let by_size = |left: &str, right: &str| left.len().cmp(&right.len()).then(left.cmp(right));
    match (left.strip_prefix('-'), right.strip_prefix('-')) {
        (None, None) => by_size(left, right),
        (Some(left), Some(right)) => by_size(right, left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

/// Compares finite doubles; −0.0 and 0.0 are equal.
fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

fn compare_int_float(integer: i64, float: f64) -> Ordering {
    // 2^63 and −2^63 are representable as doubles, so both bounds are exact.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        return Ordering::Less;
    }
    if float < -LIMIT {
        return Ordering::Greater;
    }
    let whole = float.trunc();
    integer.cmp(&(whole as i64)).then_with(|| compare_floats(whole, float))
}

fn compare_big_float(digits: &str, float: f64) -> Ordering {
    // From 2^53 on every double is an integer, and `{:.0}` writes its exact digits. Below that the
    // sign of the big integer decides, because it lies outside the `i64` range.
    if float.abs() < 9_007_199_254_740_992.0 {
        return sign_of(digits);
    }
    compare_digits(digits, &format!("{float:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).expect(text)
    }

    #[test]
    fn comparison_is_exact_across_representations() {
        #[track_caller]
        fn check(left: &str, right: &str, expect: Ordering) {
            assert_eq!(number(left).compare(&number(right)), expect, "{left} against {right}");
            assert_eq!(number(right).compare(&number(left)), expect.reverse(), "{right}, {left}");
        }
        use Ordering::{Equal, Less};
        check("1", "2", Less);
        check("1", "1.0", Equal);
        check("0", "-0.0", Equal);
        check("-0.0", "0.0", Equal);
        check("1", "1.5", Less);
        check("-1.5", "-1", Less);
        check("9007199254740992.0", "9007199254740993", Less);
        check("1724670000000000000", "1724670000000000001", Less);
        check("1.724670000000000e18", "1724670000000000001", Less);
        check("9223372036854775807", "9223372036854775808.0", Less);
        check("9223372036854775808", "9223372036854775808.0", Equal);
        check("-9223372036854775808", "-9223372036854775808.0", Equal);
        check("-9223372036854775809", "-9223372036854775808.0", Less);
        check("9223372036854775807", "9223372036854775808", Less);
        check("-9223372036854775809", "-9223372036854775808", Less);
        check("99999999999999999999", "100000000000000000000", Less);
        check("-100000000000000000000", "-99999999999999999999", Less);
        check("-100000000000000000000", "99999999999999999999", Less);
        check("100000000000000000000", "1e20", Equal);
        check("1e20", "100000000000000000001", Less);
        check("-100000000000000000001", "-1e20", Less);
        check("0.5", "100000000000000000001", Less);
        check("1e308", &format!("1{}", "0".repeat(400)), Less);
    }

    #[test]
    fn each_integer_has_one_representation() {
        assert_eq!(number("-0"), Number::from_i64(0));
        assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
        assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
        assert_eq!(number("18446744073709551615"), Number::from_u64(u64::MAX));
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(number("18446744073709551616").as_u64(), None);
        assert_eq!(number("1.0").as_i64(), None, "a double is not an integer");
        assert_ne!(number("1.0"), number("1"));
        assert_ne!(number("-0.0"), number("0.0"));
    }

    #[test]
    fn text_that_is_not_a_number_is_rejected() {
        for text in
            ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", " 1", "1 ", "NaN", "1e400", "0x1"]
        {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::from_integer_text("1.0"), None);
        assert_eq!(Number::from_f64(f64::NAN), None);
        assert_eq!(Number::from_f64(f64::NEG_INFINITY), None);
    }
}
