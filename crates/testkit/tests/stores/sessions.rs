//! Tests random sessions through a store: what is read equals what was done, in any process, at any
//! time.

use contextree_store::{ContextSettings, Cycle, Session, StoreError, StoreOptions};
use contextree_testkit::Rng;
use contextree_testkit::drive::{Did, Driver};
use contextree_testkit::script::{Refusal, Step};

use contextree_testkit::generate;
use contextree_testkit::model::Model;

use crate::support::{Home, block, on_every_store, turns, utf8};

/// The error of a step in a store: the driver's, or the store's.
enum Failure {
    Refused(Refusal),
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}

/// Runs a step on a stored context, as the driver does on one in memory.
fn step(session: &mut Session, step: &Step) -> Result<Did, Refusal> {
    let result = session.write(|context| {
        let mut driver = Driver::new();
        std::mem::swap(&mut driver.context, context);
        let did = driver.step(step);
        std::mem::swap(&mut driver.context, context);
        did.map_err(Failure::Refused)
    });
    match result {
        Ok(did) => Ok(did),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Store(error)) => panic!("{error}"),
    }
}

/// Returns steps without handles, which belong to a process and are not stored.
fn storable(seed: u64) -> Vec<Step> {
    let is_handle = |step: &Step| matches!(step, Step::Retain { .. } | Step::Release { .. });
    let (mut session, mut model) = (generate::Session::new(seed), Model::new());
    let mut steps = Vec::new();
    while let Some(step) = session.next_step(&model) {
        let _ = model.apply(&step);
        if !is_handle(&step) {
            steps.push(step);
        }
    }
    steps
}

#[test]
fn stored_session_equals_the_session_in_memory_however_often_it_is_opened() {
    on_every_store(|store| {
        for seed in 0..40 {
            let mut random = Rng::new(seed);
            let mut plain = Driver::new();
            let name = format!("session {seed}");
            let mut session = store.create(&name, &ContextSettings::default()).unwrap();
            for one in storable(seed) {
                let expected = plain.step(&one);
                assert_eq!(step(&mut session, &one), expected, "seed {seed}, {one:?}");
                if random.below(3) == 0 {
                    session = store.session(&name).unwrap();
                }
                if random.below(9) == 0 {
                    session.checkpoint().unwrap();
                }
                if random.below(5) == 0 {
                    session.shrink();
                }
                let working = session.working().unwrap().export();
                assert_eq!(utf8(&working), utf8(&plain.context.export_working()));
                assert_eq!(session.history_digest().unwrap(), plain.context.history_digest());
            }
            let context = session.to_context().unwrap();
            assert_eq!(utf8(&context.export_history()), utf8(&plain.context.export_history()));
            let mut cycles = Vec::new();
            session
                .reports(Cycle::ZERO, Cycle::MAX, &mut |cycle, _, report| {
                    cycles.push(cycle);
                    assert_eq!(report.map(|report| report.cycle), Some(cycle));
                    Ok(())
                })
                .unwrap();
            assert_eq!(cycles.len(), plain.context.history().len());
            let check = store.verify_context(&name, &mut |_, _| {}).unwrap();
            assert_eq!(check.problem, None, "seed {seed}");
        }
    });
}

/// Uses more contexts than the store keeps in memory, each for a moment.
#[test]
fn packed_contexts_continue_where_they_were() {
    for home in [Home::file(), Home::server()] {
        let options = StoreOptions::deterministic();
        let store = contextree_store_postgres::open(&home.url, options).unwrap();
        let mut plain: Vec<Driver> = (0..150).map(|_| Driver::new()).collect();
        let mut steps: Vec<_> = (0..150).map(|seed| storable(1_000 + seed).into_iter()).collect();
        for number in 0..plain.len() {
            drop(store.create(&format!("{number}"), &ContextSettings::default()).unwrap());
        }
        let commit = Step::Commit { policy: None };
        for round in 0..8 {
            for (number, plain) in plain.iter_mut().enumerate() {
                let mut session = store.session(&format!("{number}")).unwrap();
                let working = session.working().unwrap().export();
                assert_eq!(utf8(&working), utf8(&plain.context.export_working()));
                assert_eq!(session.history_digest().unwrap(), plain.context.history_digest());
                for one in steps[number].by_ref().take(3) {
                    assert_eq!(
                        step(&mut session, &one),
                        plain.step(&one),
                        "{round} {number} {one:?}"
                    );
                }
                // Only a context without uncommitted work can be packed.
                if (round + number) % 2 == 0 {
                    assert_eq!(step(&mut session, &commit), plain.step(&commit));
                }
            }
        }
        assert!(store.verify(&mut |_, _| {}).unwrap().is_clean());
    }
}

