//! LIF: ttl, cascade, references, the active turn.

use std::sync::Arc;

use contextree::engine::{Liveness, LivenessProbe};
use contextree::json::{Value, parse};
use contextree::tree::Header;
use contextree::{
    AttemptStart, AttemptStatus, CommitOptions, Context, Edit, Holder, Limit, NewNode, Op, Place,
    Policy, Region, SnapshotAddress,
};

use crate::support::{
    block, children, commit, group, head, random_context, refuse, steps_of, thread_ids, turns,
};

fn is_there(context: &Context, id: &str) -> bool {
    context.working().get(id).is_some()
}

// covers: LIF-001, ATT-002
#[test]
fn ttl_decreases_only_at_commits() {
    let mut context = turns(0);
    context.add(Place::head(), block("x").ttl(2)).unwrap();
    let ttl = |context: &Context| context.working().get("x").unwrap().ttl();
    for _ in 0..5 {
        let start = AttemptStart { provider: "p", model: "m", params: b"", input: b"" };
        let id = context.start_attempt(start).attempt_id.clone();
        context.end_attempt(&id, AttemptStatus::Completed, None).unwrap();
        let _ = context.preview(&CommitOptions::default()).unwrap();
        context.add(Place::head(), NewNode::text("more")).unwrap();
        assert_eq!(ttl(&context), Some(2));
    }
    commit(&mut context);
    assert_eq!(ttl(&context), Some(1));
}

// covers: LIF-002
#[test]
fn node_without_a_ttl_never_expires() {
    let mut context = turns(1);
    for _ in 0..100 {
        let report = commit(&mut context);
        assert!(report.expired.is_empty());
    }
    assert_eq!(head(&context).view().get("p1").unwrap().ttl(), None);
}

// covers: LIF-003, LIF-004, LIF-005
#[test]
fn node_lives_exactly_for_its_ttl() {
    for ttl in 0..6_i64 {
        let mut context = turns(3);
        context.add(Place::head(), block("x").ttl(ttl)).unwrap();
        for _ in 0..ttl {
            assert!(is_there(&context, "x"), "up to the commit it is in the working tree");
            commit(&mut context);
            assert!(head(&context).view().get("x").is_some());
        }
        assert!(is_there(&context, "x"));
        assert_eq!(context.working().get("x").unwrap().ttl(), Some(0));
        let report = commit(&mut context);
        assert_eq!(report.expired, ["x"], "ttl {ttl}");
        assert!(head(&context).view().get("x").is_none());
        let lived = context.history().iter().filter(|s| s.view().get("x").is_some()).count();
        assert_eq!(i64::try_from(lived).unwrap(), ttl);
    }
}

// covers: LIF-006, PRU-002
#[test]
fn expired_nodes_are_removed_before_pruning() {
    let mut context = turns(0);
    for (id, ttl) in [("dead", Some(0)), ("a", None), ("b", None)] {
        let node = NewNode { ttl, ..block(id) };
        context.add(Place::head(), node).unwrap();
    }
    let nodes = |max| Policy {
        protect_turns: 0,
        limits: vec![Limit::Total { measure: "nodes".into(), max }],
        ..Policy::default()
    };
    let policy = nodes(3);
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    let report = context.commit_with(&options).unwrap();
    assert_eq!(report.expired, ["dead"]);
    assert!(report.pruned.is_empty(), "three blocks were left, which is allowed: {report:?}");
}

// covers: LIF-008, LIF-009, LIF-012, LIF-025
#[test]
fn empty_container_is_removed_only_if_removable() {
    let mut context = turns(0);
    context.add(Place::head(), block("core").ttl(0)).unwrap();
    for (id, removable) in [("marked", true), ("plain", false)] {
        context.add(Place::at("^ah", 1), group(id).removable(removable)).unwrap();
        context.add(Place::into(id), block(&format!("{id}.x")).ttl(0)).unwrap();
    }
    // A container that never had children.
    context.add(Place::system(), group("never").removable(true)).unwrap();
    let report = commit(&mut context);
    assert_eq!(report.cascaded, ["never", "marked"]);
    assert_eq!(children(head(&context).view(), "seg:1"), ["cont:1", "plain"]);
    assert_eq!(children(head(&context).view(), "cont:1"), [""; 0], "the core stays, empty");
}

