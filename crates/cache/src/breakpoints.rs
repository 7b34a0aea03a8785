//! Recommends where to set cache breakpoints.

use contextree_provider::List;

use crate::outlook::Outlook;
use crate::prompt::Prompt;
use crate::rules::CacheRules;
use crate::settings::text_field;

/// A recommended breakpoint: after a span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breakpoint {
    /// The node on which it is set.
    pub node: String,
    /// The path of the node in the JSON, if the provider is known. A text that is a plain string
    /// there becomes a list of one block.
    pub path: Option<String>,
    /// The end of the node's bytes.
    pub offset: u64,
    /// The number of spans up to this point.
    pub spans: usize,
    /// The number of tokens up to this point.
    pub tokens: u64,
    /// Its purpose.
    pub purpose: Purpose,
    /// The number of blocks since the previous breakpoint, or since the beginning.
    pub blocks: usize,
    /// Whether the provider sets it automatically.
    pub automatic: bool,
}

/// The purpose of a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Purpose {
    /// After the part that rarely changes, with which a new conversation begins too.
    Fixed,
    /// Before the first node with a ttl: everything before it stays when nodes expire.
    Lasting,
    /// At the end of the longest existing entry, which is found here however much was added since.
    LastTail,
    /// Between that entry and the end, so that the next request is within reach of an entry.
    Bridge,
    /// Before the first node that the next commit removes: the next request finds it.
    Staying,
    /// At the end: the next request finds it if nothing is removed.
    Tail,
}

impl Purpose {
    /// Returns the stable name, in snake case.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Fixed => "fixed",
            Purpose::Lasting => "lasting",
            Purpose::LastTail => "last_tail",
            Purpose::Bridge => "bridge",
            Purpose::Staying => "staying",
            Purpose::Tail => "tail",
        }
    }
}

/// Recommends breakpoints for a request, in document order: the most useful ones that the
/// provider's rules allow.
///
/// A block that cannot carry a breakpoint (reasoning; for OpenAI also calls and tools) is replaced
/// by the nearest one before it. Returns an empty list for providers that find the prefix
/// automatically, and for prefixes that are too short to be cached.
#[must_use]
pub fn breakpoints(prompt: &Prompt<'_>, outlook: &Outlook, rules: &CacheRules) -> Vec<Breakpoint> {
    let mut chosen: Vec<(usize, Purpose)> = Vec::new();
    for (wanted, purpose) in wanted(prompt.rendered().spans().len(), outlook, rules) {
        if chosen.len() >= rules.breakpoints {
            break;
        }
        let automatic = purpose == Purpose::Tail && rules.own_tail;
        let at = if automatic { wanted } else { settable(prompt, wanted, rules) };
        let useful = at > 0 && prompt.tokens_until(at) >= rules.min_tokens;
        // An entry that another breakpoint reaches does not need its own.
        let found = purpose == Purpose::LastTail
            && chosen.iter().any(|(other, _)| reaches(*other, at, rules.lookback));
        if useful && !found && chosen.iter().all(|(other, _)| *other != at) {
            chosen.push((at, purpose));
        }
    }
    chosen.sort_unstable();
    let mut before = 0;
    chosen
        .into_iter()
        .map(|(at, purpose)| {
            let span = &prompt.rendered().spans()[at - 1];
            let blocks = at - std::mem::replace(&mut before, at);
            Breakpoint {
                node: span.node.to_string(),
                path: prompt.rendered().path(span),
                offset: span.end as u64,
                spans: at,
                tokens: prompt.tokens_until(at),
                purpose,
                blocks,
                automatic: purpose == Purpose::Tail && rules.own_tail,
            }
        })
        .collect()
}

/// Returns the candidates for breakpoints, most useful first.
fn wanted(end: usize, outlook: &Outlook, rules: &CacheRules) -> Vec<(usize, Purpose)> {
    let Outlook { fixed, lasting, staying, known } = *outlook;
    let mut wanted = Vec::new();
    // First the breakpoints that serve the next request, then those that serve this one.
    if staying < end {
        wanted.push((staying, Purpose::Staying));
    } else {
        wanted.push((end, Purpose::Tail));
    }
    wanted.push((known, Purpose::LastTail));
    wanted.push((end, Purpose::Tail));
    if lasting < staying {
        wanted.push((lasting, Purpose::Lasting));
    }
    wanted.push((fixed, Purpose::Fixed));
    if let Some(lookback) = rules.lookback {
        wanted.extend((known..end).step_by(lookback).skip(1).map(|at| (at, Purpose::Bridge)));
    }
    wanted
}

/// Returns whether a breakpoint reaches an entry of this many spans.
pub(crate) fn reaches(breakpoint: usize, entry: usize, lookback: Option<usize>) -> bool {
    entry <= breakpoint && lookback.is_none_or(|lookback| breakpoint - entry < lookback)
}

/// Returns the last position up to this one that can carry a breakpoint; 0 without one.
fn settable(prompt: &Prompt<'_>, at: usize, rules: &CacheRules) -> usize {
    (1..=at).rev().find(|at| may_carry(prompt, at - 1, rules)).unwrap_or(0)
}

/// Returns whether a block can carry a breakpoint: for Anthropic all but reasoning, for OpenAI only
/// message content.
fn may_carry(prompt: &Prompt<'_>, index: usize, rules: &CacheRules) -> bool {
    let rendered = prompt.rendered();
    let Some(span) = rendered.spans().get(index) else { return false };
    let kind = text_field(rendered.bytes_of(span), "type");
    if rules.name == "anthropic" {
        return !matches!(kind, Some(b"thinking" | b"redacted_thinking"));
    }
    match (span.slot.list, span.slot.inner) {
        (List::Messages, Some((list, _))) => list == "content",
        (List::Messages, None) => matches!(kind, None | Some(b"message")),
        _ => false,
    }
}
