//! Forecasts what a commit under a budget would prune, node by node, with reasons.

use contextree_canon::thread::{blocks, default_role};
use contextree_engine::{Cleared, CommitReport, Preview, Pruned};
use contextree_json::Value;
use contextree_tokens::TokenCounter;
use contextree_tree::{NodeRef, Region, TreeRef};

use crate::budget::Rule;
use crate::keeper::Keeper;

/// The forecast of a commit under a budget. [`Keeper::accept`](crate::Keeper::accept) commits it.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Forecast {
    /// The tokens of a request with everything in the working tree.
    pub tokens_before: u64,
    /// The tokens that expire, independent of the budget.
    pub tokens_expiring: u64,
    /// The tokens of the request: of the snapshot that the commit creates, and of settings.
    pub tokens_after: u64,
    /// The tool results that the budget clears, in pruning order.
    pub clearing: Vec<Clearing>,
    /// The nodes that the budget prunes, in pruning order.
    pub going: Vec<Going>,
    /// The rules that cannot be satisfied because everything that is left is protected.
    pub missed: Vec<Missed>,
    /// The preview of the engine, with the whole report; `None` if the commit has been made.
    pub preview: Option<Preview>,
}

/// A tool result that would be cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clearing {
    /// The result.
    pub node: String,
    /// The block that takes its place.
    pub placeholder: String,
    /// The tokens that are saved.
    pub tokens: u64,
    /// The rule that clears it.
    pub rule: Rule,
}

impl Clearing {
    /// Returns the reason as a phrase.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("cleared: {}; lowest priority, then oldest", because(self.rule))
    }
}

/// A node that would be pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Going {
    /// The node: a block, or a whole turn.
    pub node: String,
    /// Its region.
    pub region: Region,
    /// Its turn, if it is in one; for the head, the name of the region.
    pub turn: Option<String>,
    /// Its role; `None` for a turn.
    pub role: Option<String>,
    /// Its kind, if it has one.
    pub kind: Option<String>,
    /// Its tokens; for a turn, including all descendants.
    pub tokens: u64,
    /// The rule that prunes it.
    pub rule: Rule,
    /// Why this node is pruned.
    pub cause: Cause,
    /// The ids of its descendants, if it is a turn.
    pub along: Vec<String>,
}

/// Why a node is pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// It is next in pruning order: by priority, then by age.
    Next {
        /// Its priority, as written.
        priority: String,
    },
    /// It belongs to a unit that is pruned: a call, its results and its reasoning are pruned
    /// together.
    Unit {
        /// The first block of the unit, or the turn with which it is pruned.
        with: String,
    },
    /// It is the oldest turn that is not protected.
    OldestTurn,
}

/// A rule that cannot be satisfied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// The rule.
    pub rule: Rule,
    /// The id of a turn, the name of a region, or empty for the whole tree.
    pub scope: String,
    /// The tokens or turns that are left.
    pub left: u64,
}

impl Going {
    /// Returns what it is, in a word.
    fn word(&self) -> &'static str {
        match (self.role.as_deref(), self.kind.as_deref()) {
            (None, _) => "turn",
            (_, Some("call" | "tool_call" | "tool_use")) => "call",
            (_, Some("result" | "tool_result")) | (Some("tool"), _) => "result",
            (_, Some("reasoning" | "thinking")) => "reasoning block",
            (Some("user" | "assistant" | "system"), _) => "message",
            _ => "other block",
        }
    }

    /// Returns the reason as a phrase.
    #[must_use]
    pub fn reason(&self) -> String {
        let key = self.rule.key();
        match &self.cause {
            Cause::Unit { with } => {
                format!("pruned with `{with}`: a call, its results and its reasoning are one unit")
            }
            Cause::OldestTurn => format!("over `{key}`; oldest turn that is not protected"),
            Cause::Next { priority } => {
                format!("{}; lowest priority ({priority}), then oldest", because(self.rule))
            }
        }
    }
}

impl Forecast {
    pub(crate) fn new(
        keeper: &Keeper,
        working: TreeRef<'_>,
        report: &CommitReport,
        after: TreeRef<'_>,
    ) -> Self {
        let counter = keeper.counter();
        let expiring = report.expired.iter().chain(&report.along);
        let tokens_of = |id: &String| {
            working
                .get(id)
                .filter(|node| is_block(*node))
                .map_or(0, |node| counter.count_node(node))
        };
        Forecast {
            tokens_before: tokens(working, counter) + keeper.base(),
            tokens_expiring: expiring.map(tokens_of).sum(),
            tokens_after: tokens(after, counter) + keeper.base(),
            clearing: report
                .cleared
                .iter()
                .filter_map(|cleared| clearing(keeper, working, after, cleared))
                .collect(),
            going: report
                .pruned
                .iter()
                .filter_map(|pruned| going(keeper, working, pruned))
                .collect(),
            missed: report
                .unmet
                .iter()
                .filter_map(|unmet| {
                    let rule = keeper.rule(unmet.limit)?;
                    Some(Missed { rule, scope: unmet.scope.clone(), left: unmet.left })
                })
                .collect(),
            preview: None,
        }
    }
}