// covers: LIF-008, LIF-012
#[test]
fn cascade_goes_up_to_the_first_container_with_children() {
    let mut context = turns(0);
    context.add(Place::at("^ah", 1), group("outer").removable(true)).unwrap();
    context.add(Place::into("outer"), group("middle").removable(true)).unwrap();
    context.add(Place::into("middle"), group("inner").removable(true)).unwrap();
    context.add(Place::into("inner"), block("x").ttl(1)).unwrap();
    context.add(Place::into("middle"), block("y").ttl(2)).unwrap();
    assert!(commit(&mut context).cascaded.is_empty());
    assert_eq!(commit(&mut context).cascaded, ["inner"]);
    assert_eq!(commit(&mut context).cascaded, ["middle", "outer"]);
}

// covers: LIF-010
#[test]
fn root_and_regions_cannot_be_removable() {
    let mut context = turns(0);
    for name in ["^root", "^sys", "^seq", "^ah"] {
        let edit = Edit { set: vec![("removable".into(), true.into())], ..Edit::default() };
        let op = Op::Edit { node: name.into(), edit };
        refuse(&mut context, op, "E_INVALID_PLACEMENT", "fixed_node", name);
    }
}

// covers: LIF-013, LIF-015, CON-004
#[test]
fn handle_keeps_a_node_until_it_is_dropped() {
    let mut context = turns(0);
    context.add(Place::head(), block("x").ttl(0)).unwrap();
    let first = context.retain("x").unwrap();
    let second = context.retain("x").unwrap();
    assert_eq!(first.resolve(&context).unwrap().id(), "x");
    for _ in 0..3 {
        let report = commit(&mut context);
        let deferred: Vec<_> = report.deferred.iter().map(|node| (&*node.id, &node.by)).collect();
        assert_eq!(deferred, [("x", &Holder::Handle)]);
        assert_eq!(head(&context).view().get("x").unwrap().ttl(), Some(0), "it keeps ttl 0");
    }
    drop(first);
    assert_eq!(commit(&mut context).deferred.len(), 1, "the second handle still holds it");
    let kept = second;
    assert!(kept.resolve(&context).is_some());
    let greedy = Policy { protect_turns: 0, limits: vec![Limit::Remove(100)], ..Policy::default() };
    let options = CommitOptions { policy: Some(&greedy), ..CommitOptions::default() };
    let report = context.commit_with(&options).unwrap();
    assert!(!report.pruned.iter().any(|node| node.id == "x"), "nor is it pruned");
    drop(kept);
    assert_eq!(commit(&mut context).expired, ["x"]);
}

// covers: CON-004
#[test]
fn handle_of_a_dropped_or_other_context_does_not_resolve() {
    let context = turns(1);
    let handle = context.retain("u1").unwrap();
    let fork = context.fork(SnapshotAddress::Back(0)).unwrap();
    assert!(handle.resolve(&fork).is_none(), "the fork did not give it out");
    drop(context);
    assert_eq!(handle.id(), "u1");
    assert!(handle.resolve(&fork).is_none());
    drop(handle);
    let mut context = turns(1);
    let handle = context.retain("p1").unwrap();
    context.remove("p1").unwrap();
    assert!(handle.resolve(&context).is_none(), "an explicit removal is not prevented");
    assert_eq!(context.retain("p1").unwrap_err().code(), "E_NODE_NOT_FOUND");
}

// covers: LIF-013
#[test]
fn data_refs_keep_nodes_while_the_referring_node_exists() {
    let mut context = turns(0);
    context.add(Place::head(), block("doc").ttl(0)).unwrap();
    context.add(Place::head(), block("cite").ttl(2).attribute("data_refs", "doc")).unwrap();
    // Two nodes that only refer to each other are removed together.
    context.add(Place::head(), block("a").ttl(0).attribute("data_refs", "b")).unwrap();
    context.add(Place::head(), block("b").ttl(0).attribute("data_refs", "a")).unwrap();
    let report = commit(&mut context);
    assert_eq!(report.expired, ["a", "b"]);
    assert_eq!(report.deferred[0].by, Holder::Node("cite".into()));
    assert_eq!(commit(&mut context).deferred.len(), 1);
    let report = commit(&mut context);
    assert_eq!(
        report.expired,
        ["doc", "cite"],
        "the node is removed with the last reference to it"
    );
}

