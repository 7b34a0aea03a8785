//! Limits on a single selector.
//!
//! The grammar has no construct that contains itself: the deepest nesting is a list of values in a
//! property block of a hop inside `within(…)`, four brackets. A fifth opening bracket is an error,
//! so ten thousand parentheses use no stack and need no depth limit. Limits are needed for the
//! length, the number of syntax nodes (one byte of text can cause a hundred bytes of tree) and the
//! number of reported errors.

/// Limits of one call to a parse function. Exceeding one is an error with code `E_LIMIT`, except
/// for `errors`, beyond which further errors are omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a text in bytes; values above `u32::MAX` count as that. Default: 1 MiB.
    pub text_bytes: usize,
    /// Maximum number of syntax nodes (steps, parts, filters, values, hops, depths, tags). Default:
    /// 16,384.
    pub nodes: usize,
    /// Maximum number of errors before the parser stops. Default: 16.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_bytes: 1 << 20, nodes: 1 << 14, errors: 16 }
    }
}

/// Maximum number of digits in a compared number, not counting sign and decimal point.
///
/// Integers outside comparisons (depths, offsets, snapshots, `:nth`, `@limit`) are bounded by
/// `i64`.
pub const MAX_NUMBER_DIGITS: usize = 36;
