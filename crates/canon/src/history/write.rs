//! Writes snapshots as lines.

use contextree_json::write;
use contextree_tree::diff::{Pair, changed_fields, written};
use contextree_tree::{Cycle, Tree, TreeRef};

use super::SideLine;
use crate::digest::snapshot_digest;
use crate::write::{SPEC_VERSION, export_to, flat_node};

fn cycle(tree: &Tree) -> Cycle {
    tree.view().next_cycle().previous()
}

/// Appends the first line of a history: the full snapshot, ending with `
/// `.
pub fn write_first(out: &mut Vec<u8>, tree: &Tree) {
    export_to(out, tree.view(), cycle(tree));
    out.push(b'\n');
}

/// Appends the line of the commit between two trees, ending with `
/// `. The cost is proportional to the change.
pub fn write_delta(out: &mut Vec<u8>, before: &Tree, after: &Tree) {
    out.extend_from_slice(b"{\"cycle\":");
    write::unsigned(out, u64::from(cycle(after)));
    out.extend_from_slice(b",\"digest\":");
    write::string(out, &snapshot_digest(after).to_string());
    out.push(b',');
    changes(out, before.view(), after.view());
    out.extend_from_slice(b"}\n");
}

/// Appends the line of a working state: what was changed since the newest snapshot. It is the last
/// line but for side records.
pub fn write_working(out: &mut Vec<u8>, newest: &Tree, working: TreeRef<'_>) {
    out.extend_from_slice(b"{\"cycle\":");
    write::unsigned(out, u64::from(working.next_cycle()));
    out.push(b',');
    changes(out, newest.view(), working);
    out.extend_from_slice(b",\"working\":true}\n");
}

/// Appends the line of a side record.
pub fn write_side(out: &mut Vec<u8>, side: &SideLine) {
    out.extend_from_slice(b"{\"record\":{\"key\":");
    write::string(out, &side.key);
    out.extend_from_slice(b",\"kind\":");
    write::string(out, &side.kind);
    out.extend_from_slice(b",\"value\":");
    write::string(out, &side.value);
    out.extend_from_slice(b"}}\n");
}

/// Appends what differs between two trees: `nodes`, `removed` and the version.
fn changes(out: &mut Vec<u8>, before: TreeRef<'_>, after: TreeRef<'_>) {
    let mut removed = Vec::new();
    out.extend_from_slice(b"\"nodes\":[");
    let mut first = true;
    for pair in written(before, after) {
        let node = match pair {
            Pair::Removed(node) => {
                removed.push(node.id());
                continue;
            }
            Pair::Added(node) => node,
            Pair::Both(old, new) => {
                let aged_only = changed_fields(old, new).iter().all(|field| field == "ttl");
                // A ttl that only counted down keeps its commit of expiry.
                if aged_only && old.expires() == new.expires() {
                    continue;
                }
                new
            }
        };
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        // A pair of the parent's id and the node, so that no attribute of the node can clash with
        // the parent's id.
        out.push(b'[');
        write::string(out, node.parent_id().unwrap_or_default());
        out.push(b',');
        flat_node(out, node);
        out.push(b']');
    }
    out.extend_from_slice(b"],\"removed\":[");
    for (index, id) in removed.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write::string(out, id);
    }
    out.extend_from_slice(b"],\"spec_version\":");
    write::string(out, SPEC_VERSION);
}
