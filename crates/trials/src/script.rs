//! What a trial writes: steps that are a function of their number, so that the state after any of them is known.

use contextree::engine::{CallError, CallStart};
use contextree::{CallOutcome, CommitOptions, Context, Edit, Hash, NewNode, Place};
use contextree_store::{Reader, Session, Store, StoreError, StoreOptions};

/// Why a trial failed: what was expected, what was found, and the seed that shows it again.
pub type Failure = String;

/// The error of a step, whatever layer it comes from.
pub type StepFailure = Box<dyn std::error::Error>;

/// The context that trials write.
pub const MAIN: &str = "main";

/// Runs the step that leads to a revision: short and long contents, edits, commits, model calls. The revision 1 is the creation.
///
/// # Errors
///
/// If the engine refuses it, which it does not in this order.
pub fn step(context: &mut Context, revision: u64) -> Result<(), StepFailure> {
    let words = "something ".repeat(usize::try_from(revision % 7 * 30)?);
    let node = NewNode::text(format!("step {revision} says {words}"));
    let node = node.id(format!("n{revision}")).role("user");
    match revision % 8 {
        0 => {
            context.add(Place::head(), node)?;
            context.commit()?;
        }
        1 | 7 => drop(context.add(Place::head(), node.ttl(2))?),
        2 => drop(context.add(Place::at("^ah", 1), node)?),
        3 => {
            let edit = Edit { content: Some("changed".into()), ..Edit::default() };
            context.edit(&format!("n{}", revision - 1), edit)?;
        }
        4 => drop(context.commit()?),
        5 => {
            context.begin_call(&CommitOptions::default(), |_| Ok::<_, CallError>((start(), ())))?;
        }
        _ => {
            let attempt = context.running_call().map(|call| call.attempt.attempt_id.clone());
            let attempt = attempt.ok_or("the step before began a call")?;
            context.complete_call(&attempt, vec![node.into()], CallOutcome::default())?;
        }
    }
    Ok(())
}

fn start() -> CallStart {
    CallStart {
        provider: "acme".to_owned(),
        model: "m-1".to_owned(),
        params: Hash::of(b"{}"),
        input: Some(Hash::of(b"input")),
        serves: None,
        options: "{}".to_owned(),
    }
}

/// Everything that a caller can see of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    working: Vec<u8>,
    history: Hash,
    attempts: String,
}

impl State {
    /// Returns the state of a context in memory.
    #[must_use]
    pub fn of(context: &Context) -> State {
        State {
            working: context.export_working(),
            history: context.history_digest(),
            attempts: format!("{:?}", context.attempts()),
        }
    }

    /// Reads the state of a stored context.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn read(reader: &Reader) -> Result<State, StoreError> {
        Ok(State {
            working: reader.working()?.export(),
            history: reader.history_digest()?,
            attempts: format!("{:?}", reader.attempts()?),
        })
    }
}

/// The states that the script leads to, computed in memory.
#[derive(Debug)]
pub struct Script {
    context: Context,
    states: Vec<State>,
}

impl Default for Script {
    fn default() -> Script {
        let context = Context::new();
        // Nothing has the revision 0.
        let states = vec![State::of(&context), State::of(&context)];
        Script { context, states }
    }
}

impl Script {
    /// Returns the state at a revision.
    ///
    /// # Panics
    ///
    /// If the engine refuses a step of the script.
    pub fn at(&mut self, revision: u64) -> &State {
        let index = usize::try_from(revision).expect("trials are short");
        while self.states.len() <= index {
            let next = self.states.len() as u64;
            step(&mut self.context, next).expect("the engine accepts the script");
            self.states.push(State::of(&self.context));
        }
        &self.states[index]
    }
}

/// Opens a store that keeps nothing in memory, so that everything is read from rows.
///
/// # Errors
///
/// If it cannot be opened.
pub fn open(url: &str) -> Result<Store, StoreError> {
    let options = StoreOptions { idle_bytes: 0, ..StoreOptions::deterministic() };
    contextree_store_postgres::open(url, options)
}

/// Takes the next step of the script. Returns the new revision.
///
/// # Errors
///
/// If the store refuses it.
///
/// # Panics
///
/// If the engine refuses it.
pub fn advance(session: &mut Session) -> Result<u64, StoreError> {
    let next = session.row().revision.next().get();
    let done = session.write(|context| -> Result<(), Wrapped> {
        step(context, next).unwrap_or_else(|error| panic!("step {next}: {error}"));
        Ok(())
    });
    done.map_err(|Wrapped(error)| error).map(|()| next)
}

struct Wrapped(StoreError);

impl From<StoreError> for Wrapped {
    fn from(error: StoreError) -> Wrapped {
        Wrapped(error)
    }
}

/// Compares a stored context with the script. Returns its revision.
///
/// # Errors
///
/// If it cannot be read, or its state is not that of its revision, or the store is damaged.
pub fn check(store: &Store, script: &mut Script) -> Result<u64, Failure> {
    let revision = check_named(store, MAIN, script)?;
    check_all(store)?;
    Ok(revision)
}

/// Compares one stored context with the script. Returns its revision.
///
/// # Errors
///
/// If it cannot be read, or its state is not that of its revision.
pub fn check_named(store: &Store, name: &str, script: &mut Script) -> Result<u64, Failure> {
    let reader = store.reader(name).map_err(|error| format!("{}: {error}", error.code()))?;
    let revision = reader.row().revision.get();
    let found = State::read(&reader).map_err(|error| format!("{}: {error}", error.code()))?;
    if found != *script.at(revision) {
        return Err(format!("revision {revision} has another state than the script"));
    }
    Ok(revision)
}

/// Checks that `verify` finds nothing.
///
/// # Errors
///
/// If it finds something.
pub fn check_all(store: &Store) -> Result<(), Failure> {
    match store.verify(&mut |_, _| {}) {
        Ok(verification) if verification.is_clean() => Ok(()),
        Ok(verification) => Err(format!("verify: {verification:?}")),
        Err(error) => Err(format!("verify: {}: {error}", error.code())),
    }
}
