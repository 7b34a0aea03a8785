//! Compares two requests.

use contextree_provider::{List, Span};
use contextree_tree::Region;

use crate::cause::{Cause, Evidence};
use crate::prompt::Prompt;
use crate::reason::Reason;
use crate::rendered::{Rendered, common_prefix};
use crate::rules::CacheRules;
use crate::settings::{Changed, Reach, Settings};

/// How much of a request can be read from the cache entries of the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// In bytes, regardless of settings.
    pub bytes: Extent,
    /// In tokens: whole spans, and the beginning of the next one if the provider compares tokens
    /// rather than blocks.
    pub tokens: Extent,
    /// The first difference; `None` if the newer request extends the older one.
    pub broken: Option<Break>,
}

/// The size of a request and of its prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The whole request.
    pub total: u64,
    /// The prefix that it shares with the previous request.
    pub prefix: u64,
}

impl Extent {
    /// Returns the share of the prefix in thousandths, rounded down.
    #[must_use]
    pub fn per_mille(self) -> u64 {
        (self.prefix * 1000).checked_div(self.total).unwrap_or(0)
    }
}

/// The first difference between two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Break {
    /// The offset of the first byte that differs.
    pub offset: u64,
    /// The node that broke the prefix; `None` if it was not a node.
    pub node: Option<String>,
    /// Its path in the JSON of the newer request, or of the older one if it was removed; for a
    /// setting, its name.
    pub path: Option<String>,
    /// What happened.
    pub cause: Cause,
    /// The part of the request that changed.
    pub reason: Reason,
    /// The tokens of the older request that could have been read from the cache.
    pub tokens_lost: u64,
}

/// Compares a request with the previous one. Both must be measured with the same tokenizer.
#[must_use]
pub fn compare(
    before: &Prompt<'_>,
    after: &Prompt<'_>,
    evidence: &Evidence<'_>,
    rules: &CacheRules,
) -> Report {
    let common = common_prefix(before.rendered().bytes(), after.rendered().bytes());
    let settings = |prompt: &Prompt<'_>| Settings::of(prompt.rendered(), Some(rules.name));
    let difference = Difference {
        common,
        changed: settings(after).changed_since(&settings(before)),
        broken: break_of(before.rendered(), after.rendered(), evidence, common),
    };
    difference.report(after, before.tokens(), rules)
}

/// How two requests differ.
pub(crate) struct Difference {
    /// The number of bytes that they share.
    pub(crate) common: usize,
    /// The setting that changed.
    pub(crate) changed: Option<Changed>,
    /// The first difference in content.
    pub(crate) broken: Option<Break>,
}

impl Difference {
    /// Measures the difference, in tokens of the newer request. `before` is the number of tokens of
    /// the older one.
    pub(crate) fn report(self, after: &Prompt<'_>, before: u64, rules: &CacheRules) -> Report {
        let Difference { common, changed, broken } = self;
        let mut prefix = after.tokens_before(common);
        if rules.compares_tokens() {
            prefix += after.tokens_within(common);
        }
        let broken = match &changed {
            // If such a setting changed, nothing can be read, whatever else differs.
            Some(changed) if changed.reach == Reach::All => {
                prefix = 0;
                Some(of_setting(changed, common))
            }
            Some(changed) => {
                let spans = after.rendered().spans();
                let messages = spans.partition_point(|span| span.slot.list != List::Messages);
                prefix = prefix.min(after.tokens_until(messages));
                let earlier =
                    |broken: &Break| matches!(broken.reason, Reason::Tools | Reason::System);
                broken.filter(earlier).or_else(|| Some(of_setting(changed, common)))
            }
            None => broken,
        };
        let tokens_lost = before.saturating_sub(prefix);
        Report {
            bytes: Extent { total: after.rendered().bytes().len() as u64, prefix: common as u64 },
            tokens: Extent { total: after.tokens(), prefix: prefix.min(after.tokens()) },
            broken: broken.map(|broken| Break { tokens_lost, ..broken }),
        }
    }
}

fn of_setting(changed: &Changed, common: usize) -> Break {
    Break {
        offset: common as u64,
        node: None,
        path: Some(changed.path.clone()),
        cause: Cause::Setting { name: changed.path.clone() },
        reason: changed.reason,
        tokens_lost: 0,
    }
}

/// The least number of bytes of content that is recognized at another position. Shorter content
/// occurs more than once.
const LEAST_MOVED: usize = 64;

/// Returns the first difference between two conversations; `None` if the newer one extends the
/// older one.
pub(crate) fn break_of(
    old: &Rendered<'_>,
    new: &Rendered<'_>,
    evidence: &Evidence<'_>,
    common: usize,
) -> Option<Break> {
    let (old_index, new_index) = (old.span_from(common), new.span_from(common));
    let grew = old_index == old.spans().len() && !old.spans().is_empty();
    if grew || old.bytes() == new.bytes() {
        return None;
    }
    let (was, is) = (old.spans().get(old_index), new.spans().get(new_index));
    let node = |span: Option<&Span>| span.map(|span| span.node.to_string());
    // The same content further on, in another node: it was removed and added again.
    let moved = was.filter(|was| {
        let (bytes, later) = (old.bytes_of(was), new.spans().get(new_index..).unwrap_or_default());
        let is_copy = |span: &Span| span.node != was.node && new.bytes_of(span) == bytes;
        bytes.len() >= LEAST_MOVED
            && evidence.newer.get(&was.node).is_none()
            && later.iter().any(is_copy)
    });
    // The same node with the same bytes: the difference is before it.
    let envelope = node(was) == node(is)
        && was.map(|span| old.bytes_of(span)) == is.map(|span| new.bytes_of(span));
    let (node, cause) = match envelope {
        true => (None, Cause::Envelope),
        false if moved.is_some() => (node(moved), Cause::Moved),
        false => {
            let sent =
                |id: &str| old.spans().iter().chain(new.spans()).any(|span| &*span.node == id);
            let ids = (was.map(|span| &*span.node), is.map(|span| &*span.node));
            evidence.explain(ids.0, ids.1, sent)
        }
    };
    // The path of the node, if it is one of the two; a node that is merged into another has the
    // path of that one.
    let own = |span: &&Span| node.as_deref() == Some(&*span.node);
    let place = is.filter(own).or(was.filter(own)).or(is).or(was);
    let path = is.and_then(|span| new.path(span)).or_else(|| old.path(was?));
    let in_system = node.as_deref().is_some_and(|id| {
        let found = evidence.newer.get(id).or_else(|| evidence.older.get(id));
        found.and_then(|node| node.region()) == Some(Region::Sys)
    });
    let reason = match place.map(|span| span.slot.list) {
        Some(List::Tools) => Reason::Tools,
        Some(List::System) => Reason::System,
        _ if in_system => Reason::System,
        _ => Reason::Messages,
    };
    Some(Break { offset: common as u64, node, path, cause, reason, tokens_lost: 0 })
}
