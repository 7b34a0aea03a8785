//! Tests random sessions: the same bytes twice and in every build, through previews, forks, exports
//! and renderers.

use std::path::Path;
use std::sync::Arc;

use contextree::canon::thread::ThreadRenderer;
use contextree::{
    CommitError, CommitOptions, Context, ContextOptions, Place, Profile, SnapshotAddress,
};
use contextree_testkit::Rng;
use contextree_testkit::drive::{Did, Driver};

use crate::support::{
    block, commit, head, policy_of, random_context, run_session, steps_of, turns, utf8,
};

/// Seeds whose digests are recorded. Do not change them.
const SEEDS: std::ops::Range<u64> = 1_000..1_064;

/// Returns one line per seed: the seed, the digest of the history, and the number of snapshots.
fn digests() -> String {
    SEEDS
        .map(|seed| {
            let context = random_context(seed);
            format!("{seed} {} {}\n", context.history_digest(), context.history().len())
        })
        .collect()
}

// covers: SEA-004, LIF-023, DBG-005
#[test]
fn same_session_twice_gives_the_same_digests() {
    assert_eq!(digests(), digests());
}

/// Debug and release builds, and all machines, are compared with the same file. After an
/// intentional change of the format or of the generator, the failure message names the new digests.
// covers: SNP-003, REF-002, DBG-005
#[test]
fn digests_equal_the_recorded_ones() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/session-digests.txt");
    let expected = std::fs::read_to_string(&fixture).unwrap_or_default();
    let got = digests();
    if got != expected {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("session-digests.txt");
        std::fs::write(&new, &got).unwrap();
        let differ = got.lines().zip(expected.lines()).filter(|(got, old)| got != old).count();
        panic!("{differ} digests or more differ; the new ones are in {}", new.display());
    }
}

fn options_of(policy: Option<&contextree::Policy>) -> CommitOptions<'_> {
    CommitOptions { policy, ..CommitOptions::default() }
}

#[test]
fn preview_equals_the_commit() {
    for seed in 0..150 {
        let (mut plain, mut previewed) = (Driver::new(), Driver::new());
        for step in steps_of(seed) {
            let did = plain.step(&step);
            let Some(policy) = policy_of(&step) else {
                assert_eq!(previewed.step(&step), did);
                continue;
            };
            let options = options_of(policy.as_ref());
            let before = (previewed.context.export_working(), previewed.context.history_digest());
            let preview = previewed.context.preview(&options).unwrap();
            let again = previewed.context.preview(&options).unwrap();
            assert_eq!(preview.report, again.report);
            let after = (previewed.context.export_working(), previewed.context.history_digest());
            assert_eq!(after, before, "a preview changes nothing");
            let Ok(Did::Committed(report)) = did else { panic!("seed {seed}: {did:?}") };
            assert_eq!(preview.report, *report, "seed {seed}");
            let real = head(&plain.context);
            assert_eq!(utf8(&preview.snapshot.export()), utf8(&real.export()), "seed {seed}");
            assert_eq!(preview.snapshot.thread(), real.thread());
            assert_eq!(preview.snapshot.digest(), real.digest());
            assert_eq!(preview.snapshot.history_digest(), real.history_digest());
            let accepted = previewed.context.accept(&preview, &options).unwrap();
            assert_eq!(accepted, *report);
            assert_eq!(head(&previewed.context).export(), real.export());
        }
        assert_eq!(plain.context.history_digest(), previewed.context.history_digest());
    }
}

#[test]
fn preview_of_another_state_is_not_accepted() {
    let options = CommitOptions::default();
    type Change = fn(&mut Context);
    let changes: [Change; 4] = [
        |context| drop(context.add(Place::head(), block("x")).unwrap()),
        |context| drop(commit(context)),
        |context| context.remove("p1").unwrap(),
        |context| drop(context.batch(vec![]).unwrap()),
    ];
    for change in changes {
        let mut context = turns(1);
        let preview = context.preview(&options).unwrap();
        change(&mut context);
        let before = (context.export_working(), context.history_digest());
        let error = context.accept(&preview, &options).unwrap_err();
        assert_eq!((&error, error.code()), (&CommitError::StalePreview, "E_CONFLICT"));
        assert_eq!((context.export_working(), context.history_digest()), before);
    }
    // A refused operation changes nothing, so the preview stays valid.
    let mut context = turns(1);
    let preview = context.preview(&options).unwrap();
    context.remove("u1").unwrap_err();
    context.accept(&preview, &options).unwrap();
}

