//! Where to set breakpoints.

use contextree_provider::List;

use crate::outlook::Outlook;
use crate::prompt::Prompt;
use crate::rules::CacheRules;
use crate::settings::text_field;

/// A place to set a breakpoint: behind a span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breakpoint {
    /// The node that it is set on.
    pub node: String,
    /// Where that is in the JSON, if it is known whose request it is. A text that is a plain string there becomes a list of one block.
    pub path: Option<String>,
    /// The end of that node's bytes.
    pub offset: u64,
    /// Spans up to there.
    pub spans: usize,
    /// Tokens up to there.
    pub tokens: u64,
    /// What it is for.
    pub purpose: Purpose,
    /// Blocks between this breakpoint and the one before it, or the beginning.
    pub blocks: usize,
    /// True if the provider sets it by itself.
    pub automatic: bool,
}

/// What a breakpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Purpose {
    /// Behind the part that hardly ever changes: a new conversation begins with it, too.
    Fixed,
    /// Before the first node that has a ttl: everything before it stays, whatever expires.
    Lasting,
    /// Where the longest entry ends that is there already: it is found here, however much was added since.
    LastTail,
    /// On the way from there to the end, so that the next request is not too far from an entry.
    Bridge,
    /// Before the first node that goes with the next commit: the next request finds it.
    Staying,
    /// At the end: the next request finds it, if nothing goes.
    Tail,
}

impl Purpose {
    /// Returns the stable word, in snake case.
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

/// Returns where to set breakpoints in a request, in its order: within the provider's rules, the most useful ones.
///
/// None is set on a block that cannot carry one (reasoning, and with OpenAI calls and tools): it is set on the nearest one before. Nothing is
/// returned for providers that find the prefix by themselves, and none where the prefix is too short to be cached.
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
        // An entry that is found from another breakpoint needs none of its own.
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

/// Returns the places that are worth a breakpoint, the most useful first.
fn wanted(end: usize, outlook: &Outlook, rules: &CacheRules) -> Vec<(usize, Purpose)> {
    let Outlook { fixed, lasting, staying, known } = *outlook;
    let mut wanted = Vec::new();
    // What the next request finds comes first, and then what this one does.
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

/// True if an entry of a number of spans is found from a breakpoint.
pub(crate) fn reaches(breakpoint: usize, entry: usize, lookback: Option<usize>) -> bool {
    entry <= breakpoint && lookback.is_none_or(|lookback| breakpoint - entry < lookback)
}

/// Returns the nearest place that is not behind this one and can carry a breakpoint; 0 if there is none.
fn settable(prompt: &Prompt<'_>, at: usize, rules: &CacheRules) -> usize {
    (1..=at).rev().find(|at| may_carry(prompt, at - 1, rules)).unwrap_or(0)
}

/// True if a block may have a marker: with Anthropic anything but reasoning, with OpenAI only the content of messages.
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
