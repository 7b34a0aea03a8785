//! Calls: the working state is committed ahead, sent, and sealed when the answer arrives.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use contextree::engine::{
    CallError, CallResponse, CallStart, Cue, MAX_PARTIAL_BYTES, PreparedNode, Preview,
};
use contextree::{
    AttemptStatus, CallOutcome, Clock, CommitOptions, Context, ContextOptions, Cycle, Edit, Hash,
    Limit, MeasureName, NewNode, Op, Place, Policy, Region, SnapshotAddress,
};

use crate::support::{block, children, commit, group, head, move_to, refuse, thread_ids, turns};

fn start(input: &[u8]) -> CallStart {
    CallStart {
        provider: "acme".into(),
        model: "m-1".into(),
        params: Hash::of(b"{}"),
        input: Some(Hash::of(input)),
        serves: None,
        options: "{}".into(),
    }
}

/// Begins a call whose input is the thread of the snapshot; returns the attempt and the input.
fn begin_with(context: &mut Context, options: &CommitOptions<'_>) -> (String, Vec<u8>) {
    let input = context
        .begin_call(options, |request: &Preview| -> Result<_, CallError> {
            let input = request.snapshot.thread();
            Ok((start(&input), input))
        })
        .unwrap();
    (running(context), input)
}

fn begin(context: &mut Context) -> String {
    begin_with(context, &CommitOptions::default()).0
}

fn running(context: &Context) -> String {
    context.running_call().expect("a call is running").attempt.attempt_id.clone()
}

fn answer(ids: &[&str]) -> Vec<PreparedNode> {
    ids.iter().map(|id| block(id).role("assistant").into()).collect()
}

fn complete(context: &mut Context, attempt: &str, ids: &[&str]) -> contextree::CommitReport {
    context.complete_call(attempt, answer(ids), CallOutcome::default()).unwrap()
}

/// A context with one sealed turn and a question in its head.
fn asked() -> Context {
    let mut context = turns(1);
    context.add(Place::head(), block("q").role("user")).unwrap();
    context
}

#[test]
fn completing_seals_what_was_sent_and_the_answer_opens_the_next_cycle() {
    let mut context = asked();
    let (attempt, input) = begin_with(&mut context, &CommitOptions::default());
    assert_eq!(context.history().len(), 1, "nothing is sealed yet");
    let digest = context.running_call().unwrap().snapshot.digest();
    let report = complete(&mut context, &attempt, &["a"]);
    assert_eq!((report.cycle, report.digest), (Cycle(2), digest));
    assert_eq!(head(&context).digest(), digest);
    assert_eq!(head(&context).thread(), input);
    assert_eq!(head(&context).cycle(), 2);
    assert_eq!(thread_ids(context.working()), ["s", "u1", "a1", "p1", "q", "a"]);
    assert_eq!(children(context.working(), "cont:3"), ["a"]);
    assert!(context.running_call().is_none());
    assert_eq!(commit(&mut context).cycle, 3);
}

#[test]
fn the_snapshot_equals_that_of_a_plain_commit() {
    let (mut called, mut plain) = (asked(), asked());
    let attempt = begin(&mut called);
    complete(&mut called, &attempt, &["a"]);
    commit(&mut plain);
    assert_eq!(called.history_digest(), plain.history_digest());
}

#[test]
fn an_attempt_keeps_request_response_and_usage() {
    let mut context = asked();
    let (attempt, input) = begin_with(&mut context, &CommitOptions::default());
    let found = context.attempts()[0].clone();
    assert_eq!((found.cycle_id, found.status.word()), (Cycle(2), "running"));
    assert_eq!(found.input, Some(Hash::of(&input)));
    let request = found.request.unwrap();
    assert_eq!(request.snapshot, context.running_call().unwrap().snapshot.digest());
    let response = CallResponse {
        cache_read: Some(3),
        model: Some("m-1-2026".into()),
        stop_reason: Some("end_turn".into()),
        response_id: Some("r1".into()),
        ..CallResponse::default()
    };
    let outcome = CallOutcome { token_in: Some(7), token_out: Some(2), response: response.clone() };
    context.complete_call(&attempt, answer(&["a"]), outcome).unwrap();
    let found = &context.attempts()[0];
    assert_eq!(found.status, AttemptStatus::Completed);
    assert_eq!((found.token_in, found.token_out), (Some(7), Some(2)));
    assert_eq!(found.response.as_ref(), Some(&response));
}

