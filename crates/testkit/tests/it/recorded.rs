//! Calls that were made elsewhere: what they dropped, when they happened, and which user message they serve.

use std::collections::BTreeSet;

use contextree::engine::{CallStart, RecordedCall};
use contextree::{
    AttemptStatus, CallOutcome, Class, CommitOptions, Context, Cycle, Hash, NodeRef, Place, TreeRef,
};
use contextree_testkit::Rng;

use crate::support::{block, children, commit, head, thread_ids, turns};

fn drop_nodes(context: &mut Context, nodes: &[&str]) -> Result<contextree::CommitReport, String> {
    let nodes: Vec<String> = nodes.iter().map(|node| (*node).to_owned()).collect();
    let options = CommitOptions { drop: &nodes, ..CommitOptions::default() };
    context.commit_with(&options).map_err(|error| error.code().to_owned())
}

fn start() -> CallStart {
    CallStart {
        provider: "acme".into(),
        model: "m-1".into(),
        params: Hash::of(b"{}"),
        input: None,
        serves: None,
        options: "{}".into(),
    }
}

fn call(started_at: i64, ended_at: i64) -> RecordedCall {
    let outcome = CallOutcome { token_in: Some(7), ..CallOutcome::default() };
    let (ended_at, source) = (Some(ended_at), "a log".to_owned());
    RecordedCall { start: start(), started_at, ended_at, outcome, source }
}

fn ids(tree: TreeRef<'_>) -> BTreeSet<String> {
    tree.nodes().map(|(_, node)| node.id().to_owned()).collect()
}

#[test]
fn dropped_nodes_leave_the_tree_and_stay_in_the_history() {
    let mut context = turns(3);
    context.add(Place::head(), block("new")).unwrap();
    let report = drop_nodes(&mut context, &["a2", "seg:3"]).unwrap();
    assert_eq!(thread_ids(head(&context).view()), ["s", "u1", "a1", "p1", "u2", "p2", "new"]);
    assert_eq!(report.dropped, ["a2", "seg:3", "cont:3", "u3", "a3", "p3"]);
    assert!(report.pruned.is_empty());
    let before = context.snapshot(contextree::SnapshotAddress::Back(1)).unwrap();
    assert!(before.view().resolve("a3").is_some(), "the history is never changed");
}

#[test]
fn a_node_that_cannot_be_dropped_fails_the_commit() {
    let mut context = turns(1);
    assert_eq!(drop_nodes(&mut context, &["a1", "nowhere"]), Err("E_NODE_NOT_FOUND".to_owned()));
    assert_eq!(drop_nodes(&mut context, &["a1", "^seq"]), Err("E_INVALID_PLACEMENT".to_owned()));
    assert!(context.working().resolve("a1").is_some(), "nothing has changed");
    assert_eq!(commit(&mut context).cycle, 2);
}

#[test]
fn dropping_removes_exactly_the_subtrees() {
    let mut rng = Rng::new(11);
    for _ in 0..40 {
        let mut context = turns(6);
        context.add(Place::head(), block("h")).unwrap();
        let free = |node: &NodeRef<'_>| !matches!(node.class(), Class::Root | Class::Region);
        let all: Vec<String> = {
            let nodes = context.working().nodes().map(|(_, node)| node);
            nodes.filter(free).map(|node| node.id().to_owned()).collect()
        };
        let some: Vec<&str> = all.iter().filter(|_| rng.percent(20)).map(String::as_str).collect();
        let mut expected = {
            let mut other = turns(6);
            other.add(Place::head(), block("h")).unwrap();
            commit(&mut other);
            ids(head(&other).view())
        };
        let mut gone = BTreeSet::new();
        for id in &some {
            let node = context.working().resolve(id).unwrap();
            gone.extend(node.subtree().map(|(_, node)| node.id().to_owned()));
        }
        let report = drop_nodes(&mut context, &some).unwrap();
        expected.retain(|id| !gone.contains(id));
        // A head whose core was dropped gets a new one.
        expected.extend(report.core.clone());
        assert_eq!(ids(head(&context).view()), expected, "{some:?}");
        assert_eq!(report.dropped.into_iter().collect::<BTreeSet<_>>(), gone);
    }
}

#[test]
fn a_recorded_call_is_a_completed_attempt_of_the_newest_snapshot() {
    let mut context = Context::new();
    let refused = context.record_call(call(1, 2)).map(drop);
    assert_eq!(refused.unwrap_err().code(), "E_SNAPSHOT_NOT_FOUND");
    context.at_time(1_000, |context| {
        context.add(Place::head(), block("q").role("user")).unwrap();
        commit(context);
    });
    context.record_call(call(1_000, 3_000)).unwrap();
    let attempt = &context.attempts()[0];
    assert_eq!((attempt.attempt_id.as_str(), attempt.cycle_id), ("attempt:1.1", Cycle(1)));
    assert_eq!(attempt.status, AttemptStatus::Completed);
    assert_eq!((attempt.started_at, attempt.ended_at), (1_000, Some(3_000)));
    assert_eq!((attempt.token_in, attempt.source.as_deref()), (Some(7), Some("a log")));
    let request = attempt.request.as_ref().unwrap();
    assert_eq!(request.snapshot, head(&context).digest());
}

#[test]
fn the_time_of_an_event_stamps_what_it_adds() {
    let mut context = Context::new();
    let at = |context: &mut Context, time, id: &str| {
        context.at_time(time, |context| context.add(Place::head(), block(id))).unwrap();
        context.working().resolve(id).unwrap().created_at_ns()
    };
    assert_eq!(at(&mut context, 5_000, "a"), 5_001, "the core was made first");
    assert_eq!(at(&mut context, 9_000, "b"), 9_000);
    assert_eq!(at(&mut context, 7_000, "c"), 9_001, "stamps never decrease");
    context.add(Place::head(), block("d")).unwrap();
    assert_eq!(children(context.working(), "cont:1"), ["a", "b", "c", "d"]);
}

#[test]
fn all_calls_of_a_tool_loop_serve_the_same_message() {
    let mut context = Context::new();
    let serves = |context: &mut Context| {
        commit(context);
        context.record_call(call(1, 2)).unwrap().serves.clone().unwrap_or_default()
    };
    assert_eq!(serves(&mut context), "", "nothing was asked");
    context.add(Place::head(), block("q1").role("user")).unwrap();
    context.add(Place::head(), block("q1-image").role("user").kind("image")).unwrap();
    assert_eq!(serves(&mut context), "q1", "the first block of the message");
    context.add(Place::head(), block("call").role("assistant")).unwrap();
    context.add(Place::head(), block("result").role("user").kind("result")).unwrap();
    context.add(Place::at("^ah", 1), block("document").role("user")).unwrap();
    assert_eq!(serves(&mut context), "q1", "results and documents ask nothing");
    context.add(Place::head(), block("q2").role("user")).unwrap();
    assert_eq!(serves(&mut context), "q2");
    let mut fork = context.fork_working();
    fork.add(Place::head(), block("more").role("assistant")).unwrap();
    assert_eq!(serves(&mut fork), "q2", "a fork has no attempts and looks into its history");
}