// covers: LIF-013, LIF-015
#[test]
fn reference_into_a_container_keeps_the_whole_container() {
    let mut context = turns(0);
    context.add(Place::at("^ah", 1), group("g").ttl(0)).unwrap();
    context.add(Place::into("g"), block("x")).unwrap();
    context.add(Place::into("g"), block("y")).unwrap();
    let handle = context.retain("y").unwrap();
    let report = commit(&mut context);
    assert_eq!((report.deferred[0].id.as_str(), report.deferred[0].held.as_str()), ("g", "y"));
    assert_eq!(children(head(&context).view(), "g"), ["x", "y"]);
    drop(handle);
    let report = commit(&mut context);
    assert_eq!((report.expired, report.along), (vec!["g".into()], vec!["x".into(), "y".into()]));
}

// covers: LIF-014
#[test]
fn undecided_nodes_are_kept() {
    struct Probe;
    impl LivenessProbe for Probe {
        fn liveness(&self, node: &str) -> Liveness {
            match node {
                "free" => Liveness::Free,
                "held" => Liveness::Held,
                _ => Liveness::Unknown,
            }
        }
    }
    let mut context = turns(0);
    context.set_liveness_probe(Arc::new(Probe));
    for id in ["free", "held", "unknown"] {
        context.add(Place::head(), block(id).ttl(0)).unwrap();
    }
    let report = commit(&mut context);
    assert_eq!(report.expired, ["free"]);
    let deferred: Vec<_> = report.deferred.iter().map(|node| (&*node.id, &node.by)).collect();
    assert_eq!(deferred, [("held", &Holder::Handle), ("unknown", &Holder::Unknown)]);
}

// covers: LIF-016, PRU-008, ADO-006, ADO-007
#[test]
fn retrieved_documents_are_ordinary_blocks() {
    let mut context = turns(2);
    let rag = |id: &str| block(id).role("tool").kind("document").provenance("index:7");
    context.add(Place::at("^ah", 1), rag("r1").ttl(1).priority(-1)).unwrap();
    context.add(Place::at("seg:1", 1), rag("r2").priority(-1)).unwrap();
    context.add(Place::at("seg:2", 1), rag("r3").priority(-2)).unwrap();
    assert_eq!(
        thread_ids(context.working()),
        ["s", "u1", "a1", "p1", "r2", "u2", "a2", "p2", "r3", "r1"]
    );
    let one = Policy { protect_turns: 1, limits: vec![Limit::Remove(2)], ..Policy::default() };
    let options = CommitOptions { policy: Some(&one), ..CommitOptions::default() };
    let report = context.commit_with(&options).unwrap();
    let pruned: Vec<_> = report.pruned.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(pruned, ["r3", "r2"], "lowest priority first, the newest turn is protected");
    assert_eq!(commit(&mut context).expired, ["r1"]);
}

// covers: LIF-018, SEA-007, SEA-008
#[test]
fn sealed_nodes_are_not_edited_and_sealed_cores_not_changed() {
    let mut context = turns(2);
    let edit = || Edit { content: Some(Value::from("forged").into()), ..Edit::default() };
    for node in ["s", "u1", "p1", "cont:1", "seg:1"] {
        let op = Op::Edit { node: node.into(), edit: Edit::default() };
        refuse(&mut context, op, "E_SEALED", "", node);
    }
    for node in ["u1", "p2"] {
        let op = Op::Edit { node: node.into(), edit: edit() };
        refuse(&mut context, op, "E_SEALED", "", node);
    }
    refuse(&mut context, Op::Remove { node: "u1".into() }, "E_SEALED", "", "u1");
    refuse(&mut context, Op::Remove { node: "cont:1".into() }, "E_SEALED", "", "cont:1");
    for place in [Place::into("cont:1"), Place::cue("cont:1", contextree::engine::Cue::End)] {
        let op = Op::Add { place, node: block("x") };
        refuse(&mut context, op, "E_SEALED", "", "cont:1");
    }
    let op = Op::Add { place: Place::at("seg:1", 0), node: block("x") };
    refuse(&mut context, op, "E_SEALED", "", "seg:1");
    let op = Op::Move { node: "u1".into(), place: Place::system() };
    refuse(&mut context, op, "E_SEALED", "", "u1");
    let op = Op::Move { node: "p1".into(), place: Place::into("cont:2") };
    refuse(&mut context, op, "E_SEALED", "", "cont:2");
}

