//! Why a call did not read the whole previous request from the cache, by the rules and by the bill.

use std::fmt;

use crate::call::Billed;
use crate::cause::Cause;
use crate::reason::Reason;
use crate::report::{Break, Report};

/// A miss: tokens of the previous request that were not read from the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Miss {
    /// Why.
    pub reason: MissReason,
    /// The tokens that the rules say cannot be read.
    pub predicted: u64,
    /// The tokens that were not read, by the bill; `None` if this call or the previous one was not
    /// billed.
    pub billed: Option<u64>,
}

impl Miss {
    /// Returns the tokens that the miss cost: as billed, if known, else as predicted.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.billed.unwrap_or(self.predicted)
    }
}

/// Why a call missed the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissReason {
    /// The request does not extend the previous one; its [`Report`] names the node and what
    /// happened to it.
    Changed(Reason),
    /// Content is at another position than in the previous request.
    Moved,
    /// The time between the calls was longer than the lifetime of an entry.
    Expired {
        /// The seconds between the calls.
        gap_s: u64,
        /// The lifetime in seconds.
        lifetime_s: u64,
    },
    /// The provider dropped the reasoning of earlier turns, because the user said something new.
    ReasoningDropped,
    /// The agent cleared old content: its log says so, or the request became shorter although the log
    /// shows no change.
    Cleared,
    /// The previous request was too short to be cached.
    BelowMinimum,
    /// The request has no breakpoint, and the provider reads only up to one.
    NoBreakpoint,
    /// The previous call did not write all of its request to the cache, by its bill.
    NotWritten,
    /// No breakpoint is close enough to an entry.
    OutOfReach,
    /// By the rules, everything should have been read. The provider may say why.
    Unexplained {
        /// The part of the request in which the provider stopped reading.
        place: Place,
    },
}

/// The part of a request in which a provider stopped reading from its cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In what is not in the log: system text or tools.
    Unlogged,
    /// Near a node.
    Node(
        /// Its id.
        String,
    ),
    /// Unknown.
    Unknown,
}

impl MissReason {
    /// Returns the stable name, in snake case: `expired`, `tools_changed`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            MissReason::Changed(reason) => reason.word(),
            MissReason::Moved => "content_moved",
            MissReason::Expired { .. } => "expired",
            MissReason::ReasoningDropped => "reasoning_dropped",
            MissReason::Cleared => "content_cleared",
            MissReason::BelowMinimum => "below_minimum",
            MissReason::NoBreakpoint => "no_breakpoint",
            MissReason::NotWritten => "not_written",
            MissReason::OutOfReach => "out_of_reach",
            MissReason::Unexplained { .. } => "unexplained",
        }
    }

    /// Returns how to avoid it; `None` if that depends on what changed ([`Cause::advice`]).
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            MissReason::Changed(_) | MissReason::Moved => None,
            MissReason::Expired { .. } => Some(
                "ask for the longer lifetime if calls are further apart, and change old content only after such a pause",
            ),
            MissReason::ReasoningDropped => {
                Some("nothing to do: the provider drops reasoning before each new question")
            }
            MissReason::Cleared => Some(
                "clear old results rarely and many at once: each time, everything after them is processed again",
            ),
            MissReason::BelowMinimum => {
                Some("nothing to do: the request is too short to be cached")
            }
            MissReason::NoBreakpoint => {
                Some("set breakpoints: without them the provider caches nothing")
            }
            MissReason::NotWritten => {
                Some("set a breakpoint at the end of each request, so that the next one finds it")
            }
            MissReason::OutOfReach => {
                Some("set a breakpoint at the end of the previous request: see `--breakpoints`")
            }
            MissReason::Unexplained { .. } => Some(
                "compare system text, tools and settings of the two requests: the log does not show a reason",
            ),
        }
    }
}

impl fmt::Display for MissReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissReason::Changed(reason) => formatter.write_str(reason.word()),
            MissReason::Moved => formatter.write_str("content is at another position"),
            MissReason::Expired { lifetime_s, .. } => {
                write!(formatter, "the cache expired after {} minutes", lifetime_s / 60)
            }
            MissReason::ReasoningDropped => {
                formatter.write_str("the provider dropped the reasoning of earlier turns")
            }
            MissReason::Cleared => formatter.write_str(
                "the request is shorter than before: content was cleared, which is not logged",
            ),
            MissReason::BelowMinimum => formatter.write_str("the request is too short"),
            MissReason::NoBreakpoint => formatter.write_str("the request has no breakpoint"),
            MissReason::NotWritten => {
                formatter.write_str("the previous call did not write all of its request")
            }
            MissReason::OutOfReach => formatter.write_str("no breakpoint reaches the last entry"),
            MissReason::Unexplained { place: Place::Unlogged } => {
                formatter.write_str("something that is not in the log, before the first message")
            }
            MissReason::Unexplained { place: Place::Node(node) } => {
                write!(formatter, "reading stopped near {node}")
            }
            MissReason::Unexplained { place: Place::Unknown } => {
                formatter.write_str("the log shows no reason")
            }
        }
    }
}