#[test]
fn ttl_0_is_never_seen_and_ttl_1_by_exactly_one_call() {
    let mut context = Context::new();
    context.add(Place::head(), block("zero").ttl(0)).unwrap();
    context.add(Place::head(), block("one").ttl(1)).unwrap();
    context.add(Place::head(), block("stays")).unwrap();
    let mut seen = Vec::new();
    for number in 0..3 {
        let attempt = begin(&mut context);
        let snapshot = context.running_call().unwrap().snapshot.clone();
        seen.push(thread_ids(snapshot.view()).join(" "));
        complete(&mut context, &attempt, &[&format!("a{number}")]);
    }
    assert_eq!(seen, ["one stays", "stays a0", "stays a0 a1"]);
}

#[test]
fn what_is_added_meanwhile_follows_the_answer() {
    let mut context = asked();
    let attempt = begin(&mut context);
    context.add(Place::head(), block("late").role("user")).unwrap();
    context.add(Place::cue("cont:3", Cue::Start), block("first")).unwrap();
    context.add(Place::at("cont:3", -7), block("low")).unwrap();
    context.add(Place::at("^ah", -1), block("pre")).unwrap();
    context.add(Place::system(), block("s2")).unwrap();
    complete(&mut context, &attempt, &["a", "b"]);
    assert_eq!(children(context.working(), "cont:3"), ["a", "b", "low", "first", "late"]);
    assert_eq!(children(context.working(), "^ah"), ["pre", "cont:3"]);
    assert!(head(&context).view().get("late").is_none(), "it is of the next cycle");
    assert!(head(&context).view().get("s2").is_none());
    assert_eq!(context.working().get("late").unwrap().cycle(), 3);
}

#[test]
fn nodes_of_the_request_cannot_be_changed_until_it_ends() {
    let mut context = turns(1);
    context.add(Place::at("^sys", 0), group("g")).unwrap();
    context.add(Place::head(), block("q")).unwrap();
    context.add(Place::at("^ah", 1), block("doc")).unwrap();
    let attempt = begin(&mut context);
    let code = "E_ATTEMPT_RUNNING";
    let edit = |node: &str| Op::Edit { node: node.into(), edit: Edit::default() };
    let remove = |node: &str| Op::Remove { node: node.into() };
    for node in ["q", "doc", "g", "cont:2", "seg:2"] {
        refuse(&mut context, edit(node), code, "", node);
        refuse(&mut context, remove(node), code, "", node);
    }
    for node in ["q", "doc", "g", "p1", "s"] {
        refuse(&mut context, move_to(node, Place::head()), code, "", node);
    }
    refuse(&mut context, remove("p1"), code, "", "p1");
    refuse(&mut context, remove("s"), code, "", "s");
    let into = |parent: &str| Op::Add { place: Place::into(parent), node: NewNode::text("x") };
    refuse(&mut context, into("cont:2"), code, "", "cont:2");
    refuse(&mut context, into("seg:2"), code, "", "seg:2");
    // What was sealed before keeps its own error.
    refuse(&mut context, edit("u1"), "E_SEALED", "", "u1");
    refuse(&mut context, remove("u1"), "E_SEALED", "", "u1");
    refuse(&mut context, into("cont:1"), "E_SEALED", "", "cont:1");
    assert_eq!(context.commit().unwrap_err().code(), code);
    assert_eq!(context.preview(&CommitOptions::default()).unwrap_err().code(), code);
    let again = context.begin_call(&CommitOptions::default(), |_| -> Result<_, CallError> {
        Ok((start(b""), ()))
    });
    assert_eq!(again.unwrap_err().code(), code);
    let ended = context.end_attempt(&attempt, AttemptStatus::Completed, None);
    assert_eq!(ended.unwrap_err().code(), code);
    context.cancel_call(&attempt).unwrap();
    context.edit("q", Edit { content: Some("other".into()), ..Edit::default() }).unwrap();
    context.remove("doc").unwrap();
}

#[test]
fn what_was_added_meanwhile_can_be_changed() {
    let mut context = asked();
    let attempt = begin(&mut context);
    for id in ["x", "y"] {
        context.add(Place::head(), block(id)).unwrap();
    }
    context.edit("x", Edit { content: Some("other".into()), ..Edit::default() }).unwrap();
    context.remove("y").unwrap();
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(children(context.working(), "cont:3"), ["a", "x"]);
}

