//! Limits on the size and depth of a text.

/// The deepest nesting of a parsed [`Value`](crate::Value), regardless of [`Limits::max_depth`].
///
/// Values are dropped, cloned and compared recursively; this bound keeps that within any stack. The
/// events of a [`Reader`](crate::Reader) are not values and may nest deeper.
pub const MAX_VALUE_DEPTH: usize = 1024;

/// Limits on a text; exceeding one is an error with the code `E_LIMIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of arrays and objects open at once; 256 by default.
    pub max_depth: usize,
    /// Maximum length of the whole text in bytes; 1 GiB by default.
    pub max_bytes: usize,
    /// Maximum length of one number in bytes; 4,300 by default, which is also CPython's limit for
    /// integers.
    pub max_number_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_depth: 256, max_bytes: 1 << 30, max_number_bytes: 4300 }
    }
}
