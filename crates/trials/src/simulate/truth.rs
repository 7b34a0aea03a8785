//! What a context must be: the same steps, done by the naive model and by the engine in memory.

use std::collections::BTreeSet;

use contextree::{Context, Cycle};
use contextree_testkit::Rng;
use contextree_testkit::drive::{Did, Driver};
use contextree_testkit::generate::Session;
use contextree_testkit::model::Model;
use contextree_testkit::script::{NodeSpec, Place, Refusal, Step};

use crate::script::Failure;

/// One context.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    /// `None` for a fork of a snapshot: the naive model has no such operation.
    naive: Option<Model>,
    pub(super) engine: Engine,
    /// Cycles that retention was allowed to remove.
    pub(super) may_be_gone: BTreeSet<Cycle>,
    pub(super) pins: BTreeSet<Cycle>,
    /// How it began and which steps it took, for people.
    pub(super) trail: Vec<String>,
}

/// A context in memory that can be copied.
#[derive(Debug)]
pub(super) struct Engine(pub(super) Context);

impl Clone for Engine {
    fn clone(&self) -> Engine {
        Engine(self.0.fork_working())
    }
}

impl Truth {
    pub(super) fn new() -> Truth {
        Truth {
            naive: Some(Model::new()),
            engine: Engine(Context::new()),
            may_be_gone: BTreeSet::new(),
            pins: BTreeSet::new(),
            trail: vec!["created".to_owned()],
        }
    }

    /// Returns the truth of a fork.
    pub(super) fn forked(&self, engine: Context, of_working: bool) -> Truth {
        let naive = self.naive.clone().filter(|_| of_working);
        let may_be_gone = self.may_be_gone.clone();
        let what = if of_working { "fork of a working state" } else { "fork of a snapshot" };
        let trail = vec![format!("{what} after {:?}", self.trail.last())];
        Truth { naive, engine: Engine(engine), may_be_gone, pins: BTreeSet::new(), trail }
    }

    /// True while a call is running.
    pub(super) fn is_calling(&self) -> bool {
        self.engine.0.running_call().is_some()
    }

    /// Returns a step that this context could be given next.
    pub(super) fn next_step(&self, random: &mut Rng) -> Step {
        let Some(naive) = &self.naive else { return simple(random) };
        loop {
            let step = Session::with_calls(random.next_u64()).next_step(naive);
            match step {
                // Handles live in a process, not in a store.
                Some(Step::Retain { .. } | Step::Release { .. }) | None => {}
                Some(step) => return step,
            }
        }
    }

    /// Does a step, and compares what the two models and the store made of it.
    pub(super) fn apply(
        &mut self,
        step: &Step,
        stored: &Result<Did, Refusal>,
    ) -> Result<(), Failure> {
        let done = drive(&mut self.engine.0, step);
        let text = format!("{} {step:?}", if done.is_ok() { "took" } else { "refused" });
        self.trail.push(text.chars().take(60).collect());
        if format!("{done:?}") != format!("{stored:?}") {
            return Err(format!("the engine {done:?}, the store {stored:?}: {step:?}"));
        }
        if let Some(naive) = &mut self.naive {
            let expected = naive.apply(step);
            if expected.is_ok() != done.is_ok() {
                return Err(format!("the model {expected:?}, the store {done:?}: {step:?}"));
            }
            if naive.export_working() != self.engine.0.export_working() {
                return Err(format!("the model has another working state: {step:?}"));
            }
        }
        Ok(())
    }

    /// Returns the cycles of all snapshots, oldest first.
    pub(super) fn cycles(&self) -> Vec<Cycle> {
        self.engine.0.history().iter().map(|snapshot| snapshot.cycle()).collect()
    }
}

/// Runs a step on a context.
pub(super) fn drive(context: &mut Context, step: &Step) -> Result<Did, Refusal> {
    let mut driver = Driver::new();
    std::mem::swap(&mut driver.context, context);
    let done = driver.step(step);
    std::mem::swap(&mut driver.context, context);
    done
}

fn simple(random: &mut Rng) -> Step {
    let content = "word ".repeat(random.index(200));
    let node = NodeSpec {
        content: Some(content.as_str().into()),
        role: Some("user".to_owned()),
        ttl: random.percent(30).then(|| random.range(0, 3)),
        ..NodeSpec::default()
    };
    let place = Place::Into { parent: "^ah".to_owned(), offset: Some(0) };
    if random.percent(30) { Step::Commit { policy: None } } else { Step::Add { place, node } }
}
