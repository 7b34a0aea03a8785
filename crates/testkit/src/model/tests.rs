//! Tests the model against the vectors of the corpus, and its invariants in random sessions.

use std::collections::{BTreeMap, BTreeSet};

use contextree_json::Value;

use super::fixture::{cases, list, text, texts, tree};
use super::tree::{Class, Tree};
use super::{Model, Outcome, Report, diff, output};
use crate::generate::Sessions;
use crate::script::{Cue, Limit, NodeSpec, Place, Policy, Refusal, Step, Zone};

const LIFECYCLE: &str = include_str!("../../../conformance/corpus/lifecycle.json");
const INSERTION: &str = include_str!("../../../conformance/corpus/insertion.json");
const DIFF: &str = include_str!("../../../conformance/corpus/diff.json");
const THREAD: &str = include_str!("../../../conformance/corpus/provider-thread.json");
const ORDER: &str = include_str!("../../../conformance/corpus/canonical-order.json");

fn into(parent: &str, offset: i64) -> Place {
    Place::Into { parent: parent.to_owned(), offset: Some(offset) }
}

fn at(parent: &str, cue: Cue) -> Place {
    Place::Cue { parent: parent.to_owned(), cue }
}

fn block(id: &str) -> NodeSpec {
    NodeSpec { id: Some(id.to_owned()), content: Some(Value::from(id)), ..NodeSpec::default() }
}

fn group(id: &str) -> NodeSpec {
    NodeSpec { id: Some(id.to_owned()), node_type: Some("cont".to_owned()), ..NodeSpec::default() }
}

fn add(model: &mut Model, place: Place, node: NodeSpec) -> Result<String, Refusal> {
    match model.apply(&Step::Add { place, node })? {
        Outcome::Added(id) => Ok(id),
        other => panic!("an addition gave {other:?}"),
    }
}

fn relocate(model: &mut Model, node: &str, place: Place) -> Result<Vec<(String, String)>, Refusal> {
    match model.apply(&Step::Move { node: node.to_owned(), place })? {
        Outcome::Moved(renamed) => Ok(renamed),
        other => panic!("a move gave {other:?}"),
    }
}

fn commit(model: &mut Model, policy: Option<Policy>) -> Report {
    match model.apply(&Step::Commit { policy }) {
        Ok(Outcome::Committed(report)) => report,
        other => panic!("a commit gave {other:?}"),
    }
}

fn retain(model: &mut Model, node: &str) {
    model.apply(&Step::Retain { node: node.to_owned() }).unwrap();
}

fn remove_units(count: u64, protect_turns: u64) -> Policy {
    let (exclude, removable) = (vec![], vec![]);
    let limits = vec![Limit::Remove(count)];
    Policy {
        protect_turns,
        protect_user: false,
        limits,
        exclude,
        removable,
        clear: None,
        reserve: 0,
    }
}

fn child_ids(model: &Model, parent: &str) -> Vec<String> {
    let tree = &model.state.tree;
    let parent = tree.resolve(parent).unwrap();
    tree.children(&parent).into_iter().map(|node| node.id.clone()).collect()
}

fn reason<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
    let refusal = result.unwrap_err();
    if refusal.reason.is_empty() { refusal.code } else { refusal.reason }
}

#[test]
fn ttl_traces_of_the_corpus_hold() {
    for case in cases(LIFECYCLE).iter().filter(|case| text(case, "kind") == "ttl") {
        let mut model = Model::new();
        let created = case.get("created_cycle").unwrap().as_u64().unwrap();
        for _ in 1..created {
            commit(&mut model, None);
        }
        let ttl = case.get("ttl").unwrap().as_i64();
        add(&mut model, into("^ah", 0), NodeSpec { ttl, ..block("x") }).unwrap();
        for step in list(case.get("expect").unwrap(), "trace") {
            let report = commit(&mut model, None);
            assert_eq!(Some(report.cycle), step.get("cycle").unwrap().as_u64());
            let node = model.state.tree.nodes.get("x");
            let expected = step.get("present").unwrap().as_bool();
            assert_eq!(Some(node.is_some()), expected, "{}", text(case, "id"));
            let ttl = node.and_then(|node| node.ttl);
            assert_eq!(ttl, step.get("ttl").unwrap().as_i64(), "{}", text(case, "id"));
        }
    }
}

