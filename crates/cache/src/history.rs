//! What was found about a history of calls.

use std::collections::BTreeMap;

use crate::breakpoints::Breakpoint;
use crate::call::Billed;
use crate::miss::{Miss, ReasonTotal};
use crate::report::Report;

/// One call of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Tokens of the request, as estimated.
    pub tokens: u64,
    /// The tokens that can be read from the cache, from the entries of any earlier request.
    pub cached: u64,
    /// The parts of these numbers that are not in the request.
    pub inferred: Inferred,
    /// When the call began, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When the answer was complete.
    pub ended_ns: Option<i64>,
    /// The seconds since the previous call ended.
    pub gap_s: Option<u64>,
    /// The comparison with the previous request; `None` for the first.
    pub report: Option<Report>,
    /// What could not be read of the previous request, and why.
    pub miss: Option<Miss>,
    /// What was billed.
    pub billed: Option<Billed>,
}

/// Tokens that are inferred from bills, because a log does not contain what they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// System text, tools, and what else precedes the first logged message.
    pub prefix: u64,
    /// Whether that is missing, and no bill tells its size: the request is larger than estimated.
    pub lacks_prefix: bool,
    /// Reasoning that was returned without its text.
    pub reasoning: u64,
    /// Logged content that the request leaves out: requests became shorter without a trace in the
    /// log.
    pub cleared: u64,
    /// What was in the cache before the first call.
    pub cached: u64,
}

/// A history of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct History {
    /// One step per call, in order.
    pub steps: Vec<Step>,
    /// The tokens of all requests.
    pub tokens: u64,
    /// The tokens of all requests that can be read from the cache.
    pub cached: u64,
    /// What was billed, and what is predicted for the billed calls; `None` if there is no bill.
    pub billed: Option<Agreement>,
    /// The breakpoints for the last request under which these numbers hold; empty if the provider
    /// finds the prefix automatically.
    pub breakpoints: Vec<Breakpoint>,
    reasons: BTreeMap<&'static str, (u64, u64)>,
}

/// Bills and predictions for the same calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// The number of billed calls.
    pub calls: u64,
    /// Tokens of their requests, as billed.
    pub tokens: u64,
    /// What was read from the cache; `None` if no bill says so.
    pub reading: Option<Reading>,
    /// How much the estimate grew from each billed call to the next, and how much the bill did;
    /// without the calls whose request does not extend the previous one.
    pub growth: Growth,
}

/// What was read from the cache by the bills that say so, and what is predicted for the same calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// Tokens of the requests, as billed.
    pub tokens: u64,
    /// Of these, tokens that were read from the cache.
    pub cached: u64,
    /// Tokens of the same requests, as estimated.
    pub predicted_tokens: u64,
    /// Of these, tokens that can be read from the cache.
    pub predicted_cached: u64,
}

/// The growth of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// In estimated tokens.
    pub estimated: i64,
    /// In billed tokens.
    pub billed: i64,
}

impl FromIterator<Step> for History {
    /// Sums up some of the steps of a history, without breakpoints.
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        let mut history = History::default();
        steps.into_iter().for_each(|step| history.push(step));
        history
    }
}

impl History {
    pub(crate) fn push(&mut self, step: Step) {
        self.tokens += step.tokens;
        self.cached += step.cached;
        if let Some(miss) = &step.miss {
            let (calls, tokens) = self.reasons.entry(miss.reason.word()).or_default();
            *calls += 1;
            *tokens += miss.tokens();
        }
        if let Some(billed) = &step.billed {
            let sums = self.billed.get_or_insert_default();
            sums.calls += 1;
            sums.tokens += billed.input;
            if let Some(cached) = billed.cached {
                let reading = sums.reading.get_or_insert_default();
                reading.tokens += billed.input;
                reading.cached += cached;
                reading.predicted_tokens += step.tokens;
                reading.predicted_cached += step.cached;
            }
            let last = self.steps.last();
            let is_extended = step.report.as_ref().is_some_and(|report| report.broken.is_none());
            if let Some((last, before)) = last.and_then(|last| Some((last, last.billed.as_ref()?)))
                && is_extended
                && last.inferred.cleared == step.inferred.cleared
            {
                sums.growth.estimated += difference(last.tokens, step.tokens);
                sums.growth.billed += difference(before.input, billed.input);
            }
        }
        self.steps.push(step);
    }

    /// Returns the share of the input that can be read from the cache, in thousandths, rounded
    /// down.
    #[must_use]
    pub fn per_mille(&self) -> u64 {
        (self.cached * 1000).checked_div(self.tokens).unwrap_or(0)
    }

    /// Returns what each reason cost, most tokens first.
    #[must_use]
    pub fn reasons(&self) -> Vec<ReasonTotal> {
        let mut totals: Vec<ReasonTotal> = self
            .reasons
            .iter()
            .map(|(reason, (calls, tokens))| ReasonTotal { reason, calls: *calls, tokens: *tokens })
            .collect();
        totals.sort_by_key(|total| (std::cmp::Reverse(total.tokens), total.reason));
        totals
    }
}

fn difference(before: u64, after: u64) -> i64 {
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    signed(after) - signed(before)
}
