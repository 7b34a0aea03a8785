//! PRU: budgets, order, protection.

use std::sync::Arc;

use contextree::json::Value;
use contextree::{
    CommitOptions, CommitReport, Context, Limit, NewNode, NodeRef, Place, Policy, Region,
};
use contextree_testkit::Rng;

use crate::support::{block, children, commit, group, head, thread_ids, turns};

fn prune(context: &mut Context, protect_turns: u64, limits: Vec<Limit>) -> CommitReport {
    let policy = Policy { protect_turns, limits, ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    context.commit_with(&options).unwrap()
}

fn pruned(report: &CommitReport) -> Vec<&str> {
    report.pruned.iter().map(|node| node.id.as_str()).collect()
}

// covers: PRU-001
#[test]
fn nothing_is_pruned_without_a_policy() {
    let mut context = turns(20);
    assert!(commit(&mut context).pruned.is_empty());
    assert!(pruned(&prune(&mut context, 1, vec![])).is_empty(), "nor by an empty one");
    assert_eq!(Policy::default().limits, []);
    assert_eq!(head(&context).view().turn_count(), 22);
}

// covers: PRU-003
#[test]
fn pruning_order_is_priority_then_age_then_id() {
    let mut context = turns(0);
    context.remove("s").unwrap();
    for (id, priority) in [("new-low", -1), ("b", 0), ("a", 0), ("high", 9)] {
        context.add(Place::head(), block(id).priority(priority)).unwrap();
    }
    let report = prune(&mut context, 0, vec![Limit::Remove(3)]);
    assert_eq!(pruned(&report), ["new-low", "b", "a"]);
    assert_eq!(thread_ids(head(&context).view()), ["high"]);
}

// covers: PRU-004
#[test]
fn document_order_does_not_affect_pruning() {
    let mut nodes: Vec<String> = (0..30)
        .map(|index| {
            format!(
                r#"{{"id":"n{index}","nodeType":"cb","priority":{},"created_at_ns":{},"content":"c{index}"}}"#,
                index % 4,
                index % 3
            )
        })
        .collect();
    let mut rng = Rng::new(7);
    let mut digests = std::collections::BTreeSet::new();
    for _ in 0..100 {
        for index in (1..nodes.len()).rev() {
            let other = usize::try_from(rng.below(index as u64 + 1)).unwrap();
            nodes.swap(index, other);
        }
        let mut context = crate::support::lenient_working(&format!(
            r#"{{"root":{{"id":"r","children":[{{"id":"s","nodeType":"^sys","children":[{}]}}]}}}}"#,
            nodes.join(",")
        ));
        let report = prune(&mut context, 1, vec![Limit::Remove(11)]);
        digests.insert((report.digest, head(&context).export(), report.pruned.len()));
    }
    assert_eq!(digests.len(), 1, "a hundred runs, one result");
}

// covers: PRU-005
#[test]
fn the_newest_turns_pinned_and_referenced_nodes_are_protected() {
    let mut context = turns(4);
    context.apply(contextree::Op::Pin { node: "u1".into() }).unwrap();
    let handle = context.retain("a2").unwrap();
    context.add(Place::system(), block("cites").pinned(true).attribute("data_refs", "p1")).unwrap();
    let report = prune(&mut context, 3, vec![Limit::Remove(1_000)]);
    // The head about to be sealed is the newest turn, so turns 4 and 3 are protected too.
    assert_eq!(pruned(&report), ["s", "a1", "u2", "p2"]);
    assert_eq!(report.unmet.len(), 1, "the unmet limit is reported");
    drop(handle);
}

// covers: PRU-006
#[test]
fn custom_measure_counts_and_keeps_the_order() {
    let mut context = turns(0);
    context.remove("s").unwrap();
    for (id, text) in [("a", "one two three"), ("b", "four"), ("c", "five six")] {
        context.add(Place::head(), NewNode::text(text).id(id)).unwrap();
    }
    let words = |block: NodeRef<'_>| {
        block.content().as_text().map_or(0, |text| text.split(' ').count() as u64)
    };
    let total = |max| vec![Limit::Total { measure: "words".into(), max }];
    let before = context.export_working();
    let policy = Policy { protect_turns: 0, limits: total(3), ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    let error = context.commit_with(&options).unwrap_err();
    assert_eq!(error.code(), "E_UNKNOWN_MEASURE");
    assert_eq!(context.export_working(), before, "a failed commit changes nothing");
    context.set_measure("words", Arc::new(words));
    let report = prune(&mut context, 0, total(3));
    assert_eq!(pruned(&report), ["a"], "the prefix of the canonical order that is enough");
}

// covers: PRU-009, LIF-012
#[test]
fn removable_container_emptied_by_pruning_is_removed() {
    let mut context = turns(0);
    context.add(Place::at("^ah", 1), group("g").removable(true)).unwrap();
    for id in ["x", "y"] {
        context.add(Place::into("g"), block(id).priority(-1)).unwrap();
    }
    context.add(Place::at("^ah", 2), group("plain")).unwrap();
    context.add(Place::into("plain"), block("z").priority(-1)).unwrap();
    let report = prune(&mut context, 0, vec![Limit::Remove(3)]);
    assert_eq!(pruned(&report), ["x", "y", "z"]);
    assert_eq!(report.cascaded, ["g"]);
    assert_eq!(children(head(&context).view(), "seg:1"), ["cont:1", "plain"]);
}

// covers: PRU-007
#[test]
fn budgets_hold_on_the_whole_on_regions_on_turns_and_on_depth() {
    let count = |context: &Context, region: Region| {
        contextree::canon::thread::blocks(head(context).view())
            .filter(|(place, _)| *place == region)
            .count()
    };
    let nodes = |max| Limit::Region { region: Region::Seq, measure: "nodes".into(), max };
    let mut context = turns(5);
    prune(&mut context, 1, vec![nodes(4)]);
    assert_eq!((count(&context, Region::Seq), count(&context, Region::Sys)), (4, 1));
    let mut context = turns(5);
    prune(&mut context, 1, vec![Limit::Turn { measure: "nodes".into(), max: 1 }]);
    for turn in head(&context).view().region(Region::Seq).children() {
        let blocks = turn.subtree().filter(|(_, node)| !node.class().is_container()).count();
        assert!(blocks <= 1, "{turn:?} has {blocks} blocks");
    }
    let mut context = turns(5);
    let report = prune(&mut context, 1, vec![Limit::Depth(2)]);
    assert_eq!(children(head(&context).view(), "^seq"), ["seg:5", "seg:6"]);
    assert_eq!(pruned(&report), ["seg:1", "seg:2", "seg:3", "seg:4"]);
    let mut context = turns(5);
    let total = |max| Limit::Total { measure: "bytes".into(), max };
    let report = prune(&mut context, 1, vec![total(10)]);
    let bytes: usize = contextree::canon::thread::blocks(head(&context).view())
        .map(|(_, node)| node.content().byte_len())
        .sum();
    assert!(bytes <= 10 && report.unmet.is_empty(), "{bytes} bytes are left");
}

#[test]
fn call_and_its_results_are_pruned_together() {
    let mut context = turns(0);
    context.remove("s").unwrap();
    let part = |id: &str, call: Value, priority| {
        block(id).priority(priority).attribute("data_call_id", call)
    };
    context.add(Place::head(), part("call1", "c1".into(), 5)).unwrap();
    context.add(Place::head(), part("result1", "c1".into(), -5)).unwrap();
    context.add(Place::head(), part("call2", 2.into(), 0)).unwrap();
    context.add(Place::at("^ah", 1), part("result2", 2.into(), 0).pinned(true)).unwrap();
    context.add(Place::head(), block("plain")).unwrap();
    let report = prune(&mut context, 0, vec![Limit::Remove(1)]);
    assert_eq!(pruned(&report), ["result1", "call1"], "the call is pruned despite its priority");
    let report = prune(&mut context, 0, vec![Limit::Remove(100)]);
    assert_eq!(pruned(&report), ["plain"], "a pinned result keeps its call");
}

// covers: PRU-005
#[test]
fn reasoning_before_two_calls_joins_them_to_one_unit() {
    let mut context = turns(0);
    context.remove("s").unwrap();
    let part = |id: &str, call: Value| block(id).attribute("data_call_id", call);
    let both = || Value::from(vec![Value::from("c1"), Value::from("c2")]);
    let think = || block("think").attribute("data_call_ids", both());
    context.add(Place::head(), think()).unwrap();
    for (id, call) in [("call1", "c1"), ("call2", "c2"), ("result1", "c1"), ("result2", "c2")] {
        context.add(Place::head(), part(id, call.into())).unwrap();
    }
    context.add(Place::head(), block("answer")).unwrap();
    let report = prune(&mut context, 0, vec![Limit::Remove(1)]);
    assert_eq!(pruned(&report), ["think", "call1", "call2", "result1", "result2"]);

    let mut context = turns(0);
    context.remove("s").unwrap();
    context.add(Place::head(), think()).unwrap();
    context.add(Place::head(), part("call1", "c1".into())).unwrap();
    context.add(Place::head(), part("result2", "c2".into()).pinned(true)).unwrap();
    let report = prune(&mut context, 0, vec![Limit::Remove(1)]);
    assert!(pruned(&report).is_empty(), "a pinned result keeps the reasoning and the other call");
}

// covers: PRU-005
#[test]
fn excluded_nodes_are_kept_with_their_descendants() {
    let mut context = turns(2);
    context.add(Place::at("^ah", 1), group("kept")).unwrap();
    context.add(Place::into("kept"), block("inside")).unwrap();
    let policy = |selectors: &[&str]| Policy {
        protect_turns: 0,
        limits: vec![Limit::Remove(1_000), Limit::Depth(1)],
        exclude: selectors.iter().map(|selector| (*selector).to_owned()).collect(),
        ..Policy::default()
    };
    let error = |selectors: &[&str]| {
        let policy = policy(selectors);
        let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
        context.preview(&options).unwrap_err()
    };
    assert_eq!(error(&[".block["]).code(), "E_SELECTOR_INVALID");
    assert!(error(&[".block["]).to_string().contains("`.block[` in `exclude`"));
    error(&["@t0 .block"]);
    let policy = policy(&["[id='u1']", ".cont[id='kept']"]);
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    context.commit_with(&options).unwrap();
    assert_eq!(thread_ids(head(&context).view()), ["u1", "inside"]);
    assert_eq!(head(&context).view().turn_count(), 2, "a turn with an excluded node stays whole");
}

#[test]
fn pruning_clears_at_least_the_minimum() {
    let limits = |max| {
        vec![
            Limit::Total { measure: "nodes".into(), max },
            Limit::ClearAtLeast { measure: "nodes".into(), min: 5 },
        ]
    };
    let mut context = turns(8);
    let nodes =
        |context: &Context| contextree::canon::thread::blocks(context.working()).count() as u64;
    let before = nodes(&context);
    assert!(pruned(&prune(&mut context, 1, limits(before))).is_empty(), "no limit was exceeded");
    let report = prune(&mut context, 1, limits(before - 1));
    assert_eq!(report.pruned.len(), 5);
    let reasons: Vec<usize> = report.pruned.iter().map(|node| node.limit).collect();
    assert_eq!(reasons, [0, 1, 1, 1, 1], "each removal names its limit");
    assert!(report.unmet.is_empty());
}

#[test]
fn policy_round_trips_as_a_value() {
    let limits = vec![
        Limit::Remove(3),
        Limit::Total { measure: "bytes".into(), max: 8_000 },
        Limit::Region { region: Region::Sys, measure: "tokens".into(), max: 1 },
        Limit::Turn { measure: "nodes".into(), max: u64::MAX },
        Limit::Depth(7),
        Limit::ClearAtLeast { measure: "tokens".into(), min: 20_000 },
    ];
    let exclude = vec![".block+keep".into()];
    let policy = Policy { protect_turns: 2, limits, exclude, ..Policy::default() };
    assert_eq!(Policy::from_value(&policy.to_value()).unwrap(), policy);
    for (text, at) in [
        (r#"[]"#, ""),
        (r#"{"limit":[]}"#, "limit"),
        (r#"{"protect_turns":-1}"#, "protect_turns"),
        (r#"{"limits":{}}"#, "limits"),
        (r#"{"limits":[{"limit":"depth","max":1},3]}"#, "limits[1]"),
        (r#"{"limits":[{"limit":"deep","max":1}]}"#, "limits[0].limit"),
        (r#"{"limits":[{"limit":"total","max":1}]}"#, "limits[0].measure"),
        (
            r#"{"limits":[{"limit":"region","region":"^x","measure":"nodes","max":1}]}"#,
            "limits[0].region",
        ),
        (r#"{"limits":[{"limit":"remove","count":1,"max":1}]}"#, "limits[0].max"),
        (r#"{"limits":[{"limit":"clear_at_least","measure":"nodes"}]}"#, "limits[0].min"),
        (r#"{"exclude":".block"}"#, "exclude"),
        (r#"{"exclude":[".block",7]}"#, "exclude[1]"),
    ] {
        let error =
            Policy::from_value(&contextree::json::parse(text.as_bytes()).unwrap()).unwrap_err();
        assert_eq!((error.code(), error.at.as_str()), ("E_POLICY_INVALID", at), "{text}");
    }
}

fn of_call(id: &str, kind: &str, call: &str) -> NewNode {
    block(id).kind(kind).attribute("data_call_id", call)
}

#[test]
fn a_call_id_that_is_used_again_is_a_different_call() {
    let mut context = Context::new();
    for turn in 1..=3 {
        let thinking = block(&format!("thinking-{turn}")).kind("reasoning");
        let calls = Value::from(vec![Value::from("call_0")]);
        context.add(Place::head(), thinking.attribute("data_call_ids", calls)).unwrap();
        for kind in ["call", "result"] {
            let id = format!("{kind}-{turn}");
            context.add(Place::head(), of_call(&id, kind, "call_0")).unwrap();
        }
        commit(&mut context);
    }
    let report = prune(&mut context, 1, vec![Limit::Remove(1)]);
    assert_eq!(pruned(&report), ["thinking-1", "call-1", "result-1"]);
    // The newest turn is protected; the calls before it are not, although they share its id.
    let report = prune(&mut context, 3, vec![Limit::Remove(9)]);
    assert_eq!(pruned(&report), ["thinking-2", "call-2", "result-2"]);
    assert_eq!(thread_ids(head(&context).view()), ["thinking-3", "call-3", "result-3"]);
}

#[test]
fn late_results_belong_to_the_last_call_with_their_id() {
    let mut context = Context::new();
    for (id, kind) in [("a", "call"), ("b", "call"), ("late", "result"), ("later", "result")] {
        context.add(Place::head(), of_call(id, kind, "call_0")).unwrap();
        commit(&mut context);
    }
    assert_eq!(pruned(&prune(&mut context, 0, vec![Limit::Remove(1)])), ["a"]);
    assert_eq!(pruned(&prune(&mut context, 0, vec![Limit::Remove(1)])), ["b", "late", "later"]);
}

#[test]
fn newest_user_message_is_protected_however_many_calls_follow() {
    let mut context = Context::new();
    for id in ["old", "task", "picture"] {
        context.add(Place::head(), block(id).role("user")).unwrap();
        if id == "old" {
            context.add(Place::head(), block("answer").role("assistant")).unwrap();
        }
    }
    commit(&mut context);
    for call in 0..200 {
        let name = format!("call_{call}");
        context.add(Place::head(), of_call(&format!("c{call}"), "call", &name)).unwrap();
        context.add(Place::head(), of_call(&format!("r{call}"), "result", &name)).unwrap();
        commit(&mut context);
    }
    let limits = vec![Limit::Total { measure: "nodes".into(), max: 6 }, Limit::Depth(4)];
    let policy = Policy { protect_user: true, limits, ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    let report = context.commit_with(&options).unwrap();
    assert_eq!(report.unmet, []);
    let left = ["task", "picture", "c198", "r198", "c199", "r199"];
    assert_eq!(thread_ids(head(&context).view()), left);
    assert_eq!(head(&context).view().turn_count(), 4);
    let policy = Policy { protect_user: false, ..policy };
    assert_eq!(Policy::from_value(&policy.to_value()).unwrap(), policy);
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    context.add(Place::head(), block("more").role("assistant")).unwrap();
    let report = context.commit_with(&options).unwrap();
    assert_eq!(pruned(&report)[0], "task", "by age, unless it is protected");
}
