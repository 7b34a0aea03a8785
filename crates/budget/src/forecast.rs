//! What a commit under a budget would take, node by node, with the reason.

use contextree_canon::thread::{blocks, default_role};
use contextree_engine::{Context, Preview, Pruned};
use contextree_json::Value;
use contextree_tokens::TokenCounter;
use contextree_tree::{NodeRef, Region, TreeRef};

use crate::budget::Rule;
use crate::keeper::Keeper;

/// What a commit under a budget would do. [`Keeper::accept`](crate::Keeper::accept) makes it real.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Forecast {
    /// Tokens of the working tree, before anything goes.
    pub tokens_before: u64,
    /// Tokens that expire, whatever the budget says.
    pub tokens_expiring: u64,
    /// Tokens of the snapshot that the commit would make.
    pub tokens_after: u64,
    /// What the budget takes, in the order in which it goes.
    pub going: Vec<Going>,
    /// Rules that cannot be kept, because everything that is left is protected.
    pub missed: Vec<Missed>,
    /// The engine's own preview, with the whole report.
    pub preview: Preview,
}

/// A node that would go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Going {
    /// The node: a block, or a whole turn.
    pub node: String,
    /// Where it stands.
    pub region: Region,
    /// The turn that it stands in, if it stands in one; the head by its word.
    pub turn: Option<String>,
    /// Its role; nothing for a turn.
    pub role: Option<String>,
    /// Its kind, if it has one.
    pub kind: Option<String>,
    /// Its tokens; for a turn, of everything in it.
    pub tokens: u64,
    /// The rule that takes it.
    pub rule: Rule,
    /// Why this node.
    pub cause: Cause,
    /// Everything below it: the nodes of a turn.
    pub along: Vec<String>,
}

/// Why this node and not another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// It is the next one in pruning order: priority, then age.
    Next {
        /// Its priority, as it is written.
        priority: String,
    },
    /// It belongs to a call whose first block goes: a call, its results and its reasoning are one unit.
    Unit {
        /// That block, or the turn that it goes with.
        with: String,
    },
    /// It is the oldest turn that may go.
    OldestTurn,
}

/// A rule that cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// The rule.
    pub rule: Rule,
    /// A turn's id, a region's word, or empty for the whole tree.
    pub scope: String,
    /// What is left: tokens, or turns.
    pub left: u64,
}

impl Going {
    /// Returns the reason as a sentence without its end.
    #[must_use]
    pub fn reason(&self) -> String {
        let key = self.rule.key();
        match &self.cause {
            Cause::Unit { with } => {
                format!("goes with `{with}`: a call, its results and its reasoning are one unit")
            }
            Cause::OldestTurn => format!("`{key}` is passed; this is the oldest turn that may go"),
            Cause::Next { priority } => {
                let passed = match self.rule {
                    Rule::ClearAtLeast => format!("`{key}` asks for more, now that something goes"),
                    _ => format!("`{key}` is passed"),
                };
                format!(
                    "{passed}; of what may go, this has the lowest priority ({priority}) and is the oldest"
                )
            }
        }
    }
}

impl Forecast {
    pub(crate) fn new(keeper: &Keeper, context: &Context, preview: Preview) -> Self {
        let (working, counter) = (context.working(), keeper.counter());
        let report = &preview.report;
        let expiring = report.expired.iter().chain(&report.along);
        let tokens_of = |id: &String| {
            working
                .get(id)
                .filter(|node| is_block(*node))
                .map_or(0, |node| counter.count_node(node))
        };
        Forecast {
            tokens_before: tokens(working, counter),
            tokens_expiring: expiring.map(tokens_of).sum(),
            tokens_after: tokens(preview.snapshot.view(), counter),
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
            preview,
        }
    }
}

fn tokens(tree: TreeRef<'_>, counter: &TokenCounter) -> u64 {
    blocks(tree).map(|(_, block)| counter.count_node(block)).sum()
}

fn is_block(node: NodeRef<'_>) -> bool {
    node.class() == contextree_tree::Class::Block
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

/// Returns the turn that a node stands in, or is.
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
