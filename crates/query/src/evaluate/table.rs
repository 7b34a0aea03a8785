//! Evaluates chains with picks step by step over a table of the whole tree.
//!
//! `:first`, `:last` and `:nth` choose among nodes, so the path to a node does not decide whether
//! it matches. The table lists every node and every elided core in document order with its parents;
//! each step is one pass over it.

use contextree_tree::NodeRef;

use super::condition::Env;
use super::order::newer_first;
use super::spot::{Spot, has_elided_core, is_zoned, lies_in_core};
use crate::depth::Axis;
use crate::resolve::{Chain, Compound, Part, Pick, Relation};

struct Row<'t> {
    spot: Spot<'t>,
    parent: usize,
    /// The elided core that contains the node.
    core: Option<usize>,
    parent_is_zoned: bool,
}

/// All spots of a tree, in document order. An elided core precedes its first block.
pub(crate) struct Table<'t> {
    rows: Vec<Row<'t>>,
}

const NOWHERE: usize = usize::MAX;

impl<'t> Table<'t> {
    pub(crate) fn new(axis: &Axis<'t>) -> Self {
        let tree = axis.tree();
        let mut turns = axis.turns();
        let mut rows: Vec<Row<'t>> = Vec::with_capacity(tree.node_count());
        // By level: the row, whether it has zones, and its elided core (`NOWHERE` until it is in
        // the table).
        let mut path: Vec<(usize, bool, Option<usize>)> = Vec::new();
        for (level, node) in tree.nodes() {
            path.truncate(level);
            let above = path.last().copied();
            let inherited =
                above.and_then(|(row, ..)| rows.get(row)).and_then(|row| row.spot.depth);
            let depth = match (node.as_region(), level) {
                (Some(region), _) => Axis::region_depth(region),
                (None, 2) if inherited.is_none() => turns.next().map(|(depth, _)| depth),
                _ => inherited,
            };
            let spot = Spot { node, depth, level, is_core: false };
            let (parent, parent_is_zoned, mut core) = above.unwrap_or((NOWHERE, false, None));
            if core == Some(NOWHERE)
                && node.offset().signum() >= 0
                && let Some(owner) = rows.get(parent).map(|row| row.spot)
            {
                core = Some(rows.len());
                if let Some(top) = path.last_mut() {
                    top.2 = core;
                }
                rows.push(Row { spot: owner.core(), parent, core: None, parent_is_zoned: true });
            }
            let core = core.filter(|_| lies_in_core(node));
            path.push((rows.len(), is_zoned(node), has_elided_core(node).then_some(NOWHERE)));
            rows.push(Row { spot, parent, core, parent_is_zoned });
        }
        Table { rows }
    }

    /// Returns the nodes that match one of the chains, in document order.
    pub(crate) fn matches(&self, chains: &[Chain], env: &Env<'_>) -> Vec<NodeRef<'t>> {
        let mut found = vec![false; self.rows.len()];
        for chain in chains {
            let Some(matched) = self.matched(chain, env) else { return Vec::new() };
            found.iter_mut().zip(matched).for_each(|(found, matched)| *found |= matched);
        }
        let rows = self.rows.iter().zip(&found);
        rows.filter(|(row, is_match)| **is_match && !row.spot.is_core)
            .map(|(row, _)| row.spot.node)
            .collect()
    }

    /// Returns for each row whether it matches a chain; `None` if the query has to end.
    fn matched(&self, chain: &Chain, env: &Env<'_>) -> Option<Vec<bool>> {
        // By row: whether the previous step matched it, and whether it matched an ancestor.
        let mut matched: Vec<bool> = Vec::new();
        let mut is_after_zone = false;
        for (index, step) in chain.steps.iter().enumerate() {
            // Which rows are below others, which are candidates, and the result.
            env.charge(self.rows.len());
            if env.is_out() {
                return None;
            }
            let is_last = index + 1 == chain.steps.len();
            let below = self.below(&matched);
            let accepts_core = step.is_zone || (!is_last && step.compound.accepts_core());
            let is_candidate = |at: usize, row: &Row<'t>| {
                let is_related = match step.relation {
                    _ if index == 0 => true,
                    Relation::Child => {
                        matched.get(row.parent) == Some(&true)
                            || row.core.is_some_and(|core| matched[core])
                    }
                    Relation::Descendant => below[at] || (is_after_zone && matched[at]),
                };
                is_related
                    && (!step.is_zone || row.parent_is_zoned)
                    && (!row.spot.is_core || accepts_core)
            };
            let candidates =
                self.rows.iter().enumerate().filter(|(at, row)| is_candidate(*at, row));
            let chosen = self.narrow(&step.compound, candidates.map(|(at, _)| at).collect(), env);
            matched = vec![false; self.rows.len()];
            chosen.iter().for_each(|at| matched[*at] = true);
            is_after_zone = step.is_zone;
        }
        matched.resize(self.rows.len(), false);
        Some(matched)
    }

    /// Returns for each row whether an ancestor is marked. Parents precede children, so one pass
    /// suffices.
    fn below(&self, marked: &[bool]) -> Vec<bool> {
        let mut below = vec![false; self.rows.len()];
        if marked.is_empty() {
            return below;
        }
        for (at, row) in self.rows.iter().enumerate() {
            let is_below = |above: usize| above != NOWHERE && (marked[above] || below[above]);
            below[at] = is_below(row.parent) || row.core.is_some_and(is_below);
        }
        below
    }

    /// Applies the parts of a compound from left to right.
    fn narrow(&self, compound: &Compound, mut candidates: Vec<usize>, env: &Env<'_>) -> Vec<usize> {
        for part in &compound.parts {
            match part {
                Part::Test(condition) => {
                    env.charge(candidates.len());
                    candidates.retain(|at| condition.holds(&self.rows[*at].spot, env));
                }
                Part::Pick(pick) => {
                    // They are sorted.
                    env.charge(4 * candidates.len());
                    candidates = match &compound.key {
                        Some(key) => self.pick_of_key(*pick, key, &candidates),
                        None => self.pick_of_siblings(*pick, candidates),
                    };
                }
            }
        }
        candidates
    }

    /// ER-084: with a key equality, picks choose among all nodes of the key, newest first.
    fn pick_of_key(&self, pick: Pick, key: &str, candidates: &[usize]) -> Vec<usize> {
        let spot = |at: &usize| &self.rows[*at].spot;
        let has_key = |at: &&usize| !spot(at).is_core && spot(at).node.key() == Some(key);
        let mut set: Vec<usize> = candidates.iter().filter(has_key).copied().collect();
        set.sort_by(|left, right| newer_first(spot(left), spot(right)));
        choose(pick, &set).into_iter().collect()
    }

    /// Otherwise picks choose among the siblings that satisfy the parts to the left.
    fn pick_of_siblings(&self, pick: Pick, mut candidates: Vec<usize>) -> Vec<usize> {
        // Stable: siblings stay in document order.
        candidates.sort_by_key(|at| self.rows[*at].parent);
        let mut chosen: Vec<usize> = candidates
            .chunk_by(|left, right| self.rows[*left].parent == self.rows[*right].parent)
            .filter_map(|siblings| choose(pick, siblings))
            .collect();
        chosen.sort_unstable();
        chosen
    }
}

fn choose(pick: Pick, set: &[usize]) -> Option<usize> {
    match pick {
        Pick::First => set.first(),
        Pick::Last => set.last(),
        Pick::Nth(number) => set.get(usize::try_from(number).ok()?.checked_sub(1)?),
    }
    .copied()
}