impl Forecast {
    /// Returns what is cleared and removed and why, in one sentence: "cleared 30 results, removed 12
    /// messages, 33,555 tokens: over `max_tokens`".
    #[must_use]
    pub fn summary(&self, max_tokens: Option<u64>) -> String {
        if self.going.is_empty() && self.clearing.is_empty() {
            let of = max_tokens.map_or_else(String::new, |max| format!(" of {}", grouped(max)));
            return format!("nothing pruned: {}{of} tokens", grouped(self.tokens_after));
        }
        let words = ["turn", "message", "call", "result", "reasoning block", "other block"];
        let counts =
            words.map(|word| (word, self.going.iter().filter(|it| it.word() == word).count()));
        let parts = counts.into_iter().filter(|(_, count)| *count > 0);
        let parts: Vec<String> = parts.map(|(word, count)| counted(count, word)).collect();
        let mut done = Vec::new();
        if !self.clearing.is_empty() {
            done.push(format!("cleared {}", counted(self.clearing.len(), "result")));
        }
        if !parts.is_empty() {
            done.push(format!("removed {}", listed(&parts)));
        }
        let saved: u64 = self.clearing.iter().map(|clearing| clearing.tokens).sum();
        let tokens = saved + self.going.iter().map(|going| going.tokens).sum::<u64>();
        let mut rules: Vec<Rule> = Vec::new();
        let cleared = self.clearing.iter().map(|clearing| clearing.rule);
        for rule in cleared.chain(self.going.iter().map(|going| going.rule)) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        let reasons: Vec<String> = rules.into_iter().map(because).collect();
        let (tokens, reasons) = (grouped(tokens), reasons.join(", "));
        format!("{}, {tokens} tokens: {reasons}", done.join(", "))
    }
}

/// Returns a number of things in words.
fn counted(count: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// Returns for which rule something is removed, in words.
fn because(rule: Rule) -> String {
    match rule {
        Rule::ClearAtLeast => format!("to reach `{}`", rule.key()),
        _ => format!("over `{}`", rule.key()),
    }
}

/// Returns a list in words: `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}

/// Returns a number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn tokens(tree: TreeRef<'_>, counter: &TokenCounter) -> u64 {
    blocks(tree).map(|(_, block)| counter.count_node(block)).sum()
}

fn is_block(node: NodeRef<'_>) -> bool {
    node.class() == contextree_tree::Class::Block
}

fn clearing(
    keeper: &Keeper,
    working: TreeRef<'_>,
    after: TreeRef<'_>,
    cleared: &Cleared,
) -> Option<Clearing> {
    let size = |node| keeper.counter().count_node(node);
    let before = size(working.get(&cleared.id)?);
    Some(Clearing {
        node: cleared.id.clone(),
        placeholder: cleared.placeholder.clone(),
        tokens: before.saturating_sub(size(after.get(&cleared.placeholder)?)),
        rule: keeper.rule(cleared.limit)?,
    })
}

fn going(keeper: &Keeper, working: TreeRef<'_>, pruned: &Pruned) -> Option<Going> {
    let node = working.get(&pruned.id)?;
    let region = node.region()?;
    let block = is_block(node);
    let cause = match &pruned.with {
        Some(with) => Cause::Unit { with: with.clone() },
        None if !block => Cause::OldestTurn,
        None => Cause::Next { priority: priority(node) },
    };
    let below = node.subtree().map(|(_, node)| node).filter(|node| is_block(*node));
    Some(Going {
        node: pruned.id.clone(),
        region,
        turn: turn_of(node, region),
        role: block.then(|| node.role().unwrap_or(default_role(Some(region))).to_owned()),
        kind: node.kind().map(str::to_owned),
        tokens: below.map(|node| keeper.counter().count_node(node)).sum(),
        rule: keeper.rule(pruned.limit)?,
        cause,
        along: pruned.along.clone(),
    })
}

fn priority(node: NodeRef<'_>) -> String {
    let bytes = Value::Number(node.priority().to_number()).to_canonical();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the turn that a node is in, or is.
fn turn_of(node: NodeRef<'_>, region: Region) -> Option<String> {
    match region {
        Region::Sys => None,
        Region::Head => Some(region.word().to_owned()),
        Region::Seq => {
            let line = std::iter::once(node).chain(node.ancestors());
            let top = line.take_while(|node| node.as_region().is_none()).last();
            top.map(|turn| turn.id().to_owned())
        }
    }
}