#[test]
fn canceling_restores_the_working_state() {
    let mut context = asked();
    context.add(Place::head(), block("gone").ttl(0)).unwrap();
    let before = (context.export_working(), context.history_digest());
    let attempt = begin(&mut context);
    assert!(context.working().get("gone").is_none());
    context.cancel_call(&attempt).unwrap();
    assert_eq!((context.export_working(), context.history_digest()), before);
    assert_eq!(context.attempts()[0].status, AttemptStatus::Canceled);
    let attempt = begin(&mut context);
    assert_eq!(attempt, "attempt:2.2");
    context.fail_call(&attempt, "overloaded").unwrap();
    assert_eq!((context.export_working(), context.history_digest()), before);
    assert_eq!(context.attempts()[1].status, AttemptStatus::Error("overloaded".into()));
}

#[test]
fn canceling_keeps_what_was_added_meanwhile() {
    let mut context = asked();
    context.add(Place::at("^ah", 1), group("docs")).unwrap();
    let attempt = begin(&mut context);
    context.add(Place::head(), block("late").ttl(1)).unwrap();
    context.add(Place::at("seg:2", 2), block("attached")).unwrap();
    context.add(Place::into("docs"), block("doc")).unwrap();
    context.add(Place::at("seg:1", 2), block("older")).unwrap();
    context.apply(Op::Pin { node: "q".into() }).unwrap();
    context.apply(Op::Pin { node: "seg:2".into() }).unwrap();
    let stamp = context.working().get("late").unwrap().created_at_ns();
    let forked = context.fork_working();
    context.cancel_call(&attempt).unwrap();
    assert_eq!(forked.export_working(), context.export_working(), "a fork is without the call");
    let tree = context.working();
    assert_eq!(thread_ids(tree), ["s", "u1", "a1", "p1", "older", "q", "late", "doc", "attached"]);
    assert_eq!(children(tree, "^ah"), ["cont:2", "docs", "attached"]);
    assert_eq!(children(tree, "docs"), ["doc"]);
    let late = tree.get("late").unwrap();
    assert_eq!((late.cycle(), late.created_at_ns(), late.ttl()), (Cycle(2), stamp, Some(1)));
    assert!(tree.get("q").unwrap().has_pin());
    let operations = commit(&mut context).operations.len();
    assert_eq!(operations, 8, "all of them are reported, none twice");
    assert!(head(&context).view().get("late").is_some());
    commit(&mut context);
    assert!(head(&context).view().get("late").is_none());
}

#[test]
fn a_late_core_stays_if_there_was_none() {
    let mut context = turns(1);
    let attempt = begin(&mut context);
    assert_eq!(context.running_call().unwrap().report.core.as_deref(), Some("cont:2"));
    context.add(Place::head(), block("late")).unwrap();
    context.cancel_call(&attempt).unwrap();
    assert_eq!(thread_ids(context.working()), ["s", "u1", "a1", "p1", "late"]);
    let attempt = begin(&mut context);
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(thread_ids(context.working()), ["s", "u1", "a1", "p1", "late", "a"]);
}

#[test]
fn an_id_that_canceling_would_bring_back_is_taken() {
    let mut context = asked();
    context.add(Place::head(), block("gone").ttl(0)).unwrap();
    begin(&mut context);
    let op = Op::Add { place: Place::head(), node: block("gone") };
    refuse(&mut context, op, "E_INVALID_PLACEMENT", "duplicate_id", "gone");
}

#[test]
fn a_turn_with_the_id_of_an_expired_node_is_not_that_node() {
    let mut context = Context::new();
    context.add(Place::at("^ah", 1), group("seg:1").ttl(0)).unwrap();
    let attempt = begin(&mut context);
    assert_eq!(context.running_call().unwrap().report.sealed, "seg:1");
    context.add(Place::at("seg:1", 2), block("late")).unwrap();
    context.apply(Op::Pin { node: "seg:1".into() }).unwrap();
    context.cancel_call(&attempt).unwrap();
    assert_eq!(children(context.working(), "^ah"), ["seg:1", "late"]);
    assert!(!context.working().get("seg:1").unwrap().is_pinned());
}