#[test]
fn insertion_cues_of_the_corpus_hold() {
    for case in cases(INSERTION) {
        let mut model = Model::new();
        for id in texts(&case, "before") {
            add(&mut model, into("^ah", 0), block(&id)).unwrap();
        }
        let sealed = case.get("sealed_core").is_some();
        if sealed {
            commit(&mut model, None);
        }
        let cue = match text(&case, "cue") {
            "start" => Cue::Start,
            "end" => Cue::End,
            number if number.starts_with('+') => Cue::After(number[1..].parse().unwrap()),
            number => Cue::Before(number[1..].parse().unwrap()),
        };
        let before = model.export_working();
        let result = add(&mut model, at("cont:1", cue), block(text(&case, "new")));
        let expect = case.get("expect").unwrap();
        if text(expect, "error").is_empty() {
            result.unwrap();
            assert_eq!(
                child_ids(&model, "cont:1"),
                texts(expect, "order"),
                "{}",
                text(&case, "id")
            );
        } else {
            assert_eq!(result.unwrap_err().code, text(expect, "error"), "{}", text(&case, "id"));
            assert_eq!(model.export_working(), before, "a refusal changes nothing");
        }
    }
}

/// Builds the working tree of a commit case by steps: the turn of `^seq`, if any, is sealed first.
fn build(model: &mut Model, working: &Value) {
    let regions = list(working.get("root").unwrap(), "children");
    for turn in list(&regions[1], "children") {
        for child in list(turn, "children") {
            build_node(model, "^ah", child, 1);
        }
        commit(model, None);
    }
    for child in list(&regions[2], "children") {
        build_node(model, "^ah", child, 0);
    }
}

fn build_node(model: &mut Model, parent: &str, value: &Value, commits_before: i64) {
    let id = text(value, "id");
    let offset = value.get("offset").and_then(Value::as_i64).unwrap_or(0);
    let node = NodeSpec {
        id: Some(id.to_owned()),
        node_type: Some(text(value, "nodeType").to_owned()),
        ttl: value.get("ttl").and_then(Value::as_i64).map(|ttl| ttl + commits_before),
        priority: value.get("priority").and_then(Value::as_i64).unwrap_or(0),
        content: value.get("content").cloned(),
        removable: value.get("removable").is_some(),
        ..NodeSpec::default()
    };
    add(model, into(parent, offset), node).unwrap();
    for child in list(value, "children") {
        build_node(model, id, child, commits_before);
    }
}

#[test]
fn commits_of_the_corpus_hold() {
    for case in cases(LIFECYCLE).iter().filter(|case| text(case, "kind") == "commit") {
        let name = text(case, "id");
        let mut model = Model::new();
        build(&mut model, case.get("working").unwrap());
        let args = case.get("args").unwrap();
        for node in texts(args, "refs") {
            retain(&mut model, &node);
        }
        let policy = args.get("prune").map(|prune| {
            let protected = prune.get("protect").and_then(Value::as_u64).unwrap_or(0);
            remove_units(prune.get("remove").unwrap().as_u64().unwrap(), protected)
        });
        let report = commit(&mut model, policy);

        let expect = case.get("expect").unwrap();
        let lists = [
            ("expired", &report.expired),
            ("deferred", &report.deferred),
            ("cascaded", &report.cascaded),
            ("pruned", &report.pruned),
        ];
        for (key, list) in lists {
            if expect.get(key).is_some() {
                assert_eq!(*list, texts(expect, key), "{name}: {key}");
            }
        }
        let thread = contextree_json::parse(&model.thread_working()).unwrap();
        let thread: Vec<String> =
            thread.as_array().unwrap().iter().map(|item| text(item, "id").to_owned()).collect();
        assert_eq!(thread, texts(expect, "thread_ids"), "{name}");
        // The id of the core of an empty turn is illustrative.
        if name != "LC-EMPTY" {
            let expected = texts(expect, "new_turn_children");
            assert_eq!(child_ids(&model, &report.sealed), expected, "{name}");
        }
        assert!(child_ids(&model, "^ah").is_empty(), "{name}");
    }
}

