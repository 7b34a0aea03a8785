//! Follows a history, call by call.

use std::collections::BTreeSet;

use contextree_json::Value;
use contextree_provider::List;
use contextree_tokens::Tokenizer;

use crate::breakpoints::{breakpoints, reaches};
use crate::call::{Billed, Call, Mark};
use crate::cause::Evidence;
use crate::entries::{Entries, SECOND};
use crate::history::{History, Inferred, Step};
use crate::infer::Inference;
use crate::last::Last;
use crate::memo::Memo;
use crate::miss::{Place, Ruled, Seen};
use crate::outlook::Outlook;
use crate::prompt::{Prompt, same_spans};
use crate::reason::Reason;
use crate::rendered::{Rendered, common_prefix_from};
use crate::report::{Difference, Report, break_of};
use crate::rules::CacheRules;
use crate::settings::{Reach, Settings};

/// Follows a history: takes one call after the other, and keeps the last request and the entries of
/// the cache.
///
/// Predicts what each call can read from the cache, by the rules of the provider: an entry stays for
/// its lifetime after its last use, if the times of calls are known. Assumes that the recommended
/// [`breakpoints`] are set. Each breakpoint writes an entry, which a breakpoint of a later request
/// finds within the provider's lookback. A provider that needs no breakpoints finds whole spans of
/// any earlier request, and the beginning of a span of the last one.
///
/// Bills are used for four things that requests do not contain: the size of system text and tools
/// that a log lacks, the size of reasoning that was returned without its text, content that an agent
/// left out without logging it, and how much other conversations keep in the cache. The tokens of a
/// call are otherwise estimates.
#[derive(Debug)]
pub struct Follower {
    rules: CacheRules,
    memo: Memo,
    last: Last,
    entries: Entries,
    history: History,
    inference: Inference,
    /// Whether entries are written for the longer lifetime.
    is_long: bool,
    /// Whether the rules have changed since the last call.
    has_switched: bool,
    /// The breakpoints of the last request, as numbers of spans.
    points: Vec<usize>,
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
            inference: Inference::default(),
            is_long: false,
            has_switched: false,
            points: Vec::new(),
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
        let settings = Settings::of(rendered, Some(self.rules.name))
            .with(Reason::Model, call.model.as_deref().map(Value::from))
            .with(Reason::Thinking, call.thinking.clone());
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
        // With other settings of messages, tools and system text can still be read.
        let keeps_preamble = difference.as_ref().is_some_and(|difference| {
            difference.changed.as_ref().is_none_or(|changed| changed.reach == Reach::Messages)
        });
        let keeps_content = difference.as_ref().is_some_and(|it| it.broken.is_none());
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
        let billed = call.billed.as_ref();
        let logged = self.last.tokens();
        // A conversation that was replaced is sent with system text and tools of today.
        let begins = is_first || self.has_switched || same <= preamble_spans(rendered);
        self.inference.infer_prefix(call, begins, logged);
        let is_extended = report.as_ref().is_some_and(|report| report.broken.is_none());
        let last = self.history.steps.last();
        let grew = keeps_content && keeps_preamble;
        let has_cleared = self.inference.infer_cleared(last, billed, logged, grew);
        let has_expired = self.entries.has_expired(now_ns);
        let expired = has_expired.then(|| {
            let seconds = |ns: Option<i64>| ns.unwrap_or(0).unsigned_abs() / SECOND.unsigned_abs();
            (seconds(self.entries.gap_ns(now_ns)), seconds(self.entries.lifetime_ns()))
        });
        let keeps = if keeps_settings { valid } else { 0 };
        let partial = report.as_ref().filter(|_| valid == same && !has_expired);
        let partial = partial.map_or(0, |report| report.tokens.prefix);
        let tokens = self.inference.tokens(logged);
        let is_cold = is_first || has_expired || !keeps_preamble;
        let found = self.look_up(call, (keeps, partial), keeps_settings, now_ns);
        let has_none = found.is_none();
        // An entry of an earlier request may be longer, unless this request extends the last one.
        let left = self
            .inference
            .left_by(self.history.steps.last())
            .filter(|_| is_extended && !self.rules.compares_tokens());
        let is_unwritten = found.zip(left).is_some_and(|(found, left)| left < found);
        let found = found.map(|found| left.map_or(found, |left| found.min(left)));
        let cached = match found {
            Some(cached) => cached,
            // Nothing is known of what other conversations left in the cache, so this does not predict.
            None if is_first => billed.and_then(|billed| billed.cached).unwrap_or(0),
            None if has_expired && keeps_preamble => self.inference.surviving,
            // Tools and system text that the log lacks are still the same.
            None if keeps_preamble => self.inference.fixed(),
            None => 0,
        };
        let step = self.rules.step_tokens.max(1);
        let cached = if found.is_some() { cached / step * step } else { cached }.min(tokens);
        self.inference.learn_writes(self.history.steps.last(), billed);
        self.remember(call, is_cold, has_none);
        let seen = Seen { expired, has_dropped: valid < same, has_cleared, is_unwritten };
        let step = self.step(call, report, (tokens, cached), seen);
        self.history.push(step);
        self.has_switched = false;
        self.history.steps.last().expect("a step was just added")
    }

    /// Returns the number of tokens of the request that are in the cache, and sets the breakpoints;
    /// `None` if no entry of this history is found. `keeps` is the number of spans that are
    /// unchanged, `partial` the tokens that are equal to those of the last request, `keeps_settings`
    /// whether these are the same.
    fn look_up(
        &mut self,
        call: &Call<'_>,
        (keeps, partial): (usize, u64),
        keeps_settings: bool,
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
            let cached = if read > 0 { self.inference.tokens(read) } else { 0 };
            return (cached > 0 && cached >= self.min_tokens()).then_some(cached);
        }
        let known = self.entries.longest(chain, 1, now_ns).unwrap_or(0);
        let first_of = |ids: &BTreeSet<&str>| {
            ids.iter().filter_map(|id| self.last.first.get(*id).copied()).min()
        };
        let outlook = Outlook::with(prompt.rendered(), call.evidence.newer, first_of);
        let least = CacheRules {
            min_tokens: self.min_tokens().saturating_sub(self.inference.prefix),
            ..self.rules
        };
        let set = breakpoints(&prompt, &Outlook { known, ..outlook }, &least);
        self.points = match &call.marks {
            None => set.iter().map(|point| point.spans).collect(),
            Some(marks) => self.marked(marks),
        };
        self.history.breakpoints = set;
        let end = self.last.spans.len();
        let found = match &call.marks {
            // Agents mark the newest messages. They do not know which older request had these
            // settings.
            None if !keeps_settings => reaches(end, known, self.rules.lookback),
            _ => self.points.iter().any(|at| reaches(*at, known, self.rules.lookback)),
        };
        (found && known > 0).then(|| self.inference.tokens(prompt.tokens_until(known)))
    }

    /// Returns the shortest prefix that is cached; zero if the size of the request is not known.
    fn min_tokens(&self) -> u64 {
        if self.inference.lacks_size { 0 } else { self.rules.min_tokens }
    }

    /// Returns the tokens of tools and system text that are in the request.
    fn preamble(&self, rendered: &Rendered<'_>) -> u64 {
        self.last.until.get(preamble_spans(rendered)).copied().unwrap_or_default()
    }

    /// Returns where the breakpoints of a request are, as numbers of spans.
    fn marked(&self, marks: &[Mark]) -> Vec<usize> {
        let end = self.last.spans.len();
        let place = |mark: &Mark| match &mark.node {
            Some(node) => self.last.first.get(node.as_str()).map(|index| index + 1),
            None => Some(end),
        };
        let automatic = self.rules.own_tail.then_some(end);
        let is_long_enough = |spans: &usize| {
            let tokens = self.last.until.get(*spans).copied().unwrap_or_default();
            self.inference.tokens(tokens) >= self.min_tokens()
        };
        marks.iter().filter_map(place).chain(automatic).filter(is_long_enough).collect()
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

    /// Records what the call wrote to the cache, and when.
    fn remember(&mut self, call: &Call<'_>, is_cold: bool, has_none: bool) {
        let billed = call.billed.as_ref();
        if let Some(billed) = billed.filter(|billed| billed.written.is_some_and(|it| it > 0)) {
            self.is_long = billed.written_hour.is_some_and(|it| it > 0);
        }
        if let Some(marks) = call.marks.as_ref().filter(|marks| !marks.is_empty()) {
            self.is_long = marks.iter().any(|mark| mark.is_long);
        }
        if let Some(billed) = billed {
            let preamble = self.preamble(&call.request);
            // An entry that the first call found can be one of the same user, who pauses, too. A
            // provider that compares tokens finds what any conversation begins with.
            let survives = !self.history.steps.is_empty() || self.rules.compares_tokens();
            if is_cold {
                self.inference.infer_shared(billed, preamble, survives);
            } else if has_none && billed.cached.is_some_and(|cached| cached > 0) {
                // The conversation was replaced. What was read is the part before it.
                self.inference.infer_shared(billed, preamble, false);
            }
        }
        let CacheRules { lifetime_s, long_lifetime_s, .. } = self.rules;
        self.entries.set_lifetime(if self.is_long { long_lifetime_s } else { lifetime_s });
        self.entries.use_at(call.ended_ns.or(call.started_ns));
        for spans in &self.points {
            self.entries.write(&self.last.chain, *spans);
        }
    }

    fn step(
        &self,
        call: &Call<'_>,
        report: Option<Report>,
        (tokens, cached): (u64, u64),
        seen: Seen,
    ) -> Step {
        let billed = call.billed.clone();
        let last = self.history.steps.last();
        let is_unmarked = self.points.is_empty() && !self.rules.compares_tokens();
        let ruled = Ruled {
            before: last.map_or(0, |step| step.tokens),
            cached,
            report: report.as_ref(),
            seen,
            is_unmarked,
            min_tokens: self.min_tokens(),
        };
        let before = last.and_then(|step| step.billed.as_ref());
        let place = |read: u64| self.place(&call.request, read, (tokens, billed.as_ref()));
        let miss = last.and_then(|_| ruled.miss(before, billed.as_ref(), place));
        let gap_ns = last.and_then(|step| {
            let since = step.ended_ns.or(step.started_ns)?;
            Some(call.started_ns.or(call.ended_ns)?.saturating_sub(since).max(0))
        });
        Step {
            tokens,
            cached,
            inferred: Inferred {
                prefix: self.inference.prefix,
                lacks_prefix: self.inference.lacks_size,
                reasoning: self.last.unseen(),
                cleared: self.inference.cleared,
                cached: if last.is_none() { cached } else { 0 },
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
        if read < self.inference.prefix {
            return Place::Unlogged;
        }
        let spans = self.last.until.partition_point(|until| self.inference.tokens(*until) <= read);
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

/// Returns the number of spans of tools and system text, which precede the messages.
fn preamble_spans(rendered: &Rendered<'_>) -> usize {
    rendered.spans().partition_point(|span| span.slot.list != List::Messages)
}
