//! Values: null, exact numbers, text.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// The right-hand side of a comparison.
///
/// A bare word and a quoted text are the same value, with one exception: bare `null` and `None` are
/// the null literal, quoted ones are text. `true` and `false` are text in either form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null` or `None`, unquoted.
    Null,
    /// `42`, `-1.5`.
    Number(Number),
    /// `'user'`, `"user"`, `user`.
    Text(Box<str>),
}

/// An exact decimal number of at most [`MAX_NUMBER_DIGITS`](crate::MAX_NUMBER_DIGITS) digits.
///
/// Numbers are compared by value, so `1.50` equals `1.5`; nothing is rounded, and nanoseconds stay
/// exact. The written form is kept with the value, because a text attribute is compared with the
/// text: `[id=007]` is not `[id=7]`.
#[derive(Clone, Debug)]
pub struct Number(Repr);

/// Small integers, which most numbers are, need no allocation.
///
/// Invariant: `Decimal` holds what `Integer` cannot, `Spelled` what was written differently from
/// how the value is printed; the last decimal is never zero.
#[derive(Clone, Debug)]
enum Repr {
    Integer(i64),
    Decimal(Box<Decimal>),
    Spelled(Box<(Decimal, Box<str>)>),
}

/// `coefficient · 10^-scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    coefficient: i128,
    scale: u32,
}

impl Number {
    /// Returns `coefficient · 10^-scale`, or `None` if that needs more digits than are allowed.
    pub fn new(coefficient: i128, scale: u32) -> Option<Self> {
        let (mut coefficient, mut scale) = (coefficient, scale);
        while scale > 0 && coefficient % 10 == 0 {
            coefficient /= 10;
            scale -= 1;
        }
        let digits = u32::try_from(crate::MAX_NUMBER_DIGITS).unwrap_or(u32::MAX);
        if scale > digits || coefficient.unsigned_abs() >= 10_u128.pow(digits) {
            return None;
        }
        Some(match i64::try_from(coefficient) {
            Ok(integer) if scale == 0 => Self(Repr::Integer(integer)),
            _ => Self(Repr::Decimal(Box::new(Decimal { coefficient, scale }))),
        })
    }

    /// Returns the number with its written form: `007`, `+1`, `1.50`.
    #[must_use]
    pub(crate) fn spelled(self, text: &str) -> Self {
        let (coefficient, scale) = self.parts();
        Self(Repr::Spelled(Box::new((Decimal { coefficient, scale }, text.into()))))
    }

    /// Returns the written form, or the printed value if there is none.
    pub fn written(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Spelled(spelled) => Cow::Borrowed(&spelled.1),
            Repr::Integer(_) | Repr::Decimal(_) => Cow::Owned(self.to_string()),
        }
    }

    /// Returns coefficient and scale: the number is `coefficient · 10^-scale`, the scale as small
    /// as possible.
    pub fn parts(&self) -> (i128, u32) {
        match &self.0 {
            Repr::Integer(integer) => (i128::from(*integer), 0),
            Repr::Decimal(decimal) => (decimal.coefficient, decimal.scale),
            Repr::Spelled(spelled) => (spelled.0.coefficient, spelled.0.scale),
        }
    }

    /// Returns the number if it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match (&self.0, self.parts()) {
            (Repr::Integer(integer), _) => Some(*integer),
            (Repr::Spelled(_), (coefficient, 0)) => i64::try_from(coefficient).ok(),
            _ => None,
        }
    }

    /// Returns the nearest double; large integers lose digits.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            #[expect(clippy::cast_precision_loss, reason = "documented")]
            Repr::Integer(integer) => *integer as f64,
            // The standard library rounds decimal text correctly, which arithmetic would not.
            Repr::Decimal(_) | Repr::Spelled(_) => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }
}

impl From<i64> for Number {
    fn from(integer: i64) -> Self {
        Self(Repr::Integer(integer))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        // The scale is as small as possible, so equal values have equal parts.
        self.parts() == other.parts()
    }
}

impl Eq for Number {}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((left, left_scale), (right, right_scale)) = (self.parts(), other.parts());
        // Whole parts first, then the fractions on a common scale: a fraction is below 10^scale, so
        // widening it stays below 10^MAX_NUMBER_DIGITS and cannot overflow.
        let (left_one, right_one) = (10_i128.pow(left_scale), 10_i128.pow(right_scale));
        let scale = left_scale.max(right_scale);
        let fraction =
            |number: i128, one: i128, from: u32| number.rem_euclid(one) * 10_i128.pow(scale - from);
        left.div_euclid(left_one).cmp(&right.div_euclid(right_one)).then_with(|| {
            fraction(left, left_one, left_scale).cmp(&fraction(right, right_one, right_scale))
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Number {
    /// Writes the value, regardless of its written form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (coefficient, scale) = self.parts();
        if scale == 0 {
            return write!(f, "{coefficient}");
        }
        let one = 10_u128.pow(scale);
        let sign = if coefficient < 0 { "-" } else { "" };
        let digits = coefficient.unsigned_abs();
        write!(f, "{sign}{}.{:0width$}", digits / one, digits % one, width = scale as usize)
    }
}
