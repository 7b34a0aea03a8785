//! Follows a history, call by call.

use std::collections::BTreeSet;

use contextree_tokens::Tokenizer;

use crate::breakpoints::{breakpoints, reaches};
use crate::call::{Billed, Call};
use crate::cause::Evidence;
use crate::entries::{Entries, SECOND};
use crate::history::{History, Inferred, Step};
use crate::last::Last;
use crate::memo::Memo;
use crate::miss::{Place, Ruled};
use crate::outlook::Outlook;
use crate::prompt::{Prompt, same_spans};
use crate::rendered::{Rendered, common_prefix_from};
use crate::report::{Difference, Report, break_of};
use crate::rules::CacheRules;
use crate::settings::Settings;

/// Follows a history: takes one call after the other, and keeps the last request and the entries of
/// the cache.
///
/// Predicts what each call can read from the cache, by the rules of the provider: an entry stays for
/// its lifetime after its last use, if the times of calls are known. Assumes that the recommended
/// [`breakpoints`] are set. Each breakpoint writes an entry, which a breakpoint of a later request
/// finds within the provider's lookback. A provider that needs no breakpoints finds whole spans of
/// any earlier request, and the beginning of a span of the last one.
///
/// Bills are used for three things that requests do not contain: the size of system text and tools
/// that a log lacks, the size of reasoning that was returned without its text, and how much other
/// conversations keep in the cache. The tokens of a call are otherwise estimates, and its own bill
/// never changes what is predicted for it, except for the first call.
#[derive(Debug)]
pub struct Follower {
    rules: CacheRules,
    memo: Memo,
    last: Last,
    entries: Entries,
    history: History,
    /// Tokens before the first span: what an incomplete request lacks.
    hidden: u64,
    /// Tokens that are read although every entry of this history has expired, because other
    /// conversations begin in the same way.
    shared: u64,
    /// Whether entries are written for the longer lifetime.
    is_long: bool,
    /// Whether the rules have changed since the last call.
    has_switched: bool,
}

impl Follower {
    /// Creates a follower without calls.
    #[must_use]
    pub fn new(tokenizer: Tokenizer, rules: CacheRules) -> Self {
        Follower {
            rules,
            memo: Memo::new(tokenizer),
            last: Last::default(),
            entries: Entries::default(),
            history: History::default(),
            hidden: 0,
            shared: 0,
            is_long: false,
            has_switched: false,
        }
    }

    /// Changes how the following calls are counted and cached: they are made with another model.
    pub fn switch(&mut self, tokenizer: Tokenizer, rules: CacheRules) {
        self.memo = Memo::new(tokenizer);
        self.rules = rules;
        self.last.forget_counts();
        self.has_switched = true;
    }

    /// Adds the next request, of which only the content is known; `evidence` is about the snapshots
    /// of the last request and of this one.
    pub fn follow(&mut self, rendered: &Rendered<'_>, evidence: &Evidence<'_>) -> &Step {
        self.follow_call(&Call::new(rendered.clone(), *evidence))
    }

