//! ADO, ERC and DBG: foreign data, extensions, codes, debugging.

use std::collections::BTreeSet;

use contextree::json::{Value, parse};
use contextree::{
    Class, CommitOptions, Context, Limit, NewNode, Op, Place, Policy, SnapshotAddress,
};
use contextree_testkit::drive::Did;

use crate::support::{block, children, commit, group, head, lenient, thread_ids, turns, utf8};

// covers: ADO-001
#[test]
fn minimal_runtime_is_complete() {
    let mut context = Context::new();
    // Regions, canonical types.
    let regions: Vec<_> =
        context.working().root().children().map(|node| node.node_type()).collect();
    assert_eq!(regions, ["^sys", "^seq", "^ah"]);
    context.add(Place::head(), block("late")).unwrap();
    context.add(Place::at("^ah", -1), block("early").ttl(0)).unwrap();
    context.add(Place::at("^ah", 1), group("g").removable(true)).unwrap();
    // Order.
    assert_eq!(thread_ids(context.working()), ["early", "late"]);
    // Ttl and cascade, commit and snapshot.
    let report = commit(&mut context);
    assert_eq!((report.expired, report.cascaded), (vec!["early".into()], vec!["g".into()]));
    let types: Vec<&str> = head(&context)
        .view()
        .get(&report.sealed)
        .unwrap()
        .subtree()
        .map(|(_, node)| node.node_type())
        .collect();
    assert_eq!(types, ["seg", "cont", "block"]);
    // Serialization.
    assert_eq!(utf8(&head(&context).thread()), r#"[{"id":"late","role":"user","content":"late"}]"#);
    // Diff.
    commit(&mut context);
    let diff = context.diff(SnapshotAddress::Back(0), SnapshotAddress::Back(1)).unwrap();
    assert_eq!(diff.added, ["seg:2", "cont:2"]);
}

// covers: ADO-003
#[test]
fn extension_follows_the_same_rules() {
    let mut context = turns(1);
    let hook = |tree: contextree::TreeRef<'_>| {
        assert_eq!(tree.turn_count(), 1);
        let node = NewNode::text("s").node_type("acme:digest").attribute("acme:v", 1);
        vec![Op::Add { place: Place::at("seg:1", 1), node }]
    };
    let options = CommitOptions { compaction: Some(&hook), ..CommitOptions::default() };
    context.commit_with(&options).unwrap();
    crate::support::strict(&head(&context).export()).unwrap();
    let bad = |_: contextree::TreeRef<'_>| {
        vec![Op::Add { place: Place::into("^root"), node: block("x") }]
    };
    let options = CommitOptions { compaction: Some(&bad), ..CommitOptions::default() };
    assert_eq!(context.commit_with(&options).unwrap_err().code(), "E_INVALID_PLACEMENT");
}

fn log(text: &str) -> Vec<Value> {
    parse(text.as_bytes()).unwrap().as_array().unwrap().to_vec()
}

// covers: ADO-005
#[test]
fn flat_log_becomes_turns_and_keeps_its_other_fields() {
    let mut context = Context::new();
    context
        .import_flat_log(&log(
            r#"[{"role":"system","content":"S"},{"role":"user","content":"U1","id":"u1"},
            {"role":"assistant","content":"","tool_calls":[{"id":"c1"}]},
            {"role":"tool","content":"T","tool_call_id":"c1","data_call_id":"c1"},
            {"role":"assistant","content":"A1"},{"role":"developer","content":"D"},
            {"role":"user","content":[{"type":"text"}]},{"role":"user","content":"U3"}]"#,
        ))
        .unwrap();
    let tree = context.working();
    assert_eq!(children(tree, "^seq"), ["seg:1"], "the last turn is left in the head");
    assert_eq!(children(tree, "cont:1").len(), 5, "the unknown role stays in its turn");
    assert_eq!(children(tree, "cont:2").len(), 2, "two questions in a row are one turn");
    let call = tree.get("cont:1").unwrap().child(1).unwrap();
    assert!(call.attribute("data_tool_calls").is_some());
    let result = tree.get("cont:1").unwrap().child(2).unwrap();
    assert_eq!(result.attribute("data_tool_call_id"), Some(&"c1".into()));
    assert_eq!(result.attribute("data_call_id"), Some(&"c1".into()));
    let roles: Vec<_> =
        contextree::canon::thread::blocks(tree).filter_map(|(_, node)| node.role()).collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "assistant", "developer", "user", "user"]
    );
}

