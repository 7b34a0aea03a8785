//! DIF: what changed between two snapshots.

use std::collections::{BTreeMap, BTreeSet};

use contextree::diff::{changes, diff, moved};
use contextree::json::Value;
use contextree::tree::Header;
use contextree::{Class, Context, Edit, NewNode, NodeRef, Op, Place, SnapshotAddress, TreeRef};

use crate::support::{apply, block, commit, head, move_to, random_context, strict, turns};

const LAST: (SnapshotAddress, SnapshotAddress) =
    (SnapshotAddress::Back(1), SnapshotAddress::Back(0));

// covers: DIF-001
#[test]
fn the_same_content_under_another_id_is_removed_and_added() {
    let mut context = turns(1);
    context.remove("p1").unwrap();
    let copy = NewNode::text("p1").id("copy").role("tool");
    context.add(Place::at("seg:1", 1), copy).unwrap();
    commit(&mut context);
    let diff = context.diff(LAST.0, LAST.1).unwrap();
    assert_eq!(diff.removed, ["p1"]);
    assert_eq!(diff.added, ["seg:1", "copy", "seg:2", "cont:2"][1..]);
    assert!(diff.changed.is_empty());
}

// covers: DIF-002, DIF-003, DIF-004, DIF-007
#[test]
fn content_structure_and_ttl_are_reported_by_field() {
    let mut context = turns(2);
    context.add(Place::head(), block("x").ttl(5)).unwrap();
    commit(&mut context);
    context.add(Place::at("seg:1", 2), block("z")).unwrap();
    context.add(Place::at("seg:1", 1), block("y")).unwrap();
    apply(&mut context, move_to("p2", Place::at("seg:1", -3)));
    apply(&mut context, Op::Pin { node: "s".into() });
    commit(&mut context);
    let found = context.diff(LAST.0, LAST.1).unwrap();
    assert_eq!(found.added, ["y", "z", "seg:4", "cont:4"], "in the order of the newer snapshot");
    let changed: Vec<(&str, Vec<&str>)> = found
        .changed
        .iter()
        .map(|node| (node.id.as_str(), node.fields.iter().map(String::as_str).collect()))
        .collect();
    // The pin of a sealed node is a policy entry, not a header (ER-181).
    let expected = [("p2", vec!["parent", "offset"]), ("x", vec!["ttl"])];
    assert_eq!(changed, expected);
    assert_eq!(context.diff(LAST.1, LAST.0).unwrap(), found, "in either order of arguments");
}

// covers: DIF-005, DIF-006
#[test]
fn diff_has_exactly_three_keys_and_an_item_exactly_two() {
    for seed in 0..20 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        for pair in snapshots.windows(2) {
            let text = diff(pair[0].view(), pair[1].view()).to_json();
            let value = contextree::json::parse(text.as_bytes()).unwrap();
            let keys: Vec<&str> = value.as_object().unwrap().keys().collect();
            assert_eq!(keys, ["added", "changed", "removed"]);
            for item in value.get("changed").unwrap().as_array().unwrap() {
                let keys: Vec<&str> = item.as_object().unwrap().keys().collect();
                assert_eq!(keys, ["fields", "id"]);
                assert!(!item.get("fields").unwrap().as_array().unwrap().is_empty());
            }
        }
    }
}

// covers: DIF-008, DIF-010
#[test]
fn detailed_diff_has_values_parents_and_children() {
    let mut context = turns(2);
    apply(&mut context, move_to("p1", Place::at("seg:2", -1)));
    commit(&mut context);
    let all = context.changes(LAST.0, LAST.1).unwrap();
    assert_eq!(all.parent_changed.len(), 1);
    let moved = &all.parent_changed[0];
    assert_eq!(
        (&*moved.id, &*moved.previous_parent_id, &*moved.new_parent_id),
        ("p1", "seg:1", "seg:2")
    );
    assert_eq!(all.children_removed.get("seg:1"), Some(&vec!["p1".to_owned()]));
    assert_eq!(all.children_added.get("seg:2"), Some(&vec!["p1".to_owned()]));
    let (_, fields) = all.components_modified.iter().find(|(id, _)| id == "p1").unwrap();
    let offset = fields.iter().find(|change| change.field == "offset").unwrap();
    assert_eq!((&offset.from, &offset.to), (&Some(1.into()), &Some((-1).into())));
}

// covers: DIF-009, DBG-005
#[test]
fn detailed_diff_is_deterministic_and_agrees_with_the_diff() {
    for seed in 0..40 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        for pair in snapshots.windows(2) {
            let (older, newer) = (pair[0].view(), pair[1].view());
            let all = changes(older, newer);
            assert_eq!(all, changes(older, newer));
            let found = diff(older, newer);
            assert_eq!(all.components_added, found.added);
            assert_eq!(all.components_removed, found.removed);
            let fields = |(id, fields): &(String, Vec<contextree::diff::FieldChange>)| {
                (id.clone(), fields.iter().map(|change| change.field.clone()).collect::<Vec<_>>())
            };
            let rich: Vec<_> = all.components_modified.iter().map(fields).collect();
            let plain: Vec<_> =
                found.changed.iter().map(|node| (node.id.clone(), node.fields.clone())).collect();
            assert_eq!(rich, plain, "seed {seed}");
        }
    }
}

// covers: DIF-011
#[test]
fn move_across_regions_is_removed_and_added() {
    let mut context = turns(1);
    apply(&mut context, move_to("s", Place::at("seg:1", 1)));
    commit(&mut context);
    let diff = context.diff(LAST.0, LAST.1).unwrap();
    assert_eq!(diff.removed, ["s"]);
    assert!(!diff.changed.iter().any(|node| node.id == "s"));
}

