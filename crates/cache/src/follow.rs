//! A whole history, request by request.

use contextree_tokens::Tokenizer;

use crate::cause::Evidence;
use crate::prompt::Prompt;
use crate::rendered::Rendered;
use crate::report::{Report, compare};
use crate::rules::CacheRules;

/// One request of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Tokens of the request.
    pub tokens: u64,
    /// Tokens of it that are read from the cache.
    pub cached: u64,
    /// How it compares with the request before; nothing for the first.
    pub report: Option<Report>,
}

/// A history of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct History {
    /// One for each request, in order.
    pub steps: Vec<Step>,
    /// Tokens of all requests.
    pub tokens: u64,
    /// Tokens of all requests that are read from the cache.
    pub cached: u64,
}

impl History {
    /// Returns the share of input that is read from the cache, in thousandths, rounded down.
    #[must_use]
    pub fn per_mille(&self) -> u64 {
        (self.cached * 1000).checked_div(self.tokens).unwrap_or(0)
    }
}

/// Follows a history: it is given one request after the other and keeps the last one.
///
/// What is read from the cache is the most that it can be: every request comes while the entry of the one before is still there, and
/// breakpoints are set as [`breakpoints`](crate::breakpoints()) says.
#[derive(Debug)]
pub struct Follower {
    tokenizer: Tokenizer,
    rules: CacheRules,
    last: Option<Last>,
    history: History,
}

/// The last request, with everything that it borrowed.
#[derive(Debug)]
struct Last {
    bytes: Vec<u8>,
    spans: Vec<(usize, usize, String)>,
    until: Vec<u64>,
}

impl Last {
    fn of(prompt: &Prompt<'_>) -> Self {
        let rendered = prompt.rendered();
        let spans = rendered.spans().iter();
        Last {
            bytes: rendered.bytes().to_vec(),
            spans: spans.map(|span| (span.start, span.end, span.node.to_owned())).collect(),
            until: prompt.counts().to_vec(),
        }
    }

    fn prompt(&self) -> Prompt<'_> {
        let spans = self.spans.iter().map(|(start, end, node)| (*start, *end, node.as_str()));
        let rendered = Rendered::new(&self.bytes, spans).expect("the spans were in order before");
        Prompt::counted(rendered, self.until.clone())
    }
}

impl Follower {
    /// Returns a follower that has seen nothing yet.
    #[must_use]
    pub fn new(tokenizer: Tokenizer, rules: CacheRules) -> Self {
        Follower { tokenizer, rules, last: None, history: History::default() }
    }

    /// Takes the next request; `evidence` is of the snapshots of the last one and of this one, and is not looked at for the first.
    pub fn follow(&mut self, rendered: &Rendered<'_>, evidence: &Evidence<'_>) -> &Step {
        let (step, last) = match &self.last {
            None => {
                let prompt = Prompt::measure(rendered.clone(), self.tokenizer);
                (Step { tokens: prompt.tokens(), cached: 0, report: None }, Last::of(&prompt))
            }
            Some(last) => {
                let before = last.prompt();
                let after = Prompt::measure_after(rendered.clone(), self.tokenizer, &before);
                let report = compare(&before, &after, evidence);
                let prefix = report.tokens.prefix;
                let cached = if prefix >= self.rules.min_tokens { prefix } else { 0 };
                let step = Step { tokens: after.tokens(), cached, report: Some(report) };
                (step, Last::of(&after))
            }
        };
        self.last = Some(last);
        self.history.tokens += step.tokens;
        self.history.cached += step.cached;
        self.history.steps.push(step);
        self.history.steps.last().expect("a step was just added")
    }

    /// Returns everything so far.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns everything, at the end.
    #[must_use]
    pub fn finish(self) -> History {
        self.history
    }
}
