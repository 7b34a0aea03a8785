//! Calls in stores: every step is durable, and what was sent can be completed or canceled by any process.

use contextree::engine::{CallError, CallStart, PreparedNode, Preview};
use contextree::json::Value;
use contextree::{
    AttemptStatus, CallOutcome, CommitOptions, Context, Edit, Hash, Limit, MeasureName, NewNode,
    Op, Place, Policy, Snapshot, SnapshotAddress,
};
use contextree_provider::{Provider, RenderOptions, render};
use contextree_store::{
    Backend, ContextSettings, Memory, Retention, Session, SideChange, Step, StepError, Store,
    StoreError, StoreOptions,
};
use contextree_testkit::Rng;
use contextree_testkit::suite::faulty::{Faulty, When};

use crate::support::{Home, block, on_every_store, open, turns, utf8};

/// The bytes that are sent for a snapshot, or `None` if there is nothing to send.
fn request_of(snapshot: &Snapshot) -> Option<Vec<u8>> {
    let mut options = RenderOptions::default();
    options.settings.insert("model", Value::from("m-1"));
    render(snapshot.view(), Provider::OpenAiChat, &options).ok().map(|rendered| rendered.bytes)
}

fn start(input: &[u8]) -> CallStart {
    CallStart {
        provider: "openai".into(),
        model: "m-1".into(),
        params: Hash::of(b"{}"),
        input: Some(Hash::of(input)),
        serves: None,
        options: r#"{"model":"m-1"}"#.into(),
    }
}

fn request(preview: &Preview) -> Result<(CallStart, Vec<u8>), StepError> {
    let input = request_of(&preview.snapshot).unwrap_or_default();
    Ok((start(&input), input))
}

fn begin(session: &mut Session) -> (String, Vec<u8>) {
    let input = session.begin(&CommitOptions::default(), request).unwrap();
    (running(session).unwrap(), input)
}

fn running(session: &mut Session) -> Option<String> {
    session.running().unwrap().map(|call| call.attempt.attempt_id)
}

/// Looks at the context that the session writes to.
fn look<T>(session: &mut Session, look: impl FnOnce(&Context) -> T) -> T {
    session.write(|context| Ok::<_, StoreError>(look(context))).unwrap()
}

fn answer(id: &str) -> Vec<PreparedNode> {
    vec![block(id).role("assistant").into()]
}

fn add(session: &mut Session, place: Place, node: NewNode) {
    session
        .write(|context| {
            context.add(place, node).unwrap();
            Ok::<_, StoreError>(())
        })
        .unwrap();
}

/// A stored context with two turns and a question, which is long.
fn asked(store: &Store) -> Session {
    let mut session = store.adopt("main", turns(2), &ContextSettings::default()).unwrap();
    let long = format!("question {}", "that is long enough to be stored apart. ".repeat(60));
    add(&mut session, Place::head(), NewNode::text(&*long).id("q").role("user"));
    session
}

fn sound(store: &Store) {
    let check = store.verify(&mut |_, _| {}).unwrap();
    assert!(check.is_clean(), "{check:?}");
}

#[test]
fn a_call_is_running_after_reopening_and_can_be_completed() {
    on_every_store(|store| {
        let (attempt, input) = begin(&mut asked(store));
        sound(store);
        let mut session = store.session("main").unwrap();
        let call = session.running().unwrap().unwrap();
        assert_eq!(
            (call.attempt.attempt_id.as_str(), call.report.cycle.get()),
            (attempt.as_str(), 3)
        );
        assert_eq!(request_of(&call.snapshot), Some(input.clone()));
        add(&mut session, Place::head(), block("late").role("user"));
        drop(session);
        sound(store);
        let mut session = store.session("main").unwrap();
        let report = session.complete(&attempt, answer("a"), CallOutcome::default()).unwrap();
        let snapshot = session.snapshot(SnapshotAddress::Back(0)).unwrap();
        assert_eq!((snapshot.cycle().get(), snapshot.digest()), (3, report.digest));
        assert_eq!(request_of(&snapshot), Some(input));
        drop(session);
        sound(store);
        let mut session = store.session("main").unwrap();
        assert_eq!(running(&mut session), None);
        let context = session.to_context().unwrap();
        let core = context.working().get("cont:4").unwrap();
        assert_eq!(core.children().map(|node| node.id()).collect::<Vec<_>>(), ["a", "late"]);
        assert!(store.backend().side_records(session.row().id, None).unwrap().is_empty());
    });
}