#[test]
fn preview_has_the_stamps_of_the_commit_although_the_clock_runs() {
    struct Running(std::sync::atomic::AtomicI64);
    impl contextree::Clock for Running {
        fn now_ns(&self) -> i64 {
            self.0.fetch_add(1_000, std::sync::atomic::Ordering::Relaxed)
        }
    }
    let clock: Option<Arc<dyn contextree::Clock>> = Some(Arc::new(Running(0.into())));
    let mut context = Context::with_options(ContextOptions { clock, ..ContextOptions::default() });
    context.add(Place::head(), block("x")).unwrap();
    let options = CommitOptions::default();
    let preview = context.preview(&options).unwrap();
    context.accept(&preview, &options).unwrap();
    assert_eq!(head(&context).export(), preview.snapshot.export());
}

#[test]
fn history_round_trips_through_export() {
    for seed in 0..100 {
        let context = random_context(seed);
        let lines = context.export_history();
        assert!(lines.ends_with(b"\n"));
        assert_eq!(utf8(&lines).lines().count(), context.history().len());
        for profile in [Profile::Strict, Profile::Lenient] {
            let again =
                Context::import_history(&lines, profile, ContextOptions::default()).unwrap();
            assert_eq!(again.history_digest(), context.history_digest(), "seed {seed}");
            assert_eq!(again.export_history(), lines);
            for (left, right) in again.history().iter().zip(context.history().iter()) {
                assert_eq!(utf8(&left.export()), utf8(&right.export()), "seed {seed}");
                assert_eq!(left.thread(), right.thread());
                assert_eq!((left.digest(), left.cycle()), (right.digest(), right.cycle()));
            }
        }
        // Whole snapshots as lines are a history too.
        let whole: Vec<u8> = context
            .history()
            .iter()
            .flat_map(|snapshot| [snapshot.export(), b"\n".to_vec()].concat())
            .collect();
        let again =
            Context::import_history(&whole, Profile::Strict, ContextOptions::default()).unwrap();
        assert_eq!(again.history_digest(), context.history_digest(), "seed {seed}");
    }
}

/// Adds the same three turns to any context.
fn go_on(context: &mut Context) {
    for number in 0..3 {
        context.add(Place::head(), block(&format!("later {number}")).ttl(1)).unwrap();
        context.add(Place::at("^ah", 1), contextree::NewNode::text("made id")).unwrap();
        commit(context);
    }
}

#[test]
fn imported_history_continues_exactly_like_the_original() {
    for seed in 0..40 {
        let mut context = random_context(seed);
        // Handles are not part of a history.
        let mut original = context.fork(SnapshotAddress::Back(0)).unwrap();
        let lines = context.export_history();
        let mut imported =
            Context::import_history(&lines, Profile::Strict, ContextOptions::default()).unwrap();
        go_on(&mut original);
        go_on(&mut imported);
        assert_eq!(utf8(&head(&imported).export()), utf8(&head(&original).export()), "seed {seed}");
        assert_eq!(imported.history_digest(), original.history_digest());
        let alone = head(&context).export();
        let mut alone =
            Context::import_snapshot(&alone, Profile::Strict, ContextOptions::default()).unwrap();
        go_on(&mut alone);
        assert_eq!(head(&alone).digest(), head(&original).digest(), "seed {seed}: one snapshot");
        go_on(&mut context);
    }
}

#[test]
fn working_state_round_trips_through_export() {
    for seed in 0..60 {
        let context = random_context(seed);
        let text = context.export_working();
        let next = context.next_cycle();
        let again =
            Context::import_working(&text, Profile::Strict, next, ContextOptions::default())
                .unwrap();
        assert_eq!(utf8(&again.export_working()), utf8(&text), "seed {seed}");
        assert_eq!(again.next_cycle(), next);
    }
}

#[test]
fn fork_starts_with_its_snapshot_and_is_independent() {
    for seed in 0..40 {
        let mut context = random_context(seed);
        let exports: Vec<Vec<u8>> = context.history().iter().map(|s| s.export()).collect();
        let count = exports.len();
        for (index, export) in exports.iter().enumerate() {
            let back = (count - 1 - index) as u64;
            let mut fork = context.fork(SnapshotAddress::Back(back)).unwrap();
            assert_eq!(fork.history().len(), index + 1);
            assert_eq!(&head(&fork).export(), export);
            let origin = context.snapshot(SnapshotAddress::Back(back)).unwrap();
            assert_eq!(fork.history_digest(), origin.history_digest());
            assert_eq!(fork.export_working(), export_as_working(origin));
            let working = context.export_working();
            go_on(&mut fork);
            assert_eq!(context.export_working(), working, "seed {seed}: the fork is its own");
            // The imported export of the same snapshot is the same starting point.
            let mut imported =
                Context::import_snapshot(export, Profile::Strict, ContextOptions::default())
                    .unwrap();
            go_on(&mut imported);
            assert_eq!(head(&fork).digest(), head(&imported).digest(), "seed {seed}, {index}");
            // A fork of the fork, before and after its own fork point.
            for address in [SnapshotAddress::Back(0), SnapshotAddress::Back(3)] {
                let mut second = fork.fork(address).unwrap();
                let digest = fork.history_digest();
                second.add(Place::system(), block("only here")).unwrap();
                commit(&mut second);
                assert!(head(&second).view().get("only here").is_some());
                assert!(head(&fork).view().get("only here").is_none());
                assert_eq!(fork.history_digest(), digest);
            }
        }
        go_on(&mut context);
        for (snapshot, export) in context.history().iter().zip(&exports) {
            assert_eq!(&snapshot.export(), export, "seed {seed}: the past is as it was");
        }
    }
}

