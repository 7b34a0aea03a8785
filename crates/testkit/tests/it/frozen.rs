//! Sealed nodes: nothing about a sealed node changes but its ttl, whatever is done to the tree.

use std::collections::{BTreeMap, BTreeSet};

use contextree::json::{Object, Value, parse};
use contextree::{Context, Edit, Op, Outcome, Place, Zone};
use contextree_testkit::drive::Did;

use crate::support::{block, children, commit, group, head, move_to, refuse, run_session, turns};

/// A node as its snapshot exports it: everything but the ttl, with the parent and the ids of the children in order.
struct Exported {
    parent: String,
    node: Object,
    children: Vec<String>,
}

/// Returns the nodes of an export by id.
fn exported(bytes: &[u8]) -> BTreeMap<String, Exported> {
    let id_of = |node: &Value| node.get("id").and_then(Value::as_str).unwrap().to_owned();
    let root = parse(bytes).unwrap().get("root").cloned().unwrap();
    let mut open = vec![(String::new(), root)];
    let mut found = BTreeMap::new();
    while let Some((parent, value)) = open.pop() {
        let id = id_of(&value);
        let Value::Object(mut node) = value else { panic!("a node is an object") };
        let below = match node.remove("children") {
            Some(Value::Array(children)) => children,
            _ => Vec::new(),
        };
        node.remove("ttl");
        let children = below.iter().map(id_of).collect();
        open.extend(below.into_iter().map(|child| (id.clone(), child)));
        found.insert(id, Exported { parent, node, children });
    }
    found
}

/// Returns the ids of a subtree.
fn subtree(nodes: &BTreeMap<String, Exported>, top: &str) -> Vec<String> {
    let mut ids = vec![top.to_owned()];
    let mut next = 0;
    while let Some(id) = ids.get(next) {
        ids.extend(nodes[id].children.clone());
        next += 1;
    }
    ids
}

/// From snapshot to snapshot, every core of a turn has the same nodes with the same bytes, except for those that the report of the commit
/// names as removed, and for the ttl; and nothing is added.
// covers: LIF-019, SEA-007, SNP-015
#[test]
fn sealed_cores_keep_their_bytes_except_for_what_reports_remove() {
    let (mut compared, mut removed) = (0, 0);
    for seed in 0..400 {
        let mut last: BTreeMap<String, Exported> = BTreeMap::new();
        run_session(seed, |driver, did| {
            let Some(Did::Committed(report)) = did else { return };
            let pruned = report.pruned.iter().flat_map(|node| node.along.iter().chain([&node.id]));
            let lists = [&report.expired, &report.along, &report.cascaded, &report.dropped];
            let named: BTreeSet<&str> =
                lists.into_iter().flatten().chain(pruned).map(String::as_str).collect();
            let now = exported(&head(&driver.context).export());
            let is_core = |id: &&String| {
                let node = &last[*id].node;
                let is_type = node.get("nodeType").and_then(Value::as_str) == Some("cont");
                is_type && node.get("offset").and_then(Value::as_i64) == Some(0)
            };
            let turns = last.values().filter(|node| node.parent == "seq");
            let cores: Vec<&String> =
                turns.flat_map(|turn| turn.children.iter().filter(is_core)).collect();
            for core in cores {
                for id in subtree(&last, core) {
                    let before = &last[&id];
                    let Some(after) = now.get(&id) else {
                        removed += 1;
                        assert!(named.contains(&*id), "seed {seed}: no report removes `{id}`");
                        continue;
                    };
                    let is_left = |child: &&String| now.contains_key(*child);
                    let left: Vec<&String> = before.children.iter().filter(is_left).collect();
                    assert_eq!(
                        after.children.iter().collect::<Vec<_>>(),
                        left,
                        "seed {seed}: `{id}`"
                    );
                    assert_eq!(after.node, before.node, "seed {seed}: `{id}`");
                    assert_eq!(after.parent, before.parent, "seed {seed}: `{id}`");
                    compared += 1;
                }
            }
            last = now;
        });
    }
    assert!(compared > 5_000 && removed > 300, "{compared} compared, {removed} removed");
}