#[test]
fn diffs_of_the_corpus_hold() {
    for case in cases(DIFF).iter().filter(|case| case.get("selector") == Some(&Value::Null)) {
        let older = tree(case.get("older").unwrap());
        let newer = tree(case.get("newer").unwrap());
        let expected = case.get("expect").unwrap().to_canonical();
        let found = diff::diff(&older, &newer);
        assert_eq!(String::from_utf8(found), String::from_utf8(expected), "{}", text(case, "id"));
    }
}

#[test]
fn threads_of_the_corpus_hold() {
    for case in cases(THREAD) {
        let found = String::from_utf8(output::thread(&tree(case.get("tree").unwrap()))).unwrap();
        let expected = text(case.get("expect").unwrap(), "compact");
        assert_eq!(found, expected, "{}", text(&case, "id"));
    }
}

#[test]
fn canonical_orders_of_the_corpus_hold() {
    for case in cases(ORDER) {
        let siblings = Value::from(list(&case, "siblings").to_vec());
        let root = contextree_json::Object::from_iter([("children", siblings)]);
        let document =
            Value::from(contextree_json::Object::from_iter([("root", Value::from(root))]));
        let tree = tree(&document);
        let found: Vec<String> =
            tree.children("root").into_iter().map(|node| node.id.clone()).collect();
        assert_eq!(found, texts(case.get("expect").unwrap(), "ids"), "{}", text(&case, "id"));
    }
}

#[test]
fn a_new_context_exports_four_nodes() {
    let header = |id: &str, word: &str, index: u64, children: &str| {
        format!(
            "{{\"children\":[{children}],\"created_at_iso\":\"1970-01-01T00:00:00.000000000Z\",\
             \"created_at_ns\":0,\"creation_index\":{index},\"cycle\":0,\"id\":\"{id}\",\
             \"nodeType\":\"{word}\",\"offset\":0,\"priority\":0,\"ttl\":null}}"
        )
    };
    let regions =
        [header("sys", "^sys", 0, ""), header("seq", "^seq", 1, ""), header("ah", "^ah", 2, "")]
            .join(",");
    let root = header("root", "^root", 0, &regions);
    let expected = format!("{{\"cycle\":1,\"root\":{root},\"spec_version\":\"PACT/0.1.0\"}}");
    assert_eq!(String::from_utf8(Model::new().export_working()).unwrap(), expected);
}

#[test]
fn instants_are_written_with_nine_digits() {
    assert_eq!(output::iso(1), "1970-01-01T00:00:00.000000001Z");
    assert_eq!(output::iso(1_724_670_000_000_000_003), "2024-08-26T11:00:00.000000003Z");
    assert_eq!(output::iso(951_782_399_999_999_999), "2000-02-28T23:59:59.999999999Z");
    assert_eq!(output::iso(951_782_400_000_000_000), "2000-02-29T00:00:00.000000000Z");
}

#[test]
fn made_ids_name_cycle_and_index_and_step_aside() {
    let mut model = Model::new();
    assert_eq!(add(&mut model, into("^ah", 0), NodeSpec::default()).unwrap(), "block:1.1");
    assert_eq!(child_ids(&model, "^ah"), ["cont:1"]);
    add(&mut model, into("^sys", 0), block("seg:1")).unwrap();
    add(&mut model, into("^sys", 0), block("cont:2")).unwrap();
    assert_eq!(commit(&mut model, None).sealed, "seg:1~2");
    assert_eq!(commit(&mut model, None).core_created.unwrap(), "cont:2~2");
}

#[test]
fn a_removed_id_stays_taken_until_the_commit() {
    let mut model = Model::new();
    add(&mut model, into("^sys", 0), block("x")).unwrap();
    commit(&mut model, None);
    model.apply(&Step::Remove { node: "x".to_owned() }).unwrap();
    assert_eq!(reason(add(&mut model, into("^sys", 0), block("x"))), "duplicate_id");
    commit(&mut model, None);
    add(&mut model, into("^sys", 0), block("x")).unwrap();
}