/// A session holds a few times the newest snapshot, not its whole history; everything can still be
/// read.
#[test]
fn long_session_does_not_keep_its_history_in_memory() {
    on_every_store(|store| {
        let mut plain = contextree::Context::new();
        let mut session = store.create("main", &ContextSettings::default()).unwrap();
        for number in 0..900 {
            let add = |context: &mut contextree::Context| -> Result<(), StoreError> {
                let text = contextree::NewNode::text(format!("number {number}")).ttl(4);
                context.add(contextree::Place::head(), text).unwrap();
                crate::support::commit(context);
                Ok(())
            };
            add(&mut plain).unwrap();
            session.write(add).unwrap();
        }
        assert!(session.loaded_snapshots() < 700);
        session.shrink();
        assert_eq!(session.loaded_snapshots(), 1);
        let working = utf8(&plain.export_working()).to_owned();
        assert_eq!(utf8(&session.working().unwrap().export()), working);
        for cycle in [1, 2, 499, 898, 899, 900] {
            let address = contextree::SnapshotAddress::Cycle(cycle);
            let expected = plain.snapshot(address).unwrap();
            let found = session.snapshot(address).unwrap();
            assert_eq!(utf8(&found.export()), utf8(&expected.export()));
            assert_eq!(found.digest(), expected.digest());
        }
    });
}

#[test]
fn second_writer_gets_a_conflict_and_nothing_is_stored() {
    on_every_store(|store| {
        let mut first = store.adopt("main", turns(3), &ContextSettings::default()).unwrap();
        let mut second = store.session("main").unwrap();
        let add = |session: &mut Session, id: &str| {
            session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
                context.add(contextree::Place::head(), block(id))?;
                Ok(())
            })
        };
        add(&mut first, "one").unwrap();
        let error = add(&mut second, "two").unwrap_err();
        let StoreError::Conflict { head: Some(head), .. } = error.downcast_ref().unwrap() else {
            panic!("{error}");
        };
        assert_eq!(head.cycle, 3);
        assert!(second.working().unwrap().view().get("two").is_none());
        assert!(second.working().unwrap().view().get("one").is_some(), "it sees what won");
        add(&mut second, "two").unwrap();
        assert!(store.session("main").unwrap().working().unwrap().view().get("two").is_some());
        // The first is behind now; `update` follows and repeats.
        first
            .update(|context| -> Result<(), Box<dyn std::error::Error>> {
                context.add(contextree::Place::head(), block("three"))?;
                Ok(())
            })
            .unwrap();
        assert!(first.working().unwrap().view().get("two").is_some());
    });
}

#[test]
fn failed_closure_leaves_nothing() {
    on_every_store(|store| {
        let mut session = store.adopt("main", turns(2), &ContextSettings::default()).unwrap();
        let before = utf8(&session.working().unwrap().export()).to_owned();
        let result = session.write(|context| -> Result<(), Box<dyn std::error::Error>> {
            context.add(contextree::Place::head(), block("new"))?;
            context.commit()?;
            context.remove("no such node")?;
            Ok(())
        });
        assert!(result.is_err());
        assert_eq!(utf8(&session.working().unwrap().export()), before);
        assert_eq!(session.row().snapshots, 2);
        assert_eq!(session.row().revision.get(), 1);
    });
}