    /// Adds the next call.
    pub fn follow_call(&mut self, call: &Call<'_>) -> &Step {
        let rendered = &call.request;
        let settings = Settings::of(rendered, Some(self.rules.name));
        let is_first = self.history.steps.is_empty();
        let now_ns = call.started_ns.or(call.ended_ns);
        let old = self.last.rendered();
        let common = common_prefix_from(old.bytes(), rendered.bytes(), call.unchanged);
        let same = same_spans(rendered, &old, common, call.unchanged);
        let before = self.last.tokens();
        let difference = (!is_first).then(|| Difference {
            common,
            changed: settings.changed_since(&self.last.settings),
            broken: break_of(&old, rendered, &call.evidence, common),
        });
        let keeps_settings = settings == self.last.settings;
        if self.rules.compares_tokens() {
            self.entries.leave(&self.last.chain, if keeps_settings { same } else { 0 });
        }
        let drops = self.rules.drops_reasoning;
        let newer = call.evidence.newer;
        let shared = (common, same);
        let valid = self.last.become_next(rendered, newer, shared, &mut self.memo, drops);
        self.infer_reasoning(same);
        self.last.finish(valid, settings, drops);
        let prompt = Prompt::counted(rendered.clone(), &self.last.until);
        let report = difference.map(|difference| difference.report(&prompt, before, &self.rules));
        self.infer_hidden(call, is_first);
        let has_expired = self.entries.has_expired(now_ns);
        let expired = has_expired.then(|| {
            let seconds = |ns: Option<i64>| ns.unwrap_or(0).unsigned_abs() / SECOND.unsigned_abs();
            (seconds(self.entries.gap_ns(now_ns)), seconds(self.entries.lifetime_ns()))
        });
        let keeps = if keeps_settings { valid } else { 0 };
        let partial = report.as_ref().filter(|_| valid == same && !has_expired);
        let partial = partial.map_or(0, |report| report.tokens.prefix);
        let tokens = self.hidden + self.last.tokens();
        let is_cold = is_first || has_expired || !keeps_settings;
        let billed = call.billed.as_ref();
        let found = self.look_up(call, (keeps, partial), now_ns);
        let cached = match found {
            Some(cached) => cached,
            None if is_first => billed.map_or(0, |billed| billed.cached),
            None if has_expired && keeps_settings => self.shared,
            // Tools and system text that the log lacks are still the same.
            None if keeps_settings && !is_cold => self.fixed(),
            None => 0,
        };
        let cached = cached.min(tokens);
        self.remember(call, is_cold);
        let step = self.step(call, report, (tokens, cached), (expired, valid < same, is_first));
        self.history.push(step);
        self.has_switched = false;
        self.history.steps.last().expect("a step was just added")
    }

    /// Returns the number of tokens of the request that are in the cache, and sets the breakpoints;
    /// `None` if no entry of this history is found. `keeps` is the number of spans that are
    /// unchanged, `partial` the tokens that are equal to those of the last request.
    fn look_up(
        &mut self,
        call: &Call<'_>,
        (keeps, partial): (usize, u64),
        now_ns: Option<i64>,
    ) -> Option<u64> {
        let prompt = Prompt::counted(call.request.clone(), &self.last.until);
        let chain = &self.last.chain;
        let is_first = self.history.steps.is_empty();
        if self.rules.compares_tokens() {
            let is_warm = !is_first && !self.entries.has_expired(now_ns);
            let kept = if is_warm { keeps } else { 0 };
            let known = self.entries.longest(chain, kept + 1, now_ns).unwrap_or(kept);
            let read = prompt.tokens_until(known).max(partial);
            let cached = if read > 0 { self.hidden + read } else { 0 };
            return (cached > 0 && cached >= self.rules.min_tokens).then_some(cached);
        }
        let known = self.entries.longest(chain, 1, now_ns).unwrap_or(0);
        let first_of = |ids: &BTreeSet<&str>| {
            ids.iter().filter_map(|id| self.last.first.get(*id).copied()).min()
        };
        let outlook = Outlook::with(prompt.rendered(), call.evidence.newer, first_of);
        let least = CacheRules {
            min_tokens: self.rules.min_tokens.saturating_sub(self.hidden),
            ..self.rules
        };
        let set = breakpoints(&prompt, &Outlook { known, ..outlook }, &least);
        let found = set.iter().any(|point| reaches(point.spans, known, self.rules.lookback));
        self.history.breakpoints = set;
        (found && known > 0).then(|| self.hidden + prompt.tokens_until(known))
    }

    /// Returns the tokens of tools and system text that the log lacks, as far as they are cached.
    fn fixed(&self) -> u64 {
        if self.shared > 0 { self.shared.min(self.hidden) } else { self.hidden }
    }