#[test]
fn a_call_can_be_canceled_by_another_process_and_late_additions_stay() {
    on_every_store(|store| {
        let mut session = asked(store);
        let before = look(&mut session, Context::export_working);
        let (first, _) = begin(&mut session);
        session.attach_partial(&first, "It rai").unwrap();
        drop(session);
        let mut session = store.session("main").unwrap();
        session.cancel(&first).unwrap();
        drop(session);
        let mut session = store.session("main").unwrap();
        let context = session.to_context().unwrap();
        assert_eq!(utf8(&context.export_working()), utf8(&before));
        assert_eq!(context.attempts()[0].status, AttemptStatus::Canceled);
        assert_eq!(context.attempts()[0].partial.as_deref(), Some("It rai"));
        let (second, _) = begin(&mut session);
        add(&mut session, Place::head(), block("late").role("user"));
        let forked = look(&mut session, |context| context.fork_working().export_working());
        session.fail(&second, "overloaded").unwrap();
        drop(session);
        sound(store);
        let mut session = store.session("main").unwrap();
        let context = session.to_context().unwrap();
        assert_eq!(utf8(&context.export_working()), utf8(&forked));
        assert_eq!(context.attempts()[1].status, AttemptStatus::Error("overloaded".into()));
        assert!(context.working().get("late").is_some() && context.newest().unwrap().cycle() == 2);
        assert_eq!(
            session.complete(&second, answer("a"), CallOutcome::default()).unwrap_err().code(),
            "E_ATTEMPT_ENDED"
        );
    });
}

#[test]
fn of_two_that_complete_a_call_one_succeeds() {
    for home in [None, Some(Home::file()), Some(Home::server())] {
        let first = home.as_ref().map_or_else(|| open("memory:"), Home::open);
        let second = home.as_ref().map_or_else(|| first.clone(), Home::open);
        let mut session = asked(&first);
        for round in 0..5 {
            let (attempt, _) = begin(&mut session);
            let race = |store: &Store, name: &str| {
                let mut session = store.session("main").unwrap();
                session.complete(
                    &attempt,
                    answer(&format!("{name}{round}")),
                    CallOutcome::default(),
                )
            };
            let results: Vec<Result<_, StepError>> = std::thread::scope(|scope| {
                let one = scope.spawn(|| race(&first, "one"));
                let two = scope.spawn(|| race(&second, "two"));
                vec![one.join().unwrap(), two.join().unwrap()]
            });
            let lost: Vec<&StepError> =
                results.iter().filter_map(|result| result.as_ref().err()).collect();
            assert_eq!(
                lost.iter().map(|error| error.code()).collect::<Vec<_>>(),
                ["E_ATTEMPT_ENDED"]
            );
            session.refresh().unwrap();
            let context = session.to_context().unwrap();
            let ids = |name: &str| context.working().get(&format!("{name}{round}")).is_some();
            assert!(ids("one") != ids("two"), "one answer is there, and only one");
        }
        sound(&first);
    }
}

#[test]
fn a_step_upon_an_old_state_is_a_conflict() {
    on_every_store(|store| {
        let (attempt, _) = begin(&mut asked(store));
        let (mut one, mut two) = (store.session("main").unwrap(), store.session("main").unwrap());
        one.cancel(&attempt).unwrap();
        let stale = two.write(|context| -> Result<_, StepError> {
            Ok(context.complete_call(&attempt, answer("a"), CallOutcome::default())?)
        });
        assert_eq!(stale.unwrap_err().code(), "E_CONFLICT");
    });
}

#[test]
fn retention_and_forks_leave_a_running_call_alone() {
    on_every_store(|store| {
        let mut session = asked(store);
        let (attempt, input) = begin(&mut session);
        let long = "another document that is stored apart. ".repeat(60);
        add(&mut session, Place::head(), NewNode::text(&*long).id("late").role("user"));
        drop(session);
        let retention = Retention { keep_newest: Some(1), ..Retention::default() };
        assert_eq!(store.retain("main", &retention, false).unwrap().dropped, 1);
        store.backend().reclaim().unwrap();
        sound(store);
        let mut fork = store.fork("main", None, "working").unwrap();
        assert_eq!(running(&mut fork), None);
        assert!(fork.working().unwrap().view().get("late").is_some());
        let fork = store.fork("main", Some(SnapshotAddress::Back(0)), "sealed").unwrap();
        assert!(fork.working().unwrap().view().get("q").is_none());
        let mut session = store.session("main").unwrap();
        session.complete(&attempt, answer("a"), CallOutcome::default()).unwrap();
        assert_eq!(request_of(&session.snapshot(SnapshotAddress::Back(0)).unwrap()), Some(input));
        sound(store);
        drop((session, fork));
        for name in ["main", "working", "sealed"] {
            store.delete(name).unwrap();
        }
        sound(store);
    });
}

