//! Groups blocks that are removed together or not at all: a tool call, its results and the
//! reasoning before it.

use std::collections::{BTreeMap, BTreeSet};

use contextree_json::Value;
use contextree_tree::NodeRef;

use super::prune::{Block, rank};

/// Groups blocks by their tool calls: each unit in pruning order, and units in the order of their
/// first block. A block that names several calls joins them into one unit. The blocks are given in
/// document order.
pub(super) fn units(blocks: Vec<Block<'_>>) -> Vec<Vec<Block<'_>>> {
    let mut uses = Uses::default();
    let mut blocks: Vec<(Block<'_>, Vec<Use>)> = blocks
        .into_iter()
        .map(|block| {
            let calls = uses.of_block(block.node);
            (block, calls)
        })
        .collect();
    blocks.sort_by(|(left, _), (right, _)| rank(left.node).cmp(&rank(right.node)));
    // By call: the first block that names it. By block: an earlier block of the same unit, or
    // itself (union-find).
    let mut by_call: BTreeMap<Use, usize> = BTreeMap::new();
    let mut leader: Vec<usize> = (0..blocks.len()).collect();
    for (index, (_, calls)) in blocks.iter_mut().enumerate() {
        for call in std::mem::take(calls) {
            let other = *by_call.entry(call).or_insert(index);
            let (left, right) = (find(&mut leader, index), find(&mut leader, other));
            leader[left.max(right)] = left.min(right);
        }
    }
    let mut units: Vec<Vec<Block<'_>>> = Vec::new();
    let mut unit_of: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, (block, _)) in blocks.into_iter().enumerate() {
        let unit = *unit_of.entry(find(&mut leader, index)).or_insert(units.len());
        match units.get_mut(unit) {
            Some(unit) => unit.push(block),
            None => units.push(vec![block]),
        }
    }
    units
}

/// A call: its id, and how many calls before it had the same id.
type Use = (Vec<u8>, usize);

/// The calls so far, by id, in document order. Servers that number calls per answer (`call_0`) use
/// the same id again and again: each use is a call of its own.
#[derive(Default)]
struct Uses(BTreeMap<Vec<u8>, LastUse>);

/// The last call with an id.
#[derive(Default)]
struct LastUse {
    number: usize,
    is_called: bool,
    is_answered: bool,
}

impl Uses {
    /// Returns the calls that a block belongs to: `data_call_id` and `data_call_ids`.
    ///
    /// The id means another call from the next block of kind `call` on, or from reasoning that
    /// follows a result, because reasoning precedes the call that it led to.
    fn of_block(&mut self, block: NodeRef<'_>) -> Vec<Use> {
        let one = block.attribute("data_call_id");
        let many = block.attribute("data_call_ids").and_then(Value::as_array);
        let (is_call, is_result) = (is_call(block), is_result(block));
        let leads = many.is_some() || matches!(block.kind(), Some("reasoning" | "thinking"));
        let is_id = |id: &&Value| matches!(id, Value::String(_) | Value::Number(_));
        let named = one.into_iter().chain(many.unwrap_or_default()).filter(is_id);
        let ids: BTreeSet<Vec<u8>> = named.map(Value::to_canonical).collect();
        ids.into_iter()
            .map(|id| {
                let last = self.0.entry(id.clone()).or_default();
                let is_new = match (is_call, is_result) {
                    (true, _) => last.is_called,
                    (false, true) => false,
                    (false, false) => leads && last.is_called && last.is_answered,
                };
                if is_new {
                    *last = LastUse { number: last.number + 1, ..LastUse::default() };
                }
                last.is_called |= is_call;
                last.is_answered |= is_result;
                (id, last.number)
            })
            .collect()
    }
}

fn is_call(block: NodeRef<'_>) -> bool {
    matches!(block.kind(), Some("call" | "tool_call" | "tool_use"))
}

/// Returns whether a block is the result of a tool call.
pub(super) fn is_result(block: NodeRef<'_>) -> bool {
    matches!(block.kind(), Some("result" | "tool_result"))
        || !is_call(block) && block.role() == Some("tool")
}

/// Returns the first block of a unit, and shortens the path to it.
fn find(leader: &mut [usize], mut block: usize) -> usize {
    while leader[block] != block {
        leader[block] = leader[leader[block]];
        block = leader[block];
    }
    block
}
