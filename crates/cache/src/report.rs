//! Two requests, compared.

use contextree_provider::{List, Span};
use contextree_tokens::Tokenizer;
use contextree_tree::Region;

use crate::cause::{Cause, Evidence};
use crate::prompt::Prompt;
use crate::reason::Reason;
use crate::rendered::common_prefix;
use crate::rules::CacheRules;
use crate::settings::{Changed, Reach, Settings};

/// How much of a request can be read from the cache that the one before it left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// In bytes, whatever the settings are.
    pub bytes: Extent,
    /// In tokens: of whole spans, and of the beginning of the next one if the provider compares tokens and not blocks.
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
    /// Where that is in the JSON: of the newer request, or of the older one if there is nothing in its place. The name of a setting.
    pub path: Option<String>,
    /// What was done.
    pub cause: Cause,
    /// In which part of the request.
    pub reason: Reason,
    /// Tokens of the older request that would have been read from the cache and are not.
    pub tokens_lost: u64,
}

/// Compares a request with the one before it. Both are counted by `tokenizer`.
#[must_use]
pub fn compare(
    before: &Prompt<'_>,
    after: &Prompt<'_>,
    evidence: &Evidence<'_>,
    rules: &CacheRules,
    tokenizer: Tokenizer,
) -> Report {
    let common = common_prefix(before.rendered().bytes(), after.rendered().bytes());
    let settings = |prompt: &Prompt<'_>| Settings::of(prompt.rendered(), Some(rules.name));
    let changed = settings(after).changed_since(&settings(before));
    compare_at(before, after, evidence, &Known { common, changed, rules, tokenizer })
}

/// What is known of two requests already.
pub(crate) struct Known<'a> {
    /// How many bytes they have in common.
    pub(crate) common: usize,
    /// The setting that is another one.
    pub(crate) changed: Option<Changed>,
    pub(crate) rules: &'a CacheRules,
    pub(crate) tokenizer: Tokenizer,
}

pub(crate) fn compare_at(
    before: &Prompt<'_>,
    after: &Prompt<'_>,
    evidence: &Evidence<'_>,
    known: &Known<'_>,
) -> Report {
    let common = known.common;
    let mut prefix = after.tokens_before(common);
    if known.rules.compares_tokens() {
        prefix += after.tokens_within(common, known.tokenizer);
    }
    let broken = break_of(before, after, evidence, common);
    let broken = match &known.changed {
        // Whatever else is different: nothing before it could be read either.
        Some(changed) if changed.reach == Reach::All => {
            prefix = 0;
            Some(of_setting(changed, common))
        }
        Some(changed) => {
            let spans = after.rendered().spans();
            let messages = spans.partition_point(|span| span.slot.list != List::Messages);
            prefix = prefix.min(after.tokens_until(messages));
            let earlier = |broken: &Break| matches!(broken.reason, Reason::Tools | Reason::System);
            broken.filter(earlier).or_else(|| Some(of_setting(changed, common)))
        }
        None => broken,
    };
    let tokens_lost = before.tokens().saturating_sub(prefix);
    Report {
        bytes: Extent { total: after.rendered().bytes().len() as u64, prefix: common as u64 },
        tokens: Extent { total: after.tokens(), prefix: prefix.min(after.tokens()) },
        broken: broken.map(|broken| Break { tokens_lost, ..broken }),
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

/// Returns where two conversations part; nothing if the newer one goes on where the older one ended.
fn break_of(
    before: &Prompt<'_>,
    after: &Prompt<'_>,
    evidence: &Evidence<'_>,
    common: usize,
) -> Option<Break> {
    let (old, new) = (before.rendered(), after.rendered());
    let (old_index, new_index) = (old.span_from(common), new.span_from(common));
    let grew = old_index == old.spans().len() && !old.spans().is_empty();
    if grew || old.bytes() == new.bytes() {
        return None;
    }
    let (was, is) = (old.spans().get(old_index), new.spans().get(new_index));
    let node = |span: Option<&Span>| span.map(|span| span.node.to_string());
    // The same node in the same words: what differs stands before it.
    let envelope = node(was) == node(is)
        && was.map(|span| old.bytes_of(span)) == is.map(|span| new.bytes_of(span));
    let (node, cause) = match envelope {
        true => (None, Cause::Envelope),
        false => {
            let sent =
                |id: &str| old.spans().iter().chain(new.spans()).any(|span| &*span.node == id);
            let ids = (was.map(|span| &*span.node), is.map(|span| &*span.node));
            evidence.explain(ids.0, ids.1, sent)
        }
    };
    // Where the node is, if it is one of the two; a node that is written within another one has its place.
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
