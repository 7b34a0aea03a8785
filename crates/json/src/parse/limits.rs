//! What a text may cost at most.

/// The deepest nesting of a parsed [`Value`](crate::Value), whatever [`Limits::max_depth`] says.
///
/// Values are dropped, cloned and compared by recursion; this bound keeps that within any stack. The
/// events of a [`Reader`](crate::Reader) are not values and may nest deeper.
pub const MAX_VALUE_DEPTH: usize = 1024;

/// Bounds on a text; going beyond one is an error with the code `E_LIMIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many arrays and objects may be open at once; 256 by default.
    pub max_depth: usize,
    /// The length of the whole text in bytes; 1 GiB by default.
    pub max_bytes: usize,
    /// The length of one number in bytes; 4,300 by default, where CPython too stops to read integers.
    pub max_number_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_depth: 256, max_bytes: 1 << 30, max_number_bytes: 4300 }
    }
}