#[test]
fn attempts_beside_a_call_have_ids_of_their_own() {
    let mut context = asked();
    let other = contextree::AttemptStart { provider: "p", model: "m", params: b"", input: b"" };
    for _ in 0..2 {
        let attempt = begin(&mut context);
        context.start_attempt(other);
        context.cancel_call(&attempt).unwrap();
    }
    let attempt = begin(&mut context);
    complete(&mut context, &attempt, &["a"]);
    begin(&mut context);
    let ids: Vec<&str> = context.attempts().iter().map(|one| one.attempt_id.as_str()).collect();
    let expected =
        ["attempt:2.1", "attempt:3.1", "attempt:2.2", "attempt:3.2", "attempt:2.3", "attempt:3.3"];
    assert_eq!(ids, expected);
}

#[test]
fn a_call_ends_once() {
    let mut context = asked();
    let attempt = begin(&mut context);
    complete(&mut context, &attempt, &["a"]);
    let before = (context.export_working(), context.history_digest());
    let code = |error: CallError| error.code();
    let completed = context.complete_call(&attempt, answer(&["b"]), CallOutcome::default());
    assert_eq!(completed.map_err(code), Err("E_ATTEMPT_ENDED"));
    assert_eq!(context.cancel_call(&attempt).map(drop).map_err(code), Err("E_ATTEMPT_ENDED"));
    let unknown = context.complete_call("attempt:9.9", Vec::new(), CallOutcome::default());
    assert_eq!(unknown.map_err(code), Err("E_ATTEMPT_NOT_FOUND"));
    let other = contextree::AttemptStart { provider: "p", model: "m", params: b"", input: b"" };
    let other = context.start_attempt(other).attempt_id.clone();
    let other = context.complete_call(&other, Vec::new(), CallOutcome::default());
    assert_eq!(other.map_err(code), Err("E_ATTEMPT_NO_REQUEST"));
    assert_eq!((context.export_working(), context.history_digest()), before);
}

#[test]
fn an_answer_that_is_refused_changes_nothing() {
    let mut context = asked();
    let attempt = begin(&mut context);
    context.add(Place::head(), block("late")).unwrap();
    let before = context.export_working();
    let error = context
        .complete_call(&attempt, answer(&["a", "late"]), CallOutcome::default())
        .unwrap_err();
    assert!(matches!(&error, CallError::Answer(batch) if batch.index == 1), "{error}");
    assert_eq!(error.code(), "E_INVALID_PLACEMENT");
    assert_eq!(context.export_working(), before);
    assert_eq!(running(&context), attempt);
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(children(context.working(), "cont:3"), ["a", "late"]);
}

#[test]
fn an_empty_answer_seals_what_was_sent() {
    let mut context = asked();
    let attempt = begin(&mut context);
    complete(&mut context, &attempt, &[]);
    assert_eq!(context.history().len(), 2);
    assert_eq!(context.working().region(Region::Head).child_count(), 0);
}

#[test]
fn a_preview_begins_a_call_only_while_it_holds() {
    let mut context = asked();
    let options = CommitOptions::default();
    let stale = context.preview(&options).unwrap();
    context.add(Place::head(), block("more")).unwrap();
    let error = context.begin_previewed(&stale, &options, start(b"")).unwrap_err();
    assert_eq!(error.code(), "E_CONFLICT");
    // A handle changes what the commit does without a change of the tree.
    context.add(Place::head(), block("held").ttl(0)).unwrap();
    let preview = context.preview(&options).unwrap();
    let before = context.export_working();
    let handle = context.retain("held").unwrap();
    let error = context.begin_previewed(&preview, &options, start(b"")).unwrap_err();
    assert_eq!((error.code(), context.export_working()), ("E_CONFLICT", before));
    drop(handle);
    let attempt = context.begin_previewed(&preview, &options, start(b"x")).unwrap();
    assert_eq!(attempt.request.as_ref().unwrap().snapshot, preview.snapshot.digest());
    let attempt = attempt.attempt_id.clone();
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(head(&context).digest(), preview.snapshot.digest());
}