// covers: DIF-012
#[test]
fn unique_content_hashes_identify_a_move() {
    let mut context = turns(2);
    context.add(Place::system(), NewNode::text("twin").id("t1")).unwrap();
    context.add(Place::system(), NewNode::text("twin").id("t2")).unwrap();
    commit(&mut context);
    apply(&mut context, move_to("p1", Place::system()));
    apply(&mut context, move_to("t1", Place::at("seg:1", 1)));
    apply(&mut context, move_to("t2", Place::at("seg:1", 1)));
    commit(&mut context);
    let hash = |node: NodeRef<'_>| contextree::content_hash(node).0;
    let older = context.snapshot(LAST.0).unwrap().view();
    let pairs = moved(older, head(&context).view(), hash);
    let pairs: Vec<(&str, &str)> =
        pairs.moved.iter().map(|pair| (pair.from.as_str(), pair.to.as_str())).collect();
    assert_eq!(pairs.len(), 1, "equal contents are not evidence: {pairs:?}");
    assert_eq!(pairs[0].0, "p1");
}

// covers: ERC-009
#[test]
fn hash_collision_is_reported_and_is_not_a_move() {
    let mut context = turns(1);
    context.remove("p1").unwrap();
    context.add(Place::at("seg:1", 1), NewNode::text("something else").id("other")).unwrap();
    commit(&mut context);
    let older = context.snapshot(LAST.0).unwrap().view();
    let found = moved(older, head(&context).view(), |_| [7; 32]);
    assert_eq!(found.collisions, [("p1".to_owned(), "other".to_owned())]);
    assert!(found.moved.is_empty());
}

// covers: DIF-013
#[test]
fn every_block_of_a_diff_is_found_in_the_threads() {
    for seed in 0..40 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        for pair in snapshots.windows(2) {
            let (older, newer) = (pair[0].view(), pair[1].view());
            let (before, after) = (
                contextree::canon::thread::thread_positions(older),
                contextree::canon::thread::thread_positions(newer),
            );
            let is_block =
                |tree: TreeRef<'_>, id: &str| tree.get(id).unwrap().class() == Class::Block;
            let found = diff(older, newer);
            for id in &found.added {
                assert_eq!(after.contains_key(id.as_str()), is_block(newer, id));
            }
            for id in &found.removed {
                assert_eq!(before.contains_key(id.as_str()), is_block(older, id));
            }
            for node in &found.changed {
                let id = node.id.as_str();
                assert_eq!(after.contains_key(id), is_block(newer, id));
                assert_eq!(before.contains_key(id), is_block(newer, id));
            }
        }
    }
}

/// Returns every field of every node, for which a complete diff has to account.
fn flat(tree: TreeRef<'_>) -> BTreeMap<String, BTreeMap<String, Value>> {
    tree.nodes()
        .map(|(_, node)| {
            let names = Header::REQUIRED.iter().map(|header| header.name());
            let mut names: BTreeSet<&str> =
                names.chain(["role", "kind", "removable", "pinned"]).collect();
            names.extend(node.body().into_iter().flat_map(|body| body.attributes.keys()));
            let mut fields: BTreeMap<String, Value> = names
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), node.header(name)?)))
                .collect();
            if let Some(parent) = node.parent_id() {
                fields.insert("parent".into(), parent.into());
            }
            if let Some(content) = node.content().to_value() {
                fields.insert("content".into(), content);
            }
            (node.id().to_owned(), fields)
        })
        .collect()
}

// covers: DIF-014, SNP-016
#[test]
fn older_snapshot_plus_changes_equals_the_newer_one() {
    for seed in 0..80 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        let pairs = snapshots.windows(2).map(|pair| (pair[0], pair[1]));
        let ends = [(snapshots[0], snapshots[snapshots.len() - 1])];
        for (older, newer) in pairs.chain(ends) {
            let all = changes(older.view(), newer.view());
            let (mut made, wanted) = (flat(older.view()), flat(newer.view()));
            for id in &all.components_removed {
                assert!(made.remove(id).is_some(), "seed {seed}: {id} existed");
            }
            for id in &all.components_added {
                let new = wanted[id].clone();
                assert!(made.insert(id.clone(), new).is_none(), "seed {seed}: {id} is new");
            }
            for (id, fields) in &all.components_modified {
                let node = made.get_mut(id).unwrap();
                for change in fields {
                    // A changed hash comes with the content.
                    let name =
                        if change.field == "content_hash" { "content" } else { &change.field };
                    match &change.to {
                        Some(value) => node.insert(name.to_owned(), value.clone()),
                        None => node.remove(name),
                    };
                }
            }
            assert_eq!(made, wanted, "seed {seed}, {} to {}", older.cycle(), newer.cycle());
        }
    }
}

// covers: DIF-014, DBG-005
#[test]
fn trees_without_a_common_history_are_compared_node_by_node_with_the_same_result() {
    for seed in 0..30 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        for pair in snapshots.windows(2) {
            let (older, newer) =
                (strict(&pair[0].export()).unwrap(), strict(&pair[1].export()).unwrap());
            assert_eq!(
                diff(head(&older).view(), head(&newer).view()).to_json(),
                diff(pair[0].view(), pair[1].view()).to_json(),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn pending_changes_are_those_since_the_last_snapshot() {
    assert!(Context::new().pending().is_none());
    let mut context = turns(1);
    assert!(context.pending().unwrap().is_empty());
    context.add(Place::head(), block("x")).unwrap();
    context.edit("x", Edit { content: Some("y".into()), ..Edit::default() }).unwrap();
    context.remove("p1").unwrap();
    let pending = context.pending().unwrap();
    assert_eq!(
        (&pending.added[..], &pending.removed[..]),
        (&["cont:2".to_owned(), "x".into()][..], &["p1".to_owned()][..])
    );
}
