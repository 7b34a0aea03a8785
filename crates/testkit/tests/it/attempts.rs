//! ATT: calls to a model within one cycle.

use std::sync::Arc;

use contextree::{
    Attempt, AttemptStart, AttemptStatus, Clock, Context, ContextOptions, Cycle, Edit, Hash, Place,
};

use crate::support::{block, commit, head, turns};

fn start<'a>(input: &'a [u8]) -> AttemptStart<'a> {
    AttemptStart { provider: "acme", model: "m-1", params: br#"{"temperature":0}"#, input }
}

// covers: ATT-001
#[test]
fn attempt_runs_and_ends_once() {
    for (status, word) in [
        (AttemptStatus::Completed, "completed"),
        (AttemptStatus::Canceled, "canceled"),
        (AttemptStatus::Error("timeout".into()), "error"),
    ] {
        let mut context = Context::new();
        let attempt = context.start_attempt(start(b"[]"));
        assert_eq!(attempt.status.word(), "running");
        let id = attempt.attempt_id.clone();
        let ended = context.end_attempt(&id, status.clone(), Some((10, 3))).unwrap();
        assert_eq!(ended.status.word(), word);
        for again in [AttemptStatus::Completed, AttemptStatus::Canceled, AttemptStatus::Running] {
            let error = context.end_attempt(&id, again, None).unwrap_err();
            assert_eq!(error.code(), "E_ATTEMPT_ENDED");
        }
        assert_eq!(context.attempts()[0].status, status, "a refused end changes nothing");
    }
    let mut context = Context::new();
    let error = context.end_attempt("attempt:1.1", AttemptStatus::Completed, None);
    assert_eq!(error.unwrap_err().code(), "E_ATTEMPT_NOT_FOUND");
}

// covers: ATT-002
#[test]
fn attempts_leave_no_trace_in_the_history() {
    let session = |attempts: usize| {
        let mut context = turns(1);
        context.add(Place::head(), block("x").ttl(1)).unwrap();
        for number in 0..attempts {
            let id = context.start_attempt(start(b"[]")).attempt_id.clone();
            if number % 2 == 0 {
                context.end_attempt(&id, AttemptStatus::Canceled, None).unwrap();
            }
        }
        commit(&mut context);
        context
    };
    let (without, with) = (session(0), session(5));
    assert_eq!(without.export_history(), with.export_history());
    assert_eq!(without.history_digest(), with.history_digest());
    assert_eq!((without.attempts().len(), with.attempts().len()), (0, 5));
}

// covers: ATT-003
#[test]
fn turn_can_be_edited_and_retried_after_a_stopped_attempt() {
    let mut context = turns(1);
    context.add(Place::head(), block("ask")).unwrap();
    let first = contextree::thread(context.working());
    let id = context.start_attempt(start(&first)).attempt_id.clone();
    context.end_attempt(&id, AttemptStatus::Canceled, None).unwrap();
    let edit = Edit { content: Some("better".into()), ..Edit::default() };
    context.edit("ask", edit).unwrap();
    let second = contextree::thread(context.working());
    let id = context.start_attempt(start(&second)).attempt_id.clone();
    context.add(Place::head(), block("answer").role("assistant")).unwrap();
    context.end_attempt(&id, AttemptStatus::Completed, Some((20, 2))).unwrap();
    commit(&mut context);
    assert_eq!(head(&context).view().get("ask").unwrap().content().as_text(), Some("better"));
    let inputs: Vec<Hash> = context.attempts().iter().filter_map(|attempt| attempt.input).collect();
    assert_eq!(inputs, [Hash::of(&first), Hash::of(&second)], "the digest of the exact bytes");
}

// covers: ATT-004
#[test]
fn attempts_are_listed_after_the_commit_with_their_cycle() {
    let mut context = Context::new();
    for cycle in 1..=3 {
        for _ in 0..cycle {
            let id = context.start_attempt(start(b"[]")).attempt_id.clone();
            context.end_attempt(&id, AttemptStatus::Error("no".into()), None).unwrap();
            assert_eq!(context.next_cycle(), cycle, "only a commit starts the next cycle");
        }
        commit(&mut context);
    }
    let listed: Vec<(&str, u32)> = context
        .attempts()
        .iter()
        .map(|attempt| (attempt.attempt_id.as_str(), attempt.cycle_id.get()))
        .collect();
    assert_eq!(
        listed,
        [
            ("attempt:1.1", 1),
            ("attempt:2.1", 2),
            ("attempt:2.2", 2),
            ("attempt:3.1", 3),
            ("attempt:3.2", 3),
            ("attempt:3.3", 3)
        ]
    );
}

// covers: ATT-005
#[test]
fn attempt_record_has_every_field() {
    struct Noon;
    impl Clock for Noon {
        fn now_ns(&self) -> i64 {
            43_200_000_000_000
        }
    }
    let clock: Option<Arc<dyn Clock>> = Some(Arc::new(Noon));
    let mut context = Context::with_options(ContextOptions { clock, ..ContextOptions::default() });
    let id = context.start_attempt(start(b"input")).attempt_id.clone();
    let running = context.attempts()[0].clone();
    let expected = Attempt {
        attempt_id: "attempt:1.1".into(),
        cycle_id: Cycle(1),
        status: AttemptStatus::Running,
        started_at: 43_200_000_000_000,
        ended_at: None,
        provider: "acme".into(),
        model: "m-1".into(),
        params: Hash::of(br#"{"temperature":0}"#),
        token_in: None,
        token_out: None,
        input: Some(Hash::of(b"input")),
        serves: None,
        source: None,
        request: None,
        response: None,
        partial: None,
        answer: None,
    };
    assert_eq!(running, expected);
    let error = AttemptStatus::Error("overloaded".into());
    let ended = context.end_attempt(&id, error.clone(), Some((7, 0))).unwrap();
    let expected = Attempt {
        status: error,
        ended_at: Some(43_200_000_000_000),
        token_in: Some(7),
        token_out: Some(0),
        ..expected
    };
    assert_eq!(*ended, expected);
}