#[test]
fn a_request_that_cannot_be_rendered_begins_no_call() {
    let mut context = asked();
    let preview = context.preview(&CommitOptions::default()).unwrap();
    let before = context.export_working();
    let result: Result<(), CallError> = context
        .begin_call(&CommitOptions::default(), |_| Err(CallError::PartialTooLong { bytes: 0 }));
    assert_eq!(result.unwrap_err().code(), "E_LIMIT");
    assert_eq!(context.export_working(), before);
    assert!(context.running_call().is_none() && context.attempts().is_empty());
    let attempt = context.begin_previewed(&preview, &CommitOptions::default(), start(b""));
    let attempt = attempt.unwrap().attempt_id.clone();
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(head(&context).digest(), preview.snapshot.digest());
}

#[test]
fn partial_answers_stay_with_a_call_that_is_canceled() {
    let mut context = asked();
    let attempt = begin(&mut context);
    context.attach_partial(&attempt, "It").unwrap();
    context.attach_partial(&attempt, "It rains").unwrap();
    let long = "x".repeat(MAX_PARTIAL_BYTES + 1);
    assert_eq!(context.attach_partial(&attempt, long).unwrap_err().code(), "E_LIMIT");
    let canceled = context.cancel_call(&attempt).unwrap();
    assert_eq!(canceled.partial.as_deref(), Some("It rains"));
    assert_eq!(context.attach_partial(&attempt, "x").unwrap_err().code(), "E_ATTEMPT_ENDED");
    let attempt = begin(&mut context);
    context.attach_partial(&attempt, "It").unwrap();
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(context.attempts()[1].partial, None);
}

#[test]
fn a_budget_prunes_inside_a_long_tool_loop() {
    let mut context = Context::new();
    context.add(Place::head(), block("question").role("user").pinned(true)).unwrap();
    let limits = vec![Limit::Total { measure: MeasureName::Nodes, max: 12 }];
    let policy = Policy { limits, ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    for call in 0..200 {
        let (attempt, input) = begin_with(&mut context, &options);
        let tools = vec![NewNode::text("call").role("assistant").kind("call")];
        let tools = tools.into_iter().map(|node| node.attribute("data_call_id", call));
        context
            .complete_call(&attempt, tools.map(Into::into).collect(), CallOutcome::default())
            .unwrap();
        let result = NewNode::text("result").role("tool").attribute("data_call_id", call);
        context.add(Place::head(), result).unwrap();
        assert_eq!(head(&context).thread(), input);
        let blocks = thread_ids(head(&context).view());
        assert!(blocks.len() <= 12 && blocks[0] == "question", "call {call}: {blocks:?}");
    }
}

#[test]
fn an_answer_is_stamped_when_it_arrives_unless_something_came_before_it() {
    struct Ticking(AtomicI64);
    impl Clock for Ticking {
        fn now_ns(&self) -> i64 {
            self.0.load(Ordering::Relaxed)
        }
    }
    let clock = Arc::new(Ticking(AtomicI64::new(100)));
    let own: Option<Arc<dyn Clock>> = Some(clock.clone());
    let mut context =
        Context::with_options(ContextOptions { clock: own, ..ContextOptions::default() });
    context.add(Place::head(), block("q")).unwrap();
    let attempt = begin(&mut context);
    clock.0.store(900, Ordering::Relaxed);
    complete(&mut context, &attempt, &["a"]);
    assert_eq!(context.working().get("a").unwrap().created_at_ns(), 900);
    let attempt = begin(&mut context);
    clock.0.store(2000, Ordering::Relaxed);
    context.add(Place::head(), block("late")).unwrap();
    complete(&mut context, &attempt, &["b"]);
    let stamp = |id: &str| context.working().get(id).unwrap().created_at_ns();
    assert!(stamp("b") < 2000 && stamp("late") >= 2000);
    assert_eq!(children(context.working(), "cont:3"), ["b", "late"]);
}

#[test]
fn forks_and_history_ignore_a_running_call() {
    let mut context = asked();
    let history = context.export_history();
    begin(&mut context);
    assert_eq!(context.export_history(), history);
    let fork = context.fork(SnapshotAddress::Back(0)).unwrap();
    assert!(fork.running_call().is_none() && fork.attempts().is_empty());
    let mut fork = context.fork_working();
    assert_eq!(thread_ids(fork.working()), ["s", "u1", "a1", "p1", "q"]);
    assert_eq!(commit(&mut fork).cycle, 2);
    assert!(context.running_call().is_some());
}