/// The bytes of a snapshot are those that it had when it was made, after everything that was done since.
// covers: LIF-019, SEA-008, SNP-015
#[test]
fn bytes_of_every_snapshot_are_those_of_its_commit() {
    for seed in 0..60 {
        let mut sealed: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let driver = run_session(seed, |driver, did| {
            if matches!(did, Some(Did::Committed(_))) {
                let snapshot = head(&driver.context);
                sealed.push((snapshot.export(), snapshot.thread()));
            }
        });
        let history: Vec<_> = driver.context.history().iter().collect();
        assert_eq!(history.len(), sealed.len());
        for (snapshot, (export, thread)) in history.iter().zip(&sealed) {
            assert_eq!(&snapshot.export(), export, "seed {seed}: {}", snapshot.cycle());
            assert_eq!(&snapshot.thread(), thread, "seed {seed}: {}", snapshot.cycle());
        }
    }
}

/// The places that a detour can lead through, other than the parent of the node.
fn detours() -> [Place; 4] {
    [
        Place::at("seg:2", -1),
        Place::zone("seg:2", Zone::Post),
        Place::into("attached"),
        Place::at("seg:3", 7),
    ]
}

/// Returns a context with three turns, a group attached to the second, and a sealed block `p` in the pre-context or post-context of the first.
fn with_sealed(offset: i64) -> Context {
    let mut context = turns(0);
    context.add(Place::at("^ah", offset), block("p")).unwrap();
    commit(&mut context);
    commit(&mut context);
    context.add(Place::at("seg:2", 3), group("attached")).unwrap();
    commit(&mut context);
    context
}

/// Neither directly nor on a way through other parents does a sealed node get another offset with its parent, within a cycle.
// covers: IDH-012, LIF-019, SEA-007
#[test]
fn sealed_node_keeps_its_offset_on_every_way_back_to_its_parent() {
    for offset in [-2, 1, 5] {
        let others = [-9, -3, -1, 1, 2, 9].into_iter().filter(|other| *other != offset);
        let refused = |context: &mut Context| {
            for other in others.clone() {
                refuse(context, move_to("p", Place::at("seg:1", other)), "E_SEALED", "", "p");
            }
        };
        refused(&mut with_sealed(offset));
        for first in detours() {
            for second in [None].into_iter().chain(detours().map(Some)) {
                let mut context = with_sealed(offset);
                let before = context.export_working();
                context.apply(move_to("p", first.clone())).unwrap();
                // A second way may be refused, for example because it would shift the node beside its new siblings.
                let _ = second.clone().map(|place| context.apply(move_to("p", place)));
                refused(&mut context);
                let back = context.apply(move_to("p", Place::at("seg:1", offset))).unwrap();
                let Outcome::Moved { renamed, .. } = back else { panic!("{back:?}") };
                assert!(renamed.is_empty(), "{renamed:?}");
                assert_eq!(context.export_working(), before, "{first:?}, {second:?}");
                commit(&mut context);
                assert_eq!(children(head(&context).view(), "seg:1").len(), 2);
            }
        }
    }
}

/// An active node that gets another offset with its parent is created again: it has the next stamp and index.
// covers: IDH-012
#[test]
fn active_node_that_changes_its_offset_is_created_again() {
    let mut context = turns(1);
    context.add(Place::at("^ah", 1), block("x")).unwrap();
    context.add(Place::at("^ah", 1), block("y")).unwrap();
    let stamp = |context: &Context, id: &str| {
        let node = context.working().get(id).unwrap();
        (node.created_at_ns(), node.creation_index())
    };
    let (x, y) = (stamp(&context, "x"), stamp(&context, "y"));
    context.apply(move_to("x", Place::at("^ah", 2))).unwrap();
    let again = stamp(&context, "x");
    assert!(again.0 > y.0 && again.1 > y.1, "{x:?}, {y:?}, {again:?}");
    context.apply(move_to("x", Place::at("^ah", 2))).unwrap();
    assert_eq!(stamp(&context, "x"), again, "a move to its own place changes nothing");
    let edit = Edit { set: vec![("offset".into(), 1.into())], ..Edit::default() };
    let op = Op::Edit { node: "x".into(), edit };
    refuse(&mut context, op, "E_IMMUTABLE", "", "x");
}
