//! Compares numbers exactly, regardless of how they were written.

use std::cmp::Ordering;

use contextree_json as json;
use contextree_selector as selector;

/// A number without rounding: an integer, or a decimal of any length.
#[derive(Clone, Debug)]
pub enum Exact {
    /// A 64-bit integer; nearly every number is one.
    Int(i64),
    /// Anything else.
    Decimal(Box<Decimal>),
}

/// `±0.d₁d₂d₃… · 10^point`; the first and the last digit are not zero, and zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    digits: Box<[u8]>,
    point: i64,
}

impl Exact {
    /// Parses a JSON number; returns `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        json::Number::parse(text).map(|number| Self::from_json(&number))
    }

    /// Returns a number of a document. A double is the shortest decimal that reads back as it, so
    /// that `[priority=0.1]` finds a stored `0.1`.
    pub fn from_json(number: &json::Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Int(integer),
            None => {
                let mut text = Vec::new();
                json::write::number(&mut text, number);
                Self::Decimal(Box::new(Decimal::from_ascii(&text)))
            }
        }
    }

    /// Returns a number of a selector.
    pub fn from_literal(number: &selector::Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Int(integer),
            None => Self::Decimal(Box::new(Decimal::from_ascii(number.to_string().as_bytes()))),
        }
    }

    fn to_decimal(&self) -> Decimal {
        match self {
            Self::Int(integer) => Decimal::from_ascii(integer.to_string().as_bytes()),
            Self::Decimal(decimal) => (**decimal).clone(),
        }
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left.cmp(right),
            (left, right) => left.to_decimal().cmp(&right.to_decimal()),
        }
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl Decimal {
    /// Parses `-12.50e+3`, ignoring bytes that cannot be part of a number, which do not occur.
    fn from_ascii(text: &[u8]) -> Self {
        let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&text[..at], exponent(&text[at + 1..])),
            None => (text, 0),
        };
        let negative = mantissa.first() == Some(&b'-');
        let whole = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
        let digit_count =
            |bytes: &[u8]| bytes.iter().filter(|byte| byte.is_ascii_digit()).count() as i64;
        let mut point = digit_count(&mantissa[..whole]) + exponent;
        let digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        let trailing = digits.iter().rev().take_while(|digit| **digit == b'0').count();
        point -= leading as i64;
        if leading == digits.len() {
            return Decimal { negative: false, digits: Box::default(), point: 0 };
        }
        Decimal { negative, digits: digits[leading..digits.len() - trailing].into(), point }
    }
}

fn exponent(text: &[u8]) -> i64 {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let size = digits.fold(0_i64, |sum, digit| sum.saturating_mul(10) + i64::from(digit - b'0'));
    if text.first() == Some(&b'-') { -size } else { size }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = |left: &Self, right: &Self| {
            // Digits without leading zeros compare like fractions: as text, where a prefix is
            // smaller.
            left.point.cmp(&right.point).then_with(|| left.digits.cmp(&right.digits))
        };
        sign(self)
            .cmp(&sign(other))
            .then_with(|| if self.negative { size(other, self) } else { size(self, other) })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value_and_exactly() {
        let exact = |text: &str| Exact::from_text(text).unwrap();
        let rising = [
            "-1e30",
            "-12.5",
            "-12",
            "-0.001",
            "0",
            "1e-7",
            "0.1",
            "0.11",
            "1",
            "9",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e16",
            "10000000000000001",
            "1e300",
        ];
        for (at, left) in rising.iter().enumerate() {
            for (other, right) in rising.iter().enumerate() {
                assert_eq!(exact(left).cmp(&exact(right)), at.cmp(&other), "{left} and {right}");
            }
        }
        assert_eq!(exact("1.0"), exact("1"));
        assert_eq!(exact("-0.0"), exact("0"));
        assert_eq!(exact("1e2"), exact("100"));
        assert!(Exact::from_text("ten").is_none());
    }
}