#[test]
fn a_context_with_a_running_call_can_be_stored() {
    on_every_store(|store| {
        // The call may be the first of its context.
        for (name, commits) in [("first", 0), ("main", 1)] {
            let mut context = turns(commits);
            context.add(Place::head(), block("q").role("user")).unwrap();
            context.begin_call(&CommitOptions::default(), request).unwrap();
            context.add(Place::head(), block("late")).unwrap();
            let (working, canceled) = (context.export_working(), context.fork_working());
            let mut session = store.adopt(name, context, &ContextSettings::default()).unwrap();
            assert_eq!(look(&mut session, Context::export_working), working, "{name}");
            sound(store);
            let attempt = running(&mut session).unwrap();
            session.cancel(&attempt).unwrap();
            drop(session);
            let mut session = store.session(name).unwrap();
            assert_eq!(look(&mut session, Context::export_working), canceled.export_working());
        }
    });
}

#[test]
fn damage_of_a_running_call_is_found() {
    on_every_store(|store| {
        let mut session = asked(store);
        let (attempt, _) = begin(&mut session);
        let (row, backend) = (session.row().clone(), store.backend());
        drop(session);
        let value = backend.side_record(row.id, "call", &attempt).unwrap().unwrap();
        let mut revision = row.revision;
        let mut put = |key: &str, value: Option<Vec<u8>>| {
            let change = SideChange { kind: "call".into(), key: key.into(), value };
            let step = Step { side: vec![change], ..Step::default() };
            revision = backend.append(row.id, revision, &step).unwrap().revision;
            let check = store.verify_context("main", &mut |_, _| {}).unwrap();
            (check.problem.is_some(), store.session("main").err().map(|error| error.code()))
        };
        let broken = (true, Some("E_STORE_CORRUPT"));
        for at in [0, 4, 5, 20, value.len() - 1] {
            let mut damaged = value.clone();
            damaged[at] ^= 0x55;
            assert_eq!(put(&attempt, Some(damaged)), broken, "byte {at}");
        }
        assert_eq!(put(&attempt, None), broken);
        assert_eq!(put(&attempt, Some(value.clone())), (false, None));
        assert_eq!(put("attempt:9.9", Some(value)), broken, "a call too many");
    });
}

/// What one step of a random session does: a function of its number, so that it can be done twice. Refusals are part of it.
fn act(context: &mut Context, seed: u64) {
    let mut random = Rng::new(seed);
    for part in 0..1 + random.below(3) {
        let name = format!("n{seed}.{part}");
        let running = context.running_call().map(|call| call.attempt.attempt_id.clone());
        let ids: Vec<String> =
            context.working().nodes().map(|(_, node)| node.id().to_owned()).collect();
        let node = ids[random.below(ids.len() as u64) as usize].clone();
        match random.below(16) {
            0..=5 => drop(add_something(context, &mut random, &name, node)),
            6 => {
                let edit = Edit { content: Some(name.as_str().into()), ..Edit::default() };
                drop(context.edit(&node, edit));
            }
            7 => drop(context.apply(Op::Remove { node })),
            8 => drop(context.apply(Op::Pin { node })),
            9 => drop(context.apply(Op::Move { node, place: Place::head() })),
            10 if random.below(3) == 0 => drop(context.commit()),
            _ => match running {
                None => begin_something(context, &mut random),
                Some(attempt) => end_something(context, &mut random, &attempt, &name),
            },
        }
    }
}

fn add_something(
    context: &mut Context,
    random: &mut Rng,
    name: &str,
    node: String,
) -> Result<String, contextree::OpError> {
    let text = format!("{name} {}", "says something ".repeat(random.below(60) as usize));
    let mut new = NewNode::text(&*text).role(["user", "tool"][random.below(2) as usize]);
    if random.below(2) == 0 {
        new = new.id(name);
    }
    if random.below(3) == 0 {
        new = new.ttl(random.below(3) as i64);
    }
    let place = match random.below(6) {
        0..=2 => Place::head(),
        3 => Place::at("^ah", random.below(5) as i64 - 2),
        4 => Place::system(),
        _ => Place::at(node, random.below(3) as i64),
    };
    context.add(place, new)
}

