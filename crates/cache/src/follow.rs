//! Follows a history, request by request.

use std::collections::{BTreeMap, BTreeSet};

use contextree_provider::{Provider, Span};
use contextree_tokens::Tokenizer;

use crate::breakpoints::{Breakpoint, breakpoints, reaches};
use crate::cause::Evidence;
use crate::entries::{Chain, Entries};
use crate::memo::Memo;
use crate::outlook::Outlook;
use crate::prompt::{Prompt, same_spans};
use crate::rendered::{Rendered, common_prefix};
use crate::report::{Known, Report, compare_at};
use crate::rules::CacheRules;
use crate::settings::Settings;

/// One request of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Tokens of the request.
    pub tokens: u64,
    /// The tokens that are read from the cache, from the entries of any earlier request.
    pub cached: u64,
    /// The comparison with the previous request; `None` for the first.
    pub report: Option<Report>,
}

/// A history of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct History {
    /// One step per request, in order.
    pub steps: Vec<Step>,
    /// The tokens of all requests.
    pub tokens: u64,
    /// The tokens of all requests that are read from the cache.
    pub cached: u64,
    /// The breakpoints for the last request under which these numbers hold; empty if the provider
    /// finds the prefix automatically.
    pub breakpoints: Vec<Breakpoint>,
}

impl History {
    /// Returns the share of the input that is read from the cache, in thousandths, rounded down.
    #[must_use]
    pub fn per_mille(&self) -> u64 {
        (self.cached * 1000).checked_div(self.tokens).unwrap_or(0)
    }
}

/// Follows a history: takes one request after the other, and keeps the last one and the entries of
/// the cache.
///
/// Assumes that every request is sent once, while all earlier entries are still present, and that
/// the recommended [`breakpoints`] are set: then exactly this share can be read. Each breakpoint
/// writes an entry, which a breakpoint of a later request finds within the provider's lookback. A
/// provider that needs no breakpoints finds whole spans of any earlier request, and the beginning
/// of a span of the last one.
#[derive(Debug)]
pub struct Follower {
    rules: CacheRules,
    memo: Memo,
    last: Last,
    entries: Entries,
    history: History,
}

/// The last request. What it shares with the next one is kept in place.
#[derive(Debug, Default)]
struct Last {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    until: Vec<u64>,
    provider: Option<Provider>,
    settings: Settings,
    chain: Chain,
    /// The first span of each node.
    first: BTreeMap<Box<str>, usize>,
}

impl Last {
    fn prompt(&self) -> Prompt<'_> {
        Prompt::counted(Rendered::borrowed(&self.bytes, &self.spans, self.provider), &self.until)
    }

    /// Replaces the request by another one that shares `common` bytes and `same` spans with it.
    fn become_next(&mut self, rendered: &Rendered<'_>, common: usize, same: usize) {
        self.bytes.truncate(common);
        self.bytes.extend_from_slice(&rendered.bytes()[common..]);
        for span in self.spans.drain(same..) {
            if self.first.get(&span.node).is_some_and(|index| *index >= same) {
                self.first.remove(&span.node);
            }
        }
        for (index, span) in rendered.spans().iter().enumerate().skip(same) {
            self.first.entry(span.node.clone()).or_insert(index);
            self.spans.push(span.clone());
        }
        self.provider = rendered.provider();
    }
}

impl Follower {
    /// Creates a follower without requests.
    #[must_use]
    pub fn new(tokenizer: Tokenizer, rules: CacheRules) -> Self {
        Follower {
            rules,
            memo: Memo::new(tokenizer),
            last: Last::default(),
            entries: Entries::default(),
            history: History::default(),
        }
    }

    /// Adds the next request; `evidence` is about the snapshots of the last request and of this
    /// one.
    pub fn follow(&mut self, rendered: &Rendered<'_>, evidence: &Evidence<'_>) -> &Step {
        let settings = Settings::of(rendered, Some(self.rules.name));
        let before = self.last.prompt();
        let common = common_prefix(before.rendered().bytes(), rendered.bytes());
        let same = same_spans(rendered, before.rendered(), common);
        let first = self.history.steps.is_empty();
        let known = if first { Vec::new() } else { before.known(rendered, common, same) };
        let keeps_chain = !known.is_empty() && settings == self.last.settings;
        let after = Prompt::measure_from(rendered.clone(), known, &mut self.memo);
        let report = (!first).then(|| {
            let changed = settings.changed_since(&self.last.settings);
            let tokenizer = self.memo.tokenizer();
            let known = Known { common, changed, rules: &self.rules, tokenizer };
            compare_at(&before, &after, evidence, &known)
        });
        drop(before);
        if !keeps_chain {
            self.last.chain.clear();
        }
        self.last.chain.follow(rendered, &settings, same);
        self.last.become_next(rendered, common, same);
        self.last.settings = settings;
        let partial = report.as_ref().map_or(0, |report| report.tokens.prefix);
        let cached = self.look_up(&after, evidence, partial);
        let tokens = after.tokens();
        self.last.until = after.into_counts();
        self.history.tokens += tokens;
        self.history.cached += cached;
        self.history.steps.push(Step { tokens, cached, report });
        self.history.steps.last().expect("a step was just added")
    }

    /// Returns the number of tokens of the request that are in the cache, and adds its entries.
    /// `prefix` is the number of tokens that it shares with the last request.
    fn look_up(&mut self, prompt: &Prompt<'_>, evidence: &Evidence<'_>, prefix: u64) -> u64 {
        let chain = &self.last.chain;
        let known = self.entries.longest(chain);
        if self.rules.compares_tokens() {
            self.entries.write_all(chain, known + 1);
            let cached = prompt.tokens_until(known).max(prefix);
            let found = known > 0 || prefix > 0;
            return if found && cached >= self.rules.min_tokens { cached } else { 0 };
        }
        let first_of = |ids: &BTreeSet<&str>| {
            ids.iter().filter_map(|id| self.last.first.get(*id).copied()).min()
        };
        let outlook = Outlook::with(prompt.rendered(), evidence.newer, first_of);
        let set = breakpoints(prompt, &Outlook { known, ..outlook }, &self.rules);
        let found = set.iter().any(|point| reaches(point.spans, known, self.rules.lookback));
        for point in &set {
            self.entries.write(chain, point.spans);
        }
        self.history.breakpoints = set;
        if found && known > 0 { prompt.tokens_until(known) } else { 0 }
    }

    /// Returns the history so far.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the complete history.
    #[must_use]
    pub fn finish(self) -> History {
        self.history
    }
}
