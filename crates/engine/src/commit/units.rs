//! Groups blocks that are removed together or not at all: a tool call, its results and the
//! reasoning before it.

use std::collections::BTreeMap;

use contextree_json::Value;
use contextree_tree::NodeRef;

use super::prune::{Block, rank};

/// Groups blocks by their tool calls: each unit in pruning order, and units in the order of their
/// first block. A block that names several calls joins them into one unit.
pub(super) fn units(mut blocks: Vec<Block<'_>>) -> Vec<Vec<Block<'_>>> {
    blocks.sort_by(|left, right| rank(left.node).cmp(&rank(right.node)));
    // By call: the first block that names it. By block: an earlier block of the same unit, or
    // itself (union-find).
    let mut by_call: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut leader: Vec<usize> = (0..blocks.len()).collect();
    for (index, block) in blocks.iter().enumerate() {
        for call in calls(block.node) {
            let other = *by_call.entry(call).or_insert(index);
            let (left, right) = (find(&mut leader, index), find(&mut leader, other));
            leader[left.max(right)] = left.min(right);
        }
    }
    let mut units: Vec<Vec<Block<'_>>> = Vec::new();
    let mut unit_of: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, block) in blocks.into_iter().enumerate() {
        let unit = *unit_of.entry(find(&mut leader, index)).or_insert(units.len());
        match units.get_mut(unit) {
            Some(unit) => unit.push(block),
            None => units.push(vec![block]),
        }
    }
    units
}

/// Returns the calls that a block belongs to: `data_call_id` and `data_call_ids`.
fn calls(block: NodeRef<'_>) -> Vec<Vec<u8>> {
    let one = block.attribute("data_call_id");
    let many = block.attribute("data_call_ids").and_then(Value::as_array).unwrap_or_default();
    let is_id = |id: &&Value| matches!(id, Value::String(_) | Value::Number(_));
    one.into_iter().chain(many).filter(is_id).map(Value::to_canonical).collect()
}

/// Returns the first block of a unit, and shortens the path to it.
fn find(leader: &mut [usize], mut block: usize) -> usize {
    while leader[block] != block {
        leader[block] = leader[leader[block]];
        block = leader[block];
    }
    block
}
