//! The newest request of a history, measured. What it shares with the next one is kept in place, so
//! that a call costs what it adds.

use std::collections::BTreeMap;

use contextree_provider::{Provider, Span};
use contextree_tokens::Part;
use contextree_tree::TreeRef;

use crate::entries::{Chain, Shape};
use crate::memo::Memo;
use crate::rendered::Rendered;
use crate::settings::Settings;

/// The newest request.
#[derive(Debug, Default)]
pub(crate) struct Last {
    pub(crate) bytes: Vec<u8>,
    pub(crate) spans: Vec<Span>,
    pub(crate) provider: Option<Provider>,
    pub(crate) settings: Settings,
    pub(crate) chain: Chain,
    /// The first span of each node.
    pub(crate) first: BTreeMap<Box<str>, usize>,
    /// What is known about each span.
    facts: Vec<Fact>,
    /// The tokens before the first span, which is 0, then up to the end of each span.
    pub(crate) until: Vec<u64>,
    /// The tokens of reasoning without text among these.
    unseen: Vec<u64>,
    /// The spans in which the user says something after the model has finished, in order. What is
    /// said between a tool call and the next answer belongs to the same turn.
    questions: Vec<usize>,
}

/// What is known about a span.
#[derive(Clone, Copy, Debug)]
struct Fact {
    /// The tokens of the span.
    tokens: u64,
    /// Tokens of reasoning that was returned without its text; they precede the span.
    unseen: u64,
    part: Part,
    is_answer: bool,
}

impl Last {
    /// Returns the request.
    pub(crate) fn rendered(&self) -> Rendered<'_> {
        Rendered::borrowed(&self.bytes, &self.spans, self.provider)
    }

    /// Returns the tokens of the request.
    pub(crate) fn tokens(&self) -> u64 {
        self.until.last().copied().unwrap_or_default()
    }

    /// Returns the tokens of reasoning without text that the request contains.
    pub(crate) fn unseen(&self) -> u64 {
        self.unseen.last().copied().unwrap_or_default()
    }

    /// Forgets the counts, so that everything is counted again.
    pub(crate) fn forget_counts(&mut self) {
        self.facts.clear();
        self.questions.clear();
        self.until.clear();
        self.unseen.clear();
    }

    /// Replaces the request by another one that shares `common` bytes and `same` spans with it.
    /// Returns the number of spans whose counts and hashes are still valid: fewer than `same` if the
    /// provider now drops the reasoning in one of them.
    pub(crate) fn become_next(
        &mut self,
        rendered: &Rendered<'_>,
        tree: TreeRef<'_>,
        (common, same): (usize, usize),
        memo: &mut Memo,
        drops: bool,
    ) -> usize {
        self.bytes.truncate(common);
        self.bytes.extend_from_slice(&rendered.bytes()[common..]);
        for span in self.spans.drain(same..) {
            if self.first.get(&span.node).is_some_and(|index| *index >= same) {
                self.first.remove(&span.node);
            }
        }
        self.provider = rendered.provider();
        let asked = self.question();
        self.facts.truncate(same);
        while self.questions.pop_if(|index| *index >= same).is_some() {}
        let counted = self.facts.len();
        for (index, span) in rendered.spans().iter().enumerate().skip(counted) {
            let tokens = memo.count(rendered.bytes_of(span), span.slot.list);
            let node = tree.get(&span.node);
            let part = node.map_or(Part::Text, Part::of_node);
            let role = node.and_then(|node| node.role());
            if part == Part::Text && role == Some("user") && self.is_answered() {
                self.questions.push(index);
            }
            self.facts.push(Fact { tokens, unseen: 0, part, is_answer: role == Some("assistant") });
        }
        for (index, span) in rendered.spans().iter().enumerate().skip(same) {
            self.first.entry(span.node.clone()).or_insert(index);
            self.spans.push(span.clone());
        }
        // The reasoning between the newest question and the one before it.
        let (from, to) = (asked.min(self.question()), asked.max(self.question()));
        let dropped = drops.then(|| self.first_reasoning(from, to)).flatten();
        dropped.unwrap_or(same).min(counted).min(same)
    }

    /// Adds tokens of reasoning that an answer contains without its text. `from` is the first span
    /// that is new; the answer is the first run of spans of the model after it. `infer` gets the
    /// tokens of the answer, of these the reasoning, and whether some reasoning has no text.
    pub(crate) fn add_unseen(&mut self, from: usize, infer: impl Fn(u64, u64, bool) -> u64) {
        let rest = self.facts.get(from..).unwrap_or_default();
        let Some(start) = rest.iter().position(|fact| fact.is_answer) else { return };
        let answer = rest[start..].iter().take_while(|fact| fact.is_answer);
        let is_reasoning = |fact: &&Fact| fact.part == Part::Reasoning;
        let tokens = answer.clone().map(|fact| fact.tokens).sum();
        let reasoning = answer.clone().filter(is_reasoning).map(|fact| fact.tokens).sum();
        let is_hidden = answer.clone().filter(is_reasoning).any(|fact| fact.tokens == 0);
        // It belongs to the reasoning, if the request has any, else to what follows from it.
        let at = answer.clone().position(|fact| fact.part == Part::Reasoning).unwrap_or(0);
        self.facts[from + start + at].unseen = infer(tokens, reasoning, is_hidden);
    }

    /// Counts and hashes the spans after the first `valid` ones.
    pub(crate) fn finish(&mut self, valid: usize, settings: Settings, drops: bool) {
        for sums in [&mut self.until, &mut self.unseen] {
            sums.truncate(valid + 1);
            if sums.is_empty() {
                sums.push(0);
            }
        }
        let question = if drops { self.question() } else { 0 };
        for (index, fact) in self.facts.iter().enumerate().skip(self.until.len() - 1) {
            let is_past = index < question;
            let own = if is_past && fact.part == Part::Reasoning { 0 } else { fact.tokens };
            let unseen = if is_past { 0 } else { fact.unseen };
            self.until.push(self.tokens() + own + unseen);
            self.unseen.push(self.unseen() + unseen);
        }
        if settings != self.settings {
            self.chain.clear();
        }
        let facts = &self.facts;
        let shape = |index: usize| match facts.get(index) {
            Some(fact) if index < question && fact.part == Part::Reasoning => Shape::Dropped,
            Some(fact) if index >= question && fact.unseen > 0 => Shape::WithUnseen,
            _ => Shape::Plain,
        };
        let rendered = Rendered::borrowed(&self.bytes, &self.spans, self.provider);
        self.chain.follow(&rendered, &settings, valid, shape);
        self.settings = settings;
    }

    /// Returns whether the model has finished: it has spoken after the last result.
    fn is_answered(&self) -> bool {
        let is_of_turn = |fact: &&Fact| fact.is_answer || fact.part == Part::Result;
        self.facts.iter().rev().find(is_of_turn).is_none_or(|fact| fact.part != Part::Result)
    }

    /// Returns the span of the newest question; 0 without one.
    fn question(&self) -> usize {
        self.questions.last().copied().unwrap_or(0)
    }

    /// Returns the first span with reasoning in a range.
    fn first_reasoning(&self, from: usize, to: usize) -> Option<usize> {
        let has_reasoning = |fact: &Fact| fact.part == Part::Reasoning || fact.unseen > 0;
        let within = self.facts.get(from..to).unwrap_or_default();
        Some(from + within.iter().position(has_reasoning)?)
    }
}
