//! Options of ranges.

use std::str::FromStr;

/// Options of a range; selectors without one ignore them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeOptions {
    /// Whether to attach a `content_diff` to every node whose content hash changed.
    pub include_content: bool,
    /// How contents are compared.
    pub content_mode: ContentMode,
    /// Lines of context in a unified diff. Default: 3.
    pub context_lines: usize,
    /// Fields to include with a changed node, from both sides.
    pub materialize: Vec<Materialize>,
    /// Maximum number of snapshots to compare; the newest are kept.
    pub max_snapshots: Option<usize>,
    /// Maximum number of entries in one block: added, removed and changed ones together.
    pub max_changes_per_snapshot: Option<usize>,
}

impl Default for RangeOptions {
    fn default() -> Self {
        Self {
            include_content: false,
            content_mode: ContentMode::Unified,
            context_lines: 3,
            materialize: Vec::new(),
            max_snapshots: None,
            max_changes_per_snapshot: None,
        }
    }
}

/// How two contents are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContentMode {
    /// A unified diff of lines.
    #[default]
    Unified,
    /// A JSON patch (RFC 6902).
    JsonPatch,
    /// Runs of words and whitespace.
    Tokens,
}

impl ContentMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Unified, Self::JsonPatch, Self::Tokens];

    /// Returns the mode's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unified => "unified",
            Self::JsonPatch => "jsonpatch",
            Self::Tokens => "tokens",
        }
    }
}

impl FromStr for ContentMode {
    type Err = UnknownContentMode;

    fn from_str(text: &str) -> Result<Self, UnknownContentMode> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| UnknownContentMode(text.chars().take(32).collect()))
    }
}

/// The error for an unknown content mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown content mode `{0}`; expected `unified`, `jsonpatch` or `tokens`")]
pub struct UnknownContentMode(pub Box<str>);

/// A field that can be included with a changed node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Materialize {
    /// The content.
    Content,
    /// The attribute `mime`, or `content_mime`.
    Mime,
    /// The attribute `encoding`, or `content_encoding`.
    Encoding,
    /// The content hash.
    ContentHash,
}

impl Materialize {
    /// All fields.
    pub const ALL: [Self; 4] = [Self::Content, Self::Mime, Self::Encoding, Self::ContentHash];

    /// Returns the field's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Mime => "mime",
            Self::Encoding => "encoding",
            Self::ContentHash => "content_hash",
        }
    }
}
