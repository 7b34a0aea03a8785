//! What a single selector may cost.
//!
//! The grammar has no construct that contains itself: the deepest nesting is a list of values in a
//! property block of a hop inside `within(…)`, four brackets. A fifth opening bracket is an error where
//! it stands, so ten thousand parentheses cost no stack and need no depth limit. What does need a limit
//! is length, the number of syntax nodes (one byte of text can ask for a hundred bytes of tree) and the
//! number of errors reported.

/// Limits of one call to a parse function. Exceeding one is an error with code `E_LIMIT`, except for
/// `errors`, where the rest of the errors is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest accepted text in bytes; values above `u32::MAX` count as that. Default: 1 MiB.
    pub text_bytes: usize,
    /// Most syntax nodes (steps, parts, filters, values, hops, depths, tags). Default: 16,384.
    pub nodes: usize,
    /// Most errors collected before the parser stops looking for more. Default: 16.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_bytes: 1 << 20, nodes: 1 << 14, errors: 16 }
    }
}

/// Most digits of a number in a comparison, sign and decimal point not counted.
///
/// Integers outside comparisons (depths, offsets, snapshots, `:nth`, `@limit`) are bounded by `i64`.
pub const MAX_NUMBER_DIGITS: usize = 36;