#[test]
fn a_cue_in_a_sealed_turn_finds_an_offset_or_is_refused() {
    let mut model = Model::new();
    commit(&mut model, None);
    for (cue, id) in [(Cue::End, "p1"), (Cue::End, "p2"), (Cue::Start, "m1")] {
        add(&mut model, at("seg:1", cue), block(id)).unwrap();
    }
    assert_eq!(child_ids(&model, "seg:1"), ["m1", "cont:1", "p1", "p2"]);
    // Between the core at 0 and p1 at 1 there is no room; between p1 and p2 there is, at the offset
    // of p1.
    let result = add(&mut model, at("seg:1", Cue::After(2)), block("x"));
    assert_eq!(reason(result), "position_not_expressible");
    add(&mut model, at("seg:1", Cue::After(3)), block("x")).unwrap();
    assert_eq!(child_ids(&model, "seg:1"), ["m1", "cont:1", "p1", "x", "p2"]);
}

#[test]
fn a_cue_before_a_sealed_sibling_changes_the_offset() {
    let mut model = Model::new();
    add(&mut model, into("^sys", 0), block("old")).unwrap();
    commit(&mut model, None);
    add(&mut model, into("^sys", 0), block("young")).unwrap();
    add(&mut model, at("^sys", Cue::After(1)), block("between")).unwrap();
    assert_eq!(child_ids(&model, "^sys"), ["old", "between", "young"]);
    add(&mut model, at("^sys", Cue::Start), block("first")).unwrap();
    assert_eq!(child_ids(&model, "^sys"), ["first", "old", "between", "young"]);
    assert_eq!(model.state.tree.node("first").offset, -1);
}

#[test]
fn a_sealed_node_gets_a_new_id_in_another_region_only() {
    let mut model = Model::new();
    add(&mut model, into("^sys", 0), group("g")).unwrap();
    add(&mut model, into("g", 0), block("x")).unwrap();
    commit(&mut model, None);
    add(&mut model, into("g", 0), block("active")).unwrap();
    assert_eq!(relocate(&mut model, "x", into("^sys", 3)).unwrap(), []);
    assert_eq!(relocate(&mut model, "x", into("g", 0)).unwrap(), []);
    let renamed = relocate(&mut model, "g", into("^ah", 1)).unwrap();
    let expected = [("g", "cont:2.1"), ("x", "block:2.2"), ("active", "block:2.3")]
        .map(|(old, new)| (old.to_owned(), new.to_owned()));
    assert_eq!(renamed, expected);
}

#[test]
fn an_active_group_keeps_its_id_but_not_those_of_sealed_nodes_in_it() {
    let mut model = Model::new();
    add(&mut model, into("^sys", 0), block("sealed")).unwrap();
    commit(&mut model, None);
    add(&mut model, into("^sys", 0), group("g")).unwrap();
    add(&mut model, into("g", 0), block("active")).unwrap();
    relocate(&mut model, "sealed", into("g", 0)).unwrap();
    let renamed = relocate(&mut model, "g", into("seg:1", 1)).unwrap();
    assert_eq!(renamed, [("sealed".to_owned(), "block:2.2".to_owned())]);
    assert_eq!(child_ids(&model, "g"), ["active", "block:2.2"]);
}

#[test]
fn the_core_of_the_head_may_be_placed_again_as_core() {
    let mut model = Model::new();
    add(&mut model, into("^ah", 0), block("x")).unwrap();
    assert_eq!(relocate(&mut model, "cont:1", into("^ah", 0)).unwrap(), []);
    assert_eq!(reason(relocate(&mut model, "cont:1", into("x", 0))), "cycle");
    let zone = Place::Zone { turn: "^ah".to_owned(), zone: Zone::Core };
    assert_eq!(reason(add(&mut model, zone, group("g"))), "second_core");
}