fn begin_something(context: &mut Context, random: &mut Rng) {
    let limits = vec![Limit::Total { measure: MeasureName::Nodes, max: 6 + random.below(20) }];
    let policy = Policy { limits, ..Policy::default() };
    let policy = Some(&policy).filter(|_| random.below(2) == 0);
    let options = CommitOptions { policy, ..CommitOptions::default() };
    drop(context.begin_call(&options, |preview| match request_of(&preview.snapshot) {
        Some(input) => Ok((start(&input), ())),
        None => Err(CallError::PartialTooLong { bytes: 0 }),
    }));
}

fn end_something(context: &mut Context, random: &mut Rng, attempt: &str, name: &str) {
    match random.below(6) {
        0 => drop(context.cancel_call(attempt).map(drop)),
        1 => drop(context.fail_call(attempt, name).map(drop)),
        2 => drop(context.attach_partial(attempt, name).map(drop)),
        _ => {
            let mut answer: Vec<PreparedNode> = vec![block(name).role("assistant").into()];
            if random.below(4) == 0 {
                answer.push(NewNode::text("and more").role("assistant").kind("call").into());
            }
            let outcome =
                CallOutcome { token_in: Some(random.below(99)), ..CallOutcome::default() };
            drop(context.complete_call(attempt, answer, outcome));
        }
    }
}

#[test]
fn a_long_session_keeps_few_snapshots_in_memory() {
    let store = Store::over(std::sync::Arc::new(Memory::new()), StoreOptions::deterministic());
    let mut session = store.create("main", &ContextSettings::default()).unwrap();
    let mut expected = Context::new();
    let long = "a result that is long enough to be stored apart. ".repeat(20);
    for call in 0..700 {
        let result = || NewNode::text(format!("{call} {long}")).role("tool").ttl(2);
        let done = |context: &mut Context| -> Result<(), StepError> {
            context.add(Place::head(), result()).unwrap();
            context.begin_call(&CommitOptions::default(), request)?;
            let attempt = context.running_call().unwrap().attempt.attempt_id.clone();
            context.add(Place::at("^ah", 1), block(&format!("late{call}")).ttl(1)).unwrap();
            context.complete_call(&attempt, answer(&format!("a{call}")), CallOutcome::default())?;
            Ok(())
        };
        session.write(done).unwrap();
        done(&mut expected).unwrap();
        assert_eq!(session.history_digest().unwrap(), expected.history_digest());
        if call % 50 == 0 {
            assert_eq!(look(&mut session, sight), sight(&expected));
        }
    }
    assert_eq!(look(&mut session, sight), sight(&expected));
    let (loaded, skipped) =
        look(&mut session, |context| (context.history().len(), context.skipped()));
    assert!(loaded < 500 && skipped > 200, "{loaded} of {skipped} more are in memory");
    sound(&store);
}

/// Everything that can be seen of a context, and what it would be if a running call were canceled.
fn sight(context: &Context) -> (String, Hash, String, String) {
    let running = context.running_call().map(|call| (call.snapshot.digest(), call.report.clone()));
    let canceled = context.fork_working();
    (
        utf8(&context.export_working()).to_owned(),
        context.history_digest(),
        format!("{:?} {running:?}", context.attempts()),
        utf8(&canceled.export_working()).to_owned(),
    )
}

