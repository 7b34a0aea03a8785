//! Where to set breakpoints.

use crate::prompt::Prompt;
use crate::rendered::common_prefix;
use crate::rules::CacheRules;

/// A place to set a breakpoint: behind a span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breakpoint {
    /// The node that it is set on.
    pub node: String,
    /// The end of that node's bytes.
    pub offset: u64,
    /// Tokens up to there.
    pub tokens: u64,
    /// What it is for.
    pub purpose: Purpose,
    /// Blocks between this breakpoint and the one before it, or the beginning.
    pub blocks: usize,
}

/// What a breakpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Purpose {
    /// Behind the part that hardly ever changes: a new conversation begins with it, too.
    Fixed,
    /// Where the last request ended: its entry is found here, however much was added since.
    LastTail,
    /// On the way from there to the end, so that the next request is not too far from an entry.
    Bridge,
    /// At the end: the next request finds it.
    Tail,
}

impl Purpose {
    /// Returns the stable word, in snake case.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Fixed => "fixed",
            Purpose::LastTail => "last_tail",
            Purpose::Bridge => "bridge",
            Purpose::Tail => "tail",
        }
    }
}

/// Returns where to set breakpoints in a request, in its order: within the provider's rules, the most useful ones.
///
/// `fixed` is the number of spans, from the beginning, that hardly ever change: those of the system text. `last` is the request before, if there
/// was one. Nothing is returned for providers that find the prefix by themselves, and none where the prefix is too short to be cached.
#[must_use]
pub fn breakpoints(
    prompt: &Prompt<'_>,
    fixed: usize,
    last: Option<&Prompt<'_>>,
    rules: &CacheRules,
) -> Vec<Breakpoint> {
    let spans = prompt.rendered().spans();
    let end = spans.len();
    // How many spans, from the beginning, the request before had as well.
    let shared = last.map_or(0, |last| {
        let common = common_prefix(prompt.rendered().bytes(), last.rendered().bytes());
        let whole = prompt.rendered().spans().partition_point(|span| span.end <= common);
        whole.min(last.rendered().spans().len())
    });
    // In order of use: without the tail nothing is ever read; the last tail matters only where looking back does not reach it.
    let mut wanted = vec![(end, Purpose::Tail)];
    if let Some(lookback) = rules.lookback {
        let mut at = shared;
        if at > 0 && end - at >= lookback {
            wanted.push((at, Purpose::LastTail));
        }
        wanted.push((fixed, Purpose::Fixed));
        while end - at > lookback {
            at += lookback;
            wanted.push((at, Purpose::Bridge));
        }
    } else {
        wanted.push((fixed, Purpose::Fixed));
    }
    let mut chosen: Vec<(usize, Purpose)> = Vec::new();
    for (at, purpose) in wanted {
        let useful = at > 0 && at <= end && prompt.tokens_until(at) >= rules.min_tokens;
        if chosen.len() < rules.breakpoints
            && useful
            && chosen.iter().all(|(other, _)| *other != at)
        {
            chosen.push((at, purpose));
        }
    }
    chosen.sort_unstable();
    let mut before = 0;
    chosen
        .into_iter()
        .map(|(at, purpose)| {
            let span = &spans[at - 1];
            let blocks = at - std::mem::replace(&mut before, at);
            Breakpoint {
                node: span.node.to_owned(),
                offset: span.end as u64,
                tokens: prompt.tokens_until(at),
                purpose,
                blocks,
            }
        })
        .collect()
}
