//! Habits of clients that mark blocks for the prompt cache.

/// What the client does to a text that it wrote as a list to attach a breakpoint, once the
/// breakpoint has moved on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UnmarkedText {
    /// It stays a list, as far as the log shows.
    #[default]
    StaysList,
    /// It becomes a string again.
    BecomesString,
}