/// Exports a snapshot as the working state directly after it: the same nodes, the next number.
fn export_as_working(snapshot: &contextree::Snapshot) -> Vec<u8> {
    let export = String::from_utf8(snapshot.export()).unwrap();
    let (before, after) = (
        format!(r#"{{"cycle":{},"#, snapshot.cycle()),
        format!(r#"{{"cycle":{},"#, snapshot.cycle().next()),
    );
    export.replacen(&before, &after, 1).into_bytes()
}

#[test]
fn fork_of_the_working_state_has_uncommitted_changes() {
    let mut context = turns(2);
    context.add(Place::head(), block("draft")).unwrap();
    let mut fork = context.fork_working();
    assert_eq!(fork.export_working(), context.export_working());
    fork.remove("draft").unwrap();
    assert!(context.working().get("draft").is_some());
    let mut second = context.fork_working();
    assert_eq!(commit(&mut second), commit(&mut context));
    assert_eq!(second.history_digest(), context.history_digest());
    commit(&mut fork);
    assert_ne!(fork.history_digest(), context.history_digest());
    let error = context.fork(SnapshotAddress::Cycle(77)).unwrap_err();
    assert_eq!(error.code(), "E_SNAPSHOT_NOT_FOUND");
}

// covers: THR-001, THR-012, REF-012
#[test]
fn incremental_thread_equals_the_full_thread() {
    for seed in 0..120 {
        let mut renderer = ThreadRenderer::new();
        let driver = run_session(seed, |driver, did| {
            if matches!(did, Some(Did::Committed(_))) {
                let snapshot = head(&driver.context);
                let rendered = renderer.render(snapshot.tree()).to_vec();
                assert_eq!(utf8(&rendered), utf8(&snapshot.thread()), "seed {seed}");
            }
        });
        // Back and forth in time, and to forks and back.
        let context = driver.context;
        let mut forks = vec![context.fork(SnapshotAddress::Back(0)).unwrap()];
        let oldest = context.history().len() as u64 - 1;
        forks.push(context.fork(SnapshotAddress::Back(oldest / 2)).unwrap());
        forks.iter_mut().for_each(go_on);
        let mut snapshots: Vec<_> = context.history().iter().collect();
        snapshots.extend(forks.iter().flat_map(|fork| fork.history().iter()));
        let mut rng = Rng::new(seed);
        for _ in 0..40 {
            let index = usize::try_from(rng.below(snapshots.len() as u64)).unwrap();
            let snapshot = snapshots[index];
            let rendered = renderer.render(snapshot.tree()).to_vec();
            assert_eq!(utf8(&rendered), utf8(&snapshot.thread()), "seed {seed}, at {index}");
        }
    }
}

#[test]
fn only_the_previewed_commit_is_accepted() {
    let options = CommitOptions::default();
    // A handle was taken since.
    let mut context = turns(1);
    context.add(Place::head(), block("due").ttl(0)).unwrap();
    let preview = context.preview(&options).unwrap();
    let handle = context.retain("due").unwrap();
    match context.accept(&preview, &options) {
        Ok(report) => assert_eq!(report, preview.report),
        Err(error) => assert_eq!(error.code(), "E_CONFLICT"),
    }
    drop(handle);
    // Other options than those of the preview.
    let mut context = turns(1);
    let preview = context.preview(&options).unwrap();
    let policy = contextree::Policy {
        protect_turns: 0,
        limits: vec![contextree::Limit::Remove(1)],
        ..contextree::Policy::default()
    };
    match context.accept(&preview, &options_of(Some(&policy))) {
        Ok(report) => assert_eq!(report, preview.report),
        Err(error) => assert_eq!(error.code(), "E_CONFLICT"),
    }
    // A preview of another context.
    let (first, mut second) = (turns(1).fork_working(), turns(2).fork_working());
    let preview = first.preview(&options).unwrap();
    match second.accept(&preview, &options) {
        Ok(report) => assert_eq!(report, preview.report),
        Err(error) => assert_eq!(error.code(), "E_CONFLICT"),
    }
}