/// Runs a random session in a store and in memory. If it crashes, every step is followed by a new session that reads everything from rows, and
/// some steps fail before they are stored.
fn check_session(store: &Store, name: &str, seed: u64, steps: u64, crashes: bool) -> usize {
    let mut expected = Context::new();
    let mut session = store.create(name, &ContextSettings::default()).unwrap();
    for step in 0..steps {
        let number = seed * 10_000 + step;
        if crashes && step % 5 == 3 {
            // The process dies after it did something and before that was stored.
            let died: Result<(), StoreError> = session.write(|context| {
                act(context, number + 7_777);
                Err(StoreError::Busy { message: "killed".into() })
            });
            assert!(died.is_err());
        }
        act(&mut expected, number);
        session
            .write(|context| {
                act(context, number);
                Ok::<_, StoreError>(())
            })
            .unwrap();
        assert_eq!(look(&mut session, sight), sight(&expected), "seed {seed}, step {step}");
        if crashes {
            drop(session);
            session = store.session(name).unwrap();
            let found = look(&mut session, sight);
            assert_eq!(found, sight(&expected), "seed {seed}, step {step}, reopened");
        }
    }
    let attempts = session.attempts().unwrap().to_vec();
    let mut completed = 0;
    for attempt in attempts.iter().filter(|one| one.status == AttemptStatus::Completed) {
        let address = SnapshotAddress::Cycle(u64::from(attempt.cycle_id));
        let snapshot = session.snapshot(address).unwrap();
        assert_eq!(attempt.request.as_ref().unwrap().snapshot, snapshot.digest());
        assert_eq!(request_of(&snapshot).map(|input| Hash::of(&input)), attempt.input);
        completed += 1;
    }
    completed
}

fn check_sessions(store: &Store, seeds: u64, steps: u64) {
    let mut completed = 0;
    for seed in 0..seeds {
        let name = format!("session {seed}");
        completed += check_session(store, &name, seed, steps, seed % 2 == 0);
    }
    assert!(completed as u64 > seeds * 2, "calls are completed: {completed}");
    sound(store);
}

#[test]
fn random_sessions_in_memory_send_what_they_seal() {
    check_sessions(&open("memory:"), 60, 60);
}

#[test]
fn random_sessions_in_a_file_send_what_they_seal() {
    check_sessions(&Home::file().open(), 12, 50);
}

#[test]
fn random_sessions_on_a_server_send_what_they_seal() {
    check_sessions(&Home::server().open(), 6, 40);
}

#[test]
fn contexts_that_stay_open_in_the_pool_keep_their_running_calls() {
    let store = Store::over(std::sync::Arc::new(Memory::new()), StoreOptions::deterministic());
    let names: Vec<String> = (0..100).map(|number| format!("context {number}")).collect();
    for name in &names {
        let mut session = store.adopt(name, turns(1), &ContextSettings::default()).unwrap();
        add(&mut session, Place::head(), block("q").role("user"));
        begin(&mut session);
    }
    for name in &names {
        let mut session = store.session(name).unwrap();
        let attempt = running(&mut session).unwrap();
        session.complete(&attempt, answer("a"), CallOutcome::default()).unwrap();
    }
    sound(&store);
}

#[test]
fn a_lost_answer_of_the_store_completes_a_call_once() {
    let faulty = std::sync::Arc::new(Faulty::new(Memory::new()));
    let backend: std::sync::Arc<dyn Backend> = faulty.clone();
    let store =
        Store::over(backend, StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() });
    let mut session = asked(&store);
    let lost = || StoreError::Unavailable { message: "gone".into(), unknown: true };
    faulty.fail_once(1, When::After, lost());
    let (attempt, _) = begin(&mut session);
    faulty.fail_once(1, When::After, lost());
    session.complete(&attempt, answer("a"), CallOutcome::default()).unwrap();
    faulty.fail_once(1, When::Before, StoreError::Full { message: "full".into() });
    let error = session.begin(&CommitOptions::default(), request).unwrap_err();
    assert_eq!(error.code(), "E_STORE_FULL");
    assert_eq!(running(&mut session), None);
    let context = session.to_context().unwrap();
    assert_eq!((context.history().len() + context.skipped(), context.attempts().len()), (3, 1));
    sound(&store);
}

#[test]
fn settings_that_changed_while_a_call_ran_are_undone_with_it() {
    on_every_store(|store| {
        let mut session = asked(store);
        session.set_command("test");
        let before = session.settings().clone();
        let limited = |blocks| ContextSettings {
            policy: Some(Policy { limits: vec![Limit::Remove(blocks)], ..Policy::default() }),
            ..before.clone()
        };
        session.set_settings(limited(1)).unwrap();
        let (attempt, _) = begin(&mut session);
        session.set_settings(limited(2)).unwrap();
        session.set_settings(limited(3)).unwrap();
        session.cancel(&attempt).unwrap();
        session.undo().unwrap();
        assert_eq!(session.settings(), &limited(1), "those with which the call began");
        session.redo().unwrap();
        assert_eq!(session.settings(), &limited(3));
        session.undo().unwrap();
        session.undo().unwrap();
        assert_eq!(session.settings(), &before);
        assert_eq!(store.session("main").unwrap().settings(), &before);
    });
}