/// The tokens that one reason cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonTotal {
    /// The reason: [`MissReason::word`].
    pub reason: &'static str,
    /// The number of calls.
    pub calls: u64,
    /// The tokens: as billed, if known, else as predicted.
    pub tokens: u64,
}

/// What was seen between two calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The gap and the lifetime, in seconds, if the entry has expired.
    pub(crate) expired: Option<(u64, u64)>,
    /// Whether the provider dropped reasoning.
    pub(crate) has_dropped: bool,
    /// Whether the agent cleared content without logging it.
    pub(crate) has_cleared: bool,
    /// Whether the previous call wrote less to the cache than its whole request.
    pub(crate) is_unwritten: bool,
}

/// What the rules say about a call.
pub(crate) struct Ruled<'a> {
    /// The tokens of the previous request, as estimated.
    pub(crate) before: u64,
    /// The tokens that can be read from the cache.
    pub(crate) cached: u64,
    /// The comparison with the previous request.
    pub(crate) report: Option<&'a Report>,
    pub(crate) seen: Seen,
    /// Whether the provider needs breakpoints, and the request has none.
    pub(crate) is_unmarked: bool,
    /// The shortest prefix that is cached.
    pub(crate) min_tokens: u64,
}

/// The least number of tokens, and the least share in per cent of the previous request, that make
/// a difference between the bill and the rules a miss: providers read whole blocks only.
const LEAST_TOKENS: u64 = 1024;
const LEAST_PERCENT: u64 = 5;

/// Returns the number of tokens by which a bill may differ from the rules without meaning anything.
pub(crate) fn slack(input: u64) -> u64 {
    LEAST_TOKENS.max(input * LEAST_PERCENT / 100)
}

impl Ruled<'_> {
    /// Returns the miss of a call, if there is one. `before` and `after` are the bills of the
    /// previous call and of this one; `place` locates a number of tokens in the request.
    pub(crate) fn miss(
        &self,
        before: Option<&Billed>,
        after: Option<&Billed>,
        place: impl Fn(u64) -> Place,
    ) -> Option<Miss> {
        let predicted = self.before.saturating_sub(self.cached);
        let reason = self.reason(predicted);
        let read = after.and_then(|after| after.cached);
        let (Some(before), Some(read)) = (before, read) else {
            return Some(Miss { reason: reason?, predicted, billed: None });
        };
        let billed = before.input.saturating_sub(read);
        let slack = slack(before.input);
        // What the rules explain, as a share of the bill: estimates are on another scale.
        let explained = match (&reason, u128::from(self.before)) {
            (None, _) | (_, 0) => 0,
            (_, all) => u128::from(before.input) * u128::from(predicted) / all,
        };
        if u128::from(billed) > explained + u128::from(slack) {
            let predicted = if reason.is_some() { predicted } else { 0 };
            let reason = match self.seen.has_cleared {
                true => MissReason::Cleared,
                false => MissReason::Unexplained { place: place(read) },
            };
            return Some(Miss { reason, predicted, billed: Some(billed) });
        }
        Some(Miss { reason: reason?, predicted, billed: Some(billed) })
    }

    /// Returns why the rules do not allow the whole previous request to be read.
    fn reason(&self, lost: u64) -> Option<MissReason> {
        let broken = self.report.and_then(|report| report.broken.as_ref());
        let is_model = |broken: &&Break| broken.reason == Reason::Model;
        if broken.filter(is_model).is_some() {
            return Some(MissReason::Changed(Reason::Model));
        }
        if let Some((gap_s, lifetime_s)) = self.seen.expired.filter(|_| lost > 0) {
            return Some(MissReason::Expired { gap_s, lifetime_s });
        }
        // An older request may have been sent with the same setting: then little is lost.
        let is_harmless = |broken: &&Break| {
            matches!(broken.reason, Reason::Thinking | Reason::ToolChoice)
                && lost <= slack(self.before)
        };
        if let Some(broken) = broken.filter(|broken| !is_harmless(broken)) {
            return Some(match &broken.cause {
                Cause::Moved => MissReason::Moved,
                Cause::ClearedByClient => MissReason::Cleared,
                _ => MissReason::Changed(broken.reason),
            });
        }
        if self.seen.has_dropped {
            return Some(MissReason::ReasoningDropped);
        }
        if self.before < self.min_tokens {
            return (lost > 0).then_some(MissReason::BelowMinimum);
        }
        if self.is_unmarked && lost > 0 {
            return Some(MissReason::NoBreakpoint);
        }
        let is_unwritten = self.seen.is_unwritten;
        let reason = if is_unwritten { MissReason::NotWritten } else { MissReason::OutOfReach };
        (lost > slack(self.before)).then_some(reason)
    }
}
