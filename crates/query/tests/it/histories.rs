//! Random histories, and the expected results of ranges over them.
//!
//! The fuzz target `evaluate` includes this file and `generate.rs` too.

use std::collections::BTreeMap;

use contextree_query::{DiffBlock, RangeDiff};
use contextree_selector::Selector;
use contextree_testkit::naive;
use contextree_tree::diff::changed_fields;
use contextree_tree::{Body, Content, Cycle, Draft, NodeRef, Region, Scalar};

use crate::generate::{self, Ids};
use crate::support::{History, Random};

/// Returns a history of a few snapshots in which nodes are added, removed, moved and changed.
pub(crate) fn history(random: &mut Random) -> History {
    let first = generate::tree(random, Cycle::ZERO);
    let mut draft = first.continue_branch();
    let mut ids = Ids { next: 1000 };
    let mut snapshots = vec![(Cycle::ZERO, first)];
    for cycle in 1..2 + random.index(4) as u32 {
        for _ in 0..random.index(5) {
            change(&mut draft, random, &mut ids);
        }
        snapshots.push((Cycle(cycle), draft.freeze()));
    }
    History { snapshots, working: Some(draft) }
}

fn change(draft: &mut Draft, random: &mut Random, ids: &mut Ids) {
    let head = draft.view().region(Region::Head).key_of();
    let sequence = draft.view().region(Region::Seq).key_of();
    let is_fixed = |node: NodeRef<'_>| node.as_region().is_some() || node.parent_id().is_none();
    let free: Vec<_> = draft
        .view()
        .nodes()
        .filter(|(_, node)| !is_fixed(*node))
        .map(|(_, node)| node.key_of())
        .collect();
    let any = if free.is_empty() { None } else { Some(free[random.index(free.len())]) };
    match (random.index(8), any) {
        (0, _) | (_, None) => {
            draft.insert(head, generate::leaf(ids, random));
        }
        (1, _) => {
            let turn = draft.insert(sequence, ids.node(random, "mt"));
            draft.insert(turn, generate::leaf(ids, random));
        }
        (2, Some(any)) => {
            draft.insert(any, generate::leaf(ids, random));
        }
        (3, Some(any)) => {
            draft.remove(any);
        }
        (4, Some(any)) => {
            draft.set_priority(any, Scalar::Int(random.index(3) as i64));
        }
        (5, Some(any)) => {
            draft.set_expires(any, random.one_in(2).then(|| Cycle(6 + random.index(3) as u32)));
        }
        (6, Some(any)) => {
            let attributes = generate::leaf(ids, random).body.attributes;
            draft.set_body(any, Body::new(Content::from("changed"), attributes));
        }
        (_, Some(any)) => draft.relocate(any, head, Scalar::Int(random.index(3) as i64 - 1)),
    }
}

/// Added, removed, changed with fields.
pub(crate) type Block = (Vec<String>, Vec<String>, Vec<(String, Vec<String>)>);

/// Returns the expected blocks, computed snapshot by snapshot with the naive evaluator.
pub(crate) fn expected(selector: &Selector, history: &History) -> Vec<Block> {
    let matches: Vec<BTreeMap<&str, NodeRef<'_>>> = history
        .snapshots
        .iter()
        .rev()
        .map(|(cycle, tree)| {
            naive::select(selector, tree.view(), Some(*cycle))
                .into_iter()
                .map(|node| (node.id(), node))
                .collect()
        })
        .collect();
    let trees: Vec<_> = history.snapshots.iter().rev().map(|(_, tree)| tree.view()).collect();
    (1..matches.len())
        .map(|older| {
            let (before, after, tree) = (&matches[older], &matches[older - 1], trees[older - 1]);
            let place =
                |id: &str| tree.nodes().position(|(_, node)| node.id() == id).unwrap_or(usize::MAX);
            let mut added: Vec<String> = after
                .keys()
                .filter(|id| !before.contains_key(*id))
                .map(|id| (*id).to_owned())
                .collect();
            added.sort_by_key(|id| place(id));
            let mut removed: Vec<String> = before
                .keys()
                .filter(|id| !after.contains_key(*id))
                .map(|id| (*id).to_owned())
                .collect();
            removed.sort_by_key(|id| (place(id), id.clone()));
            let mut changed: Vec<(String, Vec<String>)> = after
                .iter()
                .filter_map(|(id, new)| {
                    let fields = changed_fields(*before.get(id)?, *new);
                    (!fields.is_empty())
                        .then(|| ((*id).to_owned(), fields.into_iter().map(Into::into).collect()))
                })
                .collect();
            changed.sort_by_key(|(id, _)| place(id));
            (added, removed, changed)
        })
        .collect()
}

/// Returns the parts of a range that [`expected`] computes.
pub(crate) fn blocks(range: RangeDiff) -> Vec<Block> {
    let block = |block: DiffBlock| {
        let changed = block.changed.into_iter().map(|node| (node.id, node.fields)).collect();
        (block.added, block.removed, changed)
    };
    range.diffs.into_iter().map(block).collect()
}
