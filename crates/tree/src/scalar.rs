//! Offsets and priorities: integers, or on import any number.

use std::cmp::Ordering;

use contextree_json::Number;

/// A number in a header: an exact integer, or a finite fraction from an import.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// A finite floating-point number; never NaN.
    Float(f64),
}

impl Scalar {
    /// The default of every numeric header.
    pub const ZERO: Scalar = Scalar::Int(0);

    /// Returns the integer, or `None` for a fraction.
    #[must_use]
    pub fn as_int(self) -> Option<i64> {
        match self {
            Scalar::Int(value) => Some(value),
            Scalar::Float(_) => None,
        }
    }

    /// Returns the number as JSON.
    #[must_use]
    pub fn to_number(self) -> Number {
        match self {
            Scalar::Int(value) => Number::from_i64(value),
            Scalar::Float(value) => {
                Number::from_f64(value).expect("a scalar is never NaN or infinite")
            }
        }
    }

    /// Returns the sign: −1, 0 or 1. It distinguishes pre-context, core and post-context.
    #[must_use]
    pub fn signum(self) -> i64 {
        match self {
            Scalar::Int(value) => value.signum(),
            Scalar::Float(value) if value > 0.0 => 1,
            Scalar::Float(value) if value < 0.0 => -1,
            Scalar::Float(_) => 0,
        }
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::Int(value)
    }
}

/// Numeric order; `1` and `1.0` are the same number.
impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Scalar::Int(left), Scalar::Int(right)) => left.cmp(right),
            // Exact even beyond 2^53, where floating point would round.
            _ => self.to_number().compare(&other.to_number()),
        }
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scalar {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_fractions_have_one_order() {
        let big = 9_007_199_254_740_993;
        assert!(Scalar::Int(big) > Scalar::Float(9_007_199_254_740_992.0));
        assert!(Scalar::Float(0.5) > Scalar::Int(0));
        assert_eq!(Scalar::Int(1), Scalar::Float(1.0));
        assert_eq!(Scalar::Float(-0.0).signum(), 0);
    }
}