// covers: ADO-005
#[test]
fn invalid_log_is_refused_before_anything_is_added() {
    for (text, message) in [
        (r#"[{"role":"user","content":"ok"},7]"#, 1),
        (r#"[{"content":"no role"}]"#, 0),
        (r#"[{"role":1,"content":"x"}]"#, 0),
        (r#"[{"role":"user","content":"ok"},{"role":"user","id":3}]"#, 1),
        (r#"[{"role":"user","kind":[]}]"#, 0),
    ] {
        let mut context = turns(1);
        let before = context.export_working();
        let error = context.import_flat_log(&log(text)).unwrap_err();
        assert_eq!(error.code(), "E_DOCUMENT_INVALID", "{text}");
        assert!(error.to_string().starts_with(&format!("message {}", message + 1)), "{error}");
        assert_eq!(context.export_working(), before, "{text}");
    }
}

// covers: ADO-006, ADO-007
#[test]
fn retrieved_document_follows_its_turn_and_expires() {
    let mut context = turns(1);
    context.add(Place::at("seg:1", 1), block("doc").ttl(2)).unwrap();
    context.add(Place::head(), block("u2")).unwrap();
    commit(&mut context);
    assert_eq!(thread_ids(head(&context).view()), ["s", "u1", "a1", "p1", "doc", "u2"]);
    commit(&mut context);
    assert!(head(&context).view().get("doc").is_some());
    assert_eq!(commit(&mut context).expired, ["doc"]);
}

// covers: ADO-008
#[test]
fn unknown_keys_and_types_are_kept_without_interpretation() {
    let text = r#"{"vendor":{"x":1},"root":{"id":"r","children":[{"id":"h","nodeType":"^ah","x-flag":true,
        "children":[{"id":"a","nodeType":"mystery:1","expires":"soon","Offset":-5},{"id":"b"}]}]}}"#;
    let mut context = lenient(text);
    assert_eq!(children(context.working(), "^ah"), ["a", "b"], "`Offset` is not `offset`");
    let export = String::from_utf8(context.export_working()).unwrap();
    for kept in [r#""x-flag":true"#, r#""expires":"soon""#, r#""Offset":-5"#, r#""mystery:1""#] {
        assert!(export.contains(kept), "{kept}");
    }
    commit(&mut context);
    assert!(context.working().get("a").is_some(), "`expires` is not `ttl`");
}

// covers: ADO-009
#[test]
fn extensions_do_not_change_canonical_fields() {
    let mut context = turns(0);
    let node = block("x").node_type("custom:pinned").ttl(1).attribute("custom:ttl", 99);
    context.add(Place::head(), node.attribute("custom:pinned", true)).unwrap();
    commit(&mut context);
    let policy = Policy { protect_turns: 0, limits: vec![Limit::Remove(9)], ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    assert_eq!(context.commit_with(&options).unwrap().expired, ["x"]);
}

// covers: ADO-010
#[test]
fn adoption_checklist_is_met() {
    let mut context = turns(2);
    context.add(Place::head(), block("ö:1").node_type("custom:note")).unwrap();
    commit(&mut context);
    let tree = head(&context).view();
    // 1 regions; 2 types; 3 invariants; 4 diffs; 5 ids; 6 types of users; 7 version; 8 unknown
    // attributes.
    assert_eq!(tree.root().children().count(), 3);
    assert!(tree.nodes().any(|(_, node)| node.class() == Class::Turn));
    crate::support::strict(&head(&context).export()).unwrap();
    assert!(!context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0)).unwrap().is_empty());
    assert_eq!(tree.get("ö:1").unwrap().id(), "ö:1");
    assert_eq!(tree.get("ö:1").unwrap().class(), Class::Block);
    assert!(utf8(&head(&context).export()).contains(r#""spec_version":"PACT/0.1.0""#));
    let _ = lenient(r#"{"root":{"id":"r","unknown":{}}}"#);
}

// covers: ERC-010
#[test]
fn extension_codes_are_stable() {
    let mut context = turns(1);
    let codes = [
        context.snapshot(SnapshotAddress::Cycle(9)).unwrap_err().code(),
        context.add(Place::into("^seq"), block("x")).unwrap_err().code(),
        context.remove("u1").unwrap_err().code(),
        context.remove("nobody").unwrap_err().code(),
    ];
    let expected = ["E_SNAPSHOT_NOT_FOUND", "E_INVALID_PLACEMENT", "E_SEALED", "E_NODE_NOT_FOUND"];
    assert_eq!(codes, expected);
}

// covers: DBG-001, IDH-033
#[test]
fn headers_and_diffs_of_any_snapshot_can_be_inspected() {
    let context = turns(3);
    for snapshot in context.history().iter() {
        for (_, node) in snapshot.view().nodes() {
            assert!(
                contextree::tree::Header::REQUIRED
                    .iter()
                    .all(|header| node.header(header.name()).is_some())
            );
        }
    }
    for older in 1..=3 {
        for newer in 1..=3 {
            let diff = context.diff(SnapshotAddress::Cycle(older), SnapshotAddress::Cycle(newer));
            assert_eq!(diff.unwrap().is_empty(), older == newer);
        }
    }
}

#[test]
fn report_accounts_for_every_removed_node() {
    for seed in 0..120 {
        let mut known: Vec<String> = Vec::new();
        let mut removed: Vec<String> = Vec::new();
        crate::support::run_session(seed, |driver, did| {
            let Some(Did::Committed(report)) = did else {
                // Operations report their own removals; here it is enough to know which nodes are
                // missing.
                let tree = driver.context.working();
                removed = known.iter().filter(|id| tree.get(id).is_none()).cloned().collect();
                return;
            };
            let tree = head(&driver.context).view();
            let pruned = report.pruned.iter();
            let named: BTreeSet<&String> = (report.expired.iter().chain(&report.along))
                .chain(&report.cascaded)
                .chain(pruned.flat_map(|node| std::iter::once(&node.id).chain(&node.along)))
                .collect();
            for gone in known.iter().filter(|id| tree.get(id).is_none() && !removed.contains(id)) {
                assert!(
                    named.contains(gone),
                    "seed {seed}: {gone} was removed without a report: {report:?}"
                );
            }
            // An id that was never in a snapshot may be reused in the same commit.
            for id in named.into_iter().filter(|id| known.contains(id)) {
                assert!(tree.get(id).is_none(), "seed {seed}: {id} is reported as removed");
            }
            known = tree.nodes().map(|(_, node)| node.id().to_owned()).collect();
            removed.clear();
        });
    }
}