    /// Infers the size of reasoning that the last answer contains without its text: what was billed
    /// for it.
    fn infer_reasoning(&mut self, from: usize) {
        let billed = self.history.steps.last().and_then(|step| step.billed.as_ref());
        let Some(Billed { output, reasoning, .. }) = billed.cloned() else { return };
        self.last.add_unseen(from, |answer, shown, is_hidden| match (reasoning, output) {
            (Some(reasoning), _) => reasoning.saturating_sub(shown),
            (None, Some(output)) if is_hidden => output.saturating_sub(answer),
            _ => 0,
        });
    }

    /// Infers the size of what an incomplete request lacks, from the first bill.
    fn infer_hidden(&mut self, call: &Call<'_>, is_first: bool) {
        if call.is_complete {
            self.hidden = 0;
        } else if is_first || self.has_switched {
            let billed = call.billed.as_ref().map_or(0, |billed| billed.input);
            self.hidden = billed.saturating_sub(self.last.tokens());
        }
    }

    /// Records what the call wrote to the cache, and when.
    fn remember(&mut self, call: &Call<'_>, is_cold: bool) {
        let billed = call.billed.as_ref();
        if let Some(billed) = billed.filter(|billed| billed.written.is_some_and(|it| it > 0)) {
            self.is_long = billed.written_hour.is_some_and(|it| it > 0);
        }
        if let Some(billed) = billed.filter(|_| is_cold) {
            self.shared = billed.cached;
        }
        let CacheRules { lifetime_s, long_lifetime_s, .. } = self.rules;
        self.entries.set_lifetime(if self.is_long { long_lifetime_s } else { lifetime_s });
        self.entries.use_at(call.ended_ns.or(call.started_ns));
        for point in &self.history.breakpoints {
            self.entries.write(&self.last.chain, point.spans);
        }
    }

    fn step(
        &self,
        call: &Call<'_>,
        report: Option<Report>,
        (tokens, cached): (u64, u64),
        (expired, has_dropped, is_first): (Option<(u64, u64)>, bool, bool),
    ) -> Step {
        let billed = call.billed.clone();
        let last = self.history.steps.last();
        let ruled = Ruled {
            before: last.map_or(0, |step| step.tokens),
            cached,
            report: report.as_ref(),
            expired,
            has_dropped,
            min_tokens: self.rules.min_tokens,
        };
        let before = last.and_then(|step| step.billed.as_ref());
        let place = |read: u64| self.place(&call.request, read, (tokens, billed.as_ref()));
        let miss = match is_first {
            true => None,
            false => ruled.miss(before, billed.as_ref(), place),
        };
        let gap_ns = last.and_then(|step| {
            let since = step.ended_ns.or(step.started_ns)?;
            Some(call.started_ns.or(call.ended_ns)?.saturating_sub(since).max(0))
        });
        Step {
            tokens,
            cached,
            inferred: Inferred {
                prefix: self.hidden,
                reasoning: self.last.unseen(),
                cached: if is_first { cached } else { 0 },
            },
            started_ns: call.started_ns,
            ended_ns: call.ended_ns,
            gap_s: gap_ns.map(|gap| gap.unsigned_abs() / SECOND.unsigned_abs()),
            report,
            miss,
            billed,
        }
    }

    /// Returns where a number of billed tokens ends in the request.
    fn place(
        &self,
        rendered: &Rendered<'_>,
        read: u64,
        (tokens, billed): (u64, Option<&Billed>),
    ) -> Place {
        let Some(billed) = billed.filter(|billed| billed.input > 0) else { return Place::Unknown };
        let read = u128::from(read) * u128::from(tokens) / u128::from(billed.input);
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if read < self.hidden {
            return Place::Unlogged;
        }
        let spans = self.last.until.partition_point(|until| self.hidden + until <= read);
        match rendered.spans().get(spans.saturating_sub(1)) {
            Some(span) => Place::Node(span.node.to_string()),
            None => Place::Unknown,
        }
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