#[test]
fn due_nodes_that_hold_each_other_go_together() {
    let due = |id: &str, refers_to: &str| NodeSpec {
        ttl: Some(0),
        attributes: vec![("data_refs".to_owned(), Value::from(refers_to))],
        ..block(id)
    };
    let mut model = Model::new();
    add(&mut model, into("^sys", 0), due("a", "b")).unwrap();
    add(&mut model, into("^sys", 0), due("b", "a")).unwrap();
    add(&mut model, into("^sys", 0), due("c", "d")).unwrap();
    add(&mut model, into("^sys", 0), due("d", "nobody")).unwrap();
    retain(&mut model, "c");
    let report = commit(&mut model, None);
    assert_eq!(report.expired, ["a", "b"]);
    assert_eq!(report.deferred, ["c", "d"], "what stays is decided at once");
}

#[test]
fn a_unit_goes_whole_or_not_at_all() {
    let call = |id: &str, priority: i64| NodeSpec {
        priority,
        attributes: vec![("data_call_id".to_owned(), Value::from(7))],
        ..block(id)
    };
    let mut model = Model::new();
    add(&mut model, into("^sys", 0), call("call", 5)).unwrap();
    add(&mut model, into("^sys", 0), call("result", -1)).unwrap();
    add(&mut model, into("^sys", 0), block("other")).unwrap();
    retain(&mut model, "call");
    assert_eq!(commit(&mut model, Some(remove_units(1, 1))).pruned, ["other"]);
    model.apply(&Step::Release { node: "call".to_owned() }).unwrap();
    assert_eq!(commit(&mut model, Some(remove_units(1, 1))).pruned, ["result", "call"]);
}

#[test]
fn depth_skips_turns_that_are_kept() {
    let mut model = Model::new();
    for id in ["a", "b", "c"] {
        add(&mut model, into("^ah", 0), block(id)).unwrap();
        commit(&mut model, None);
    }
    model.apply(&Step::Pin { node: "a".to_owned() }).unwrap();
    let policy = Policy {
        protect_turns: 1,
        protect_user: false,
        limits: vec![Limit::Depth(2)],
        exclude: vec![],
        removable: vec![],
        clear: None,
        reserve: 0,
    };
    assert_eq!(commit(&mut model, Some(policy)).pruned, ["seg:2", "seg:3"]);
}

/// Checks the invariants of every tree.
fn check_tree(tree: &Tree) {
    let regions: Vec<&str> =
        tree.children("root").into_iter().map(|node| node.id.as_str()).collect();
    assert_eq!(regions, ["sys", "seq", "ah"]);
    let seen: Vec<&str> = tree.document().into_iter().map(|node| node.id.as_str()).collect();
    let unique: BTreeSet<&str> = seen.iter().copied().collect();
    assert_eq!(seen.len(), unique.len(), "no node is in two places");
    assert_eq!(unique.len(), tree.nodes.len(), "every node is a descendant of the root");
    let stamps: BTreeSet<u64> = tree.nodes.values().map(|node| node.created_at_ns).collect();
    assert_eq!(stamps.len() + 3, tree.nodes.len(), "only the four fixed nodes share a stamp");
    for turn in tree.turns() {
        assert_eq!(turn.class(), Class::Turn);
        let core: Vec<_> =
            tree.children(&turn.id).into_iter().filter(|node| node.offset == 0).collect();
        assert_eq!(core.len(), 1, "one core in {}", turn.id);
        assert!(tree.is_core(core[0]));
        assert!(core[0].ttl.is_none() && !core[0].removable);
    }
    for node in tree.nodes.values() {
        let parent = node.parent.as_deref().map(|parent| tree.node(parent).class());
        assert_ne!(parent, Some(Class::Block));
        assert!(node.ttl.is_none_or(|ttl| ttl >= 0));
    }
}

/// Checks what later snapshots must not change about a node of an earlier one with the same stamp.
fn check_sealed(older: &Tree, newer: &Tree) {
    for (id, node) in &newer.nodes {
        let Some(before) = older.nodes.get(id) else { continue };
        if before.created_at_ns != node.created_at_ns {
            continue;
        }
        assert_eq!(older.region(id), newer.region(id), "`{id}` is in two regions");
        let mut changed = before.clone();
        changed.ttl = node.ttl;
        changed.policy_pin = node.policy_pin;
        changed.policy_priority = node.policy_priority;
        // A move inside one parent is refused, but the node may have been in another one meanwhile.
        changed.parent.clone_from(&node.parent);
        changed.offset = node.offset;
        assert_eq!(&changed, node, "`{id}` was sealed");
    }
}