/// A node that is in two adjacent snapshots is the same in both, except for its remaining ttl; outside of cores it may have another
/// parent, and only with it another offset.
// covers: LIF-019, IDH-012, IDH-013, IDH-028, SEA-007
#[test]
fn no_header_of_a_sealed_node_changes_but_the_ttl() {
    let dump = |node: contextree::NodeRef<'_>| -> Vec<(&'static str, Option<Value>)> {
        let names = Header::REQUIRED.into_iter().map(Header::name);
        let names = names.filter(|name| !["ttl", "offset"].contains(name));
        let others = ["role", "kind", "key", "tags", "pinned", "removable", "content"];
        names.chain(others).map(|name| (name, node.header(name))).collect()
    };
    let (mut compared, mut moved) = (0, 0);
    for seed in 0..200 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        for pair in snapshots.windows(2) {
            for (_, node) in pair[0].view().nodes().skip(1) {
                let Some(later) = pair[1].view().get(node.id()) else { continue };
                assert_eq!(dump(later), dump(node), "seed {seed}: {node:?}");
                assert_eq!(contextree::content_hash(later), contextree::content_hash(node));
                if later.parent_id() == node.parent_id() {
                    assert_eq!(later.offset(), node.offset(), "seed {seed}: {node:?}");
                }
                compared += 1;
                moved += usize::from(later.parent_id() != node.parent_id());
            }
        }
    }
    assert!(compared > 10_000 && moved > 20, "{compared} compared, {moved} of them moved");
}

// covers: LIF-019, SEA-007, SEA-008, SNP-015
#[test]
fn sealed_nodes_are_the_same_in_all_later_snapshots() {
    for seed in 0..60 {
        let context = random_context(seed);
        let snapshots: Vec<_> = context.history().iter().collect();
        for (index, snapshot) in snapshots.iter().enumerate() {
            for core in snapshot.view().nodes().map(|(_, node)| node).filter(|node| node.is_core())
            {
                for (_, node) in core.subtree() {
                    for later in &snapshots[index..] {
                        let Some(same) = later.view().get(node.id()) else { continue };
                        let says = |node| {
                            let node: contextree::NodeRef<'_> = node;
                            (contextree::content_hash(node), node.parent_id(), node.created_at_ns())
                        };
                        assert_eq!(says(same), says(node), "seed {seed}: {node:?}");
                    }
                }
            }
        }
    }
}

// covers: LIF-023, SEA-004, PRU-004
#[test]
fn two_engines_fed_the_same_session_give_the_same_bytes() {
    for seed in 0..30 {
        let mut drivers = [contextree_testkit::drive::Driver::new(), Default::default()];
        for step in steps_of(seed) {
            let did = drivers.each_mut().map(|driver| driver.step(&step));
            assert_eq!(did[0], did[1], "seed {seed}");
        }
        let [left, right] = &drivers;
        for (left, right) in left.context.history().iter().zip(right.context.history().iter()) {
            assert_eq!(left.export(), right.export());
            assert_eq!(left.thread(), right.thread());
            assert_eq!(left.digest(), right.digest());
        }
    }
}

// covers: LIF-024, PRU-007
#[test]
fn summary_replaces_expiring_originals() {
    let mut context = Context::new();
    for turn in 1..=6 {
        context.add(Place::head(), NewNode::text(format!("question {turn}")).ttl(3)).unwrap();
        // Before nodes expire, they are summarised in the same commit.
        let compaction = |tree: contextree::TreeRef<'_>| {
            let leaving =
                tree.region(Region::Seq).subtree().filter(|(_, node)| node.ttl() == Some(1));
            leaving
                .map(|(_, node)| Op::Add {
                    place: Place::system(),
                    node: NewNode::text(format!("summary of {}", node.id())).kind("summary"),
                })
                .collect()
        };
        let options = CommitOptions { compaction: Some(&compaction), ..CommitOptions::default() };
        context.commit_with(&options).unwrap();
    }
    let thread = parse(&head(&context).thread()).unwrap();
    let contents: Vec<&str> = thread
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block.get("content").and_then(Value::as_str).unwrap())
        .collect();
    assert_eq!(contents.iter().filter(|text| text.starts_with("summary")).count(), 4);
    assert_eq!(contents[contents.len() - 3..], ["question 4", "question 5", "question 6"]);
}
