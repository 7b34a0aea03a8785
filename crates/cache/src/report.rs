//! Two requests, compared.

use contextree_tree::Region;

use crate::cause::{Cause, Evidence};
use crate::prompt::Prompt;
use crate::rendered::common_prefix;

/// How much of a request can be read from the cache that the one before it left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// In bytes.
    pub bytes: Extent,
    /// In tokens: of whole spans only.
    pub tokens: Extent,
    /// What comes first behind the common beginning; nothing if the newer request merely goes on where the older one ended.
    pub broken: Option<Break>,
}

/// A request and its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The whole request.
    pub total: u64,
    /// What it has in common with the one before it.
    pub prefix: u64,
}

impl Extent {
    /// Returns the share of the prefix in thousandths, rounded down.
    #[must_use]
    pub fn per_mille(self) -> u64 {
        (self.prefix * 1000).checked_div(self.total).unwrap_or(0)
    }
}

/// Where two requests part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Break {
    /// The offset of the first byte that differs.
    pub offset: u64,
    /// The node that broke the prefix; nothing if it was none.
    pub node: Option<String>,
    /// What was done to it.
    pub cause: Cause,
    /// In which part of the request it stands.
    pub section: Section,
    /// Tokens of the older request that would have been read from the cache and are not.
    pub tokens_lost: u64,
}

/// A part of a request, as providers name them when they say why a cache was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// Tools and parameters: what belongs to no node.
    Envelope,
    /// The system text.
    System,
    /// The messages.
    Messages,
}

impl Section {
    /// Returns the word that providers use: `system_changed`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Section::Envelope => "tools_changed",
            Section::System => "system_changed",
            Section::Messages => "messages_changed",
        }
    }
}

/// Compares a request with the one before it.
#[must_use]
pub fn compare(before: &Prompt<'_>, after: &Prompt<'_>, evidence: &Evidence<'_>) -> Report {
    let (old, new) = (before.rendered(), after.rendered());
    let common = common_prefix(old.bytes(), new.bytes());
    let extent = |total: usize| Extent { total: total as u64, prefix: common as u64 };
    let report = Report {
        bytes: extent(new.bytes().len()),
        tokens: Extent { total: after.tokens(), prefix: after.tokens_before(common) },
        broken: None,
    };
    let (old_span, new_span) = (old.span_from(common), new.span_from(common));
    let grew = old_span == old.spans().len() && !old.spans().is_empty();
    if grew || old.bytes() == new.bytes() {
        return report;
    }
    let node = |span: Option<&crate::Span<'_>>| span.map(|span| span.node.to_owned());
    let (was, is) = (node(old.spans().get(old_span)), node(new.spans().get(new_span)));
    let slice = |rendered: &crate::Rendered<'_>, index: usize| {
        rendered.spans().get(index).map(|span| rendered.bytes()[span.start..span.end].to_vec())
    };
    // The same node in the same words: what differs stands before it.
    let envelope = was == is && slice(old, old_span) == slice(new, new_span);
    let (node, cause) = match envelope {
        true => (None, Cause::Envelope),
        false => {
            let (node, cause) = evidence.explain(was.as_deref(), is.as_deref());
            (node.map(str::to_owned), cause)
        }
    };
    let section = match &node {
        None => Section::Envelope,
        Some(id) => {
            let found = evidence.newer.get(id).or_else(|| evidence.older.get(id));
            match found.and_then(|node| node.region()) {
                Some(Region::Sys) => Section::System,
                _ => Section::Messages,
            }
        }
    };
    let tokens_lost = before.tokens() - before.tokens_before(common);
    let broken = Break { offset: common as u64, node, cause, section, tokens_lost };
    Report { broken: Some(broken), ..report }
}