#[test]
fn random_sessions_keep_the_invariants() {
    for mut session in Sessions::new(1).take(300) {
        let mut model = Model::new();
        let mut exports: Vec<Vec<u8>> = Vec::new();
        let mut last_stamp = 0;
        while let Some(step) = session.next_step(&model) {
            let before = model.state.clone();
            let result = model.apply(&step);
            if result.is_err() {
                assert_eq!(model.state, before, "a refusal changes nothing");
            }
            assert!(model.state.last_stamp >= last_stamp, "stamps only grow");
            last_stamp = model.state.last_stamp;
            let largest = model.state.tree.nodes.values().map(|node| node.created_at_ns).max();
            assert!(largest <= Some(last_stamp));
            check_tree(&model.state.tree);
            if let Ok(Outcome::Committed(report)) = result {
                assert!(child_ids(&model, "^ah").is_empty());
                assert_eq!(child_ids(&model, "^seq").last(), Some(&report.sealed));
                if let [.., older, newer] = &model.snapshots[..] {
                    check_sealed(&older.tree, &newer.tree);
                }
                exports.push(model.export(exports.len()));
            }
        }
        assert_eq!(exports.len(), model.snapshot_count());
        for (index, export) in exports.iter().enumerate() {
            assert_eq!(model.export(index), *export, "session {}", session.seed());
        }
    }
}

#[test]
fn random_sessions_meet_every_refusal() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut steps: u64 = 0;
    let mut largest = 0;
    for mut session in Sessions::new(2).take(300) {
        let mut model = Model::new();
        while let Some(step) = session.next_step(&model) {
            steps += 1;
            let name = match model.apply(&step) {
                Err(refusal) => format!("{}/{}", refusal.code, refusal.reason),
                Ok(Outcome::Moved(renamed)) if !renamed.is_empty() => "renamed".to_owned(),
                Ok(Outcome::Committed(report)) => {
                    let lists = [
                        ("expired", report.expired.len()),
                        ("deferred", report.deferred.len()),
                        ("along", report.along.len()),
                        ("cascaded", report.cascaded.len()),
                        ("pruned", report.pruned.len()),
                        ("core_created", usize::from(report.core_created.is_some())),
                    ];
                    for (name, count) in lists {
                        *counts.entry(name.to_owned()).or_default() += count as u64;
                    }
                    "committed".to_owned()
                }
                Ok(_) => "done".to_owned(),
            };
            *counts.entry(name).or_default() += 1;
            largest = largest.max(model.state.tree.nodes.len());
        }
    }
    let reasons = [
        "extra_region",
        "turn_outside_sequence",
        "type_not_namespaced",
        "negative_ttl",
        "reserved_name",
        "attribute_not_namespaced",
        "content_on_container",
        "removable_block",
        "second_core",
        "group_at_core",
        "children_under_block",
        "not_a_turn",
        "unknown_parent",
        "position_out_of_range",
        "position_not_expressible",
        "core_lifecycle",
        "duplicate_id",
        "fixed_node",
        "cycle",
    ];
    let mut expected: Vec<String> =
        reasons.map(|reason| format!("E_INVALID_PLACEMENT/{reason}")).to_vec();
    expected.extend(["E_SEALED/", "E_IMMUTABLE/", "E_NODE_NOT_FOUND/"].map(str::to_owned));
    expected.extend(["renamed", "expired", "deferred", "along"].map(str::to_owned));
    expected.extend(["cascaded", "pruned", "core_created"].map(str::to_owned));
    for name in expected {
        assert!(counts.get(&name).is_some_and(|count| *count > 5), "`{name}` is rare: {counts:?}");
    }
    let refused: u64 =
        counts.iter().filter(|(name, _)| name.contains('/')).map(|(_, count)| count).sum();
    let share = refused * 100 / steps;
    assert!((12..=28).contains(&share), "{share} % refused, {counts:?}");
    assert!(largest < 150, "sessions stay small, this one had {largest} nodes");
}
