//! Records the model calls of other programs while they are made.
//!
//! ```text
//! request ─begin→ which conversation? ─→ its context ─→ a running attempt      (one durable step)
//! response ─complete→ the snapshot that was sent, and the answer in the head   (one durable step)
//!          └end→      the attempt says why there is none; what arrived is kept
//! ```
//!
//! With a budget, begin also returns the request that is sent instead (`budget`).
//!
//! A [`Recorder`] decides which context a call belongs to (`assign`): the one that the caller names, that of the client's own
//! conversation, or the one whose messages the request repeats. It reads no clock and knows no HTTP: a door passes requests, responses
//! and times.

mod assign;
mod budget;
mod lane;
mod names;

use std::collections::BTreeMap;

use contextree::budget::Budget;
use contextree::import::{Begun, Outline, Sent, beginning};
use contextree::provider::Provider;
use contextree::store::ContextSettings;
use contextree::{AttemptStatus, CallOutcome, Cycle, Edition};
use contextree_json::{Object, Value};

use crate::workspace::{Access, OpenStore};
use crate::{Error, Workspace};
use budget::{Prepared, keeper_of};
use lane::{Group, Lane};

pub use budget::{Receipt, budget_of};
pub use names::name_for;

/// A request that a program sent.
#[derive(Clone, Debug)]
pub struct NewCall {
    /// Whose request it is.
    pub provider: Provider,
    /// The request.
    pub request: Object,
    /// The model, if the request itself does not name it.
    pub model: Option<String>,
    /// When it was sent, in nanoseconds since 1970.
    pub started_at: i64,
    /// The context that the caller names.
    pub target: Option<String>,
    /// The client's own conversation, if it says.
    pub conversation: Option<Conversation>,
    /// The request as the program wrote it, if it may be pruned before it is sent.
    pub text: Option<Vec<u8>>,
}

/// What a client says about the conversation that a call belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The session.
    pub session: String,
    /// The agent within the session, if it is not the main one.
    pub agent: Option<String>,
}

/// A call that is recorded. It identifies the call until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(u64);

/// How a call relates to what was recorded before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It begins a context.
    New,
    /// It continues its context.
    Continued,
    /// It is the same request again.
    Retried,
    /// It drops or rewrites a part of its past.
    Rewritten,
    /// It begins a context that shares its past with another.
    Forked {
        /// The other context.
        from: String,
    },
}

/// A call that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunCall {
    /// Identifies the call.
    pub id: CallId,
    /// The context.
    pub context: String,
    /// The attempt.
    pub attempt: String,
    /// The cycle of the snapshot that completing the call adds.
    pub cycle: Cycle,
    /// How it relates to what was recorded before.
    pub relation: Relation,
    /// Whether the snapshot renders to the request that is sent, compared as JSON.
    pub is_exact: bool,
    /// The request to send instead of the program's, as JSON: the budget prunes it.
    pub send: Option<Vec<u8>>,
    /// What the budget did, if there is one.
    pub receipt: Option<Receipt>,
    /// Why the budget was not applied.
    pub not_pruned: Option<String>,
}

/// How many conversations are known.
const LANES: usize = 1_000;

/// Records calls. One thread uses it; calls may overlap.
pub struct Recorder {
    store: OpenStore,
    settings: ContextSettings,
    /// What contexts are named after that the caller does not name.
    base: String,
    /// What requests are pruned to before they are sent.
    budget: Option<Budget>,
    lanes: Vec<Lane>,
    running: BTreeMap<u64, usize>,
    next: u64,
    /// The highest number of a context that was named by number.
    numbered: u32,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recorder").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Returns a recorder. The store is created if it is a file that does not exist. Contexts that the caller does not name are named
    /// after `base`.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened.
    pub fn new(workspace: &Workspace, base: &str) -> Result<Recorder, Error> {
        let edition: Edition = workspace.edition().unwrap_or_default();
        let settings = ContextSettings {
            edition,
            vocabulary: contextree::engine::vocabulary_of(edition),
            ..ContextSettings::default()
        };
        Ok(Recorder {
            store: workspace.store(Access::Create)?,
            settings,
            base: name_for(base),
            budget: None,
            lanes: Vec::new(),
            running: BTreeMap::new(),
            next: 1,
            numbered: 0,
        })
    }

    /// Returns the recorder with a budget: requests with a text are pruned to it before they are sent. Unless the budget says otherwise, at
    /// least a quarter of `max_tokens` is pruned at once, so that the beginning of the requests that follow stays the same.
    #[must_use]
    pub fn with_budget(mut self, budget: Option<Budget>) -> Recorder {
        self.budget = budget.map(|mut budget| {
            let usual = budget.max_tokens.map(|tokens| tokens / 4);
            budget.clear_at_least = budget.clear_at_least.or(usual);
            budget
        });
        self
    }

    /// Records that a request is sent, in one durable step.
    ///
    /// # Errors
    ///
    /// If the request does not have the shape of its provider, or the store fails. Nothing was recorded.
    pub fn begin(&mut self, call: NewCall) -> Result<BegunCall, Error> {
        let outline = Outline::of(call.provider, &call.request).map_err(|it| refused(&it))?;
        let (index, relation) = self.assign(&call, &outline)?;
        let keeper = self.budget.as_ref().map(|budget| keeper_of(budget, &call));
        let NewCall { request, model, started_at, text, .. } = call;
        let sent = Sent { request, model, started_at };
        let lane = &mut self.lanes[index];
        let begun = match (keeper, text) {
            (Some(keeper), Some(text)) => lane.begin_under(&self.store, &sent, &text, &keeper),
            _ => lane.begin(&self.store, &sent).map(|begun| (begun, Prepared::default())),
        };
        let (Begun { attempt, cycle, is_exact }, prepared) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                // A lane without a call would be found by nothing, and a context without one is of no use.
                let is_new = matches!(relation, Relation::New | Relation::Forked { .. });
                let is_unused = is_new || self.lanes[index].trace.sent().is_empty();
                if is_unused && index + 1 == self.lanes.len() {
                    let lane = self.lanes.pop().filter(|_| is_new);
                    lane.map_or(Ok(()), |lane| self.remove(&lane.name)).unwrap_or_else(|why| {
                        tracing::debug!(error = why.message(), "an empty context stays");
                    });
                }
                return Err(error);
            }
        };
        let lane = &mut self.lanes[index];
        lane.trace.send(outline);
        let id = self.next;
        self.next += 1;
        lane.running = Some(attempt.clone());
        lane.last_call = id;
        self.running.insert(id, index);
        let context = lane.name.clone();
        self.rest();
        self.forget(LANES);
        let Prepared { send, receipt, refused: not_pruned } = prepared;
        let id = CallId(id);
        Ok(BegunCall { id, context, attempt, cycle, relation, is_exact, send, receipt, not_pruned })
    }

    /// Keeps what has arrived of an answer, in one durable step, in place of what was kept before.
    ///
    /// # Errors
    ///
    /// If the call has ended, or the store fails.
    pub fn attach_partial(&mut self, id: CallId, partial: &str) -> Result<(), Error> {
        let index = self.running(id)?;
        self.lanes[index].attach_partial(beginning(partial))
    }

    /// Records the document that the provider returned, in one durable step.
    ///
    /// # Errors
    ///
    /// If it is not an answer of the provider, or the store fails. The call is still running.
    pub fn complete(
        &mut self,
        id: CallId,
        answer: &Value,
        request_id: Option<&str>,
        ended_at: i64,
    ) -> Result<CallOutcome, Error> {
        let index = self.running(id)?;
        let outcome = self.lanes[index].complete(answer, request_id, ended_at)?;
        self.lanes[index].running = None;
        self.running.remove(&id.0);
        Ok(outcome)
    }

    /// Records that there is no complete answer, in one durable step. What arrived of it is kept with the attempt.
    ///
    /// # Errors
    ///
    /// If the call has ended, or the store fails. Then the next call of the context ends it, in the same step in which it begins.
    pub fn end(
        &mut self,
        id: CallId,
        status: &AttemptStatus,
        partial: Option<&str>,
        ended_at: i64,
    ) -> Result<(), Error> {
        let index = self.running(id)?;
        let ended = self.lanes[index].end(status, partial, ended_at);
        if ended.is_err() {
            self.lanes[index].leave_running(status);
        }
        self.lanes[index].running = None;
        self.running.remove(&id.0);
        ended
    }

    /// Leaves a call as it is, without a word to the store. The next call of its context ends it.
    pub fn abandon(&mut self, id: CallId, status: &AttemptStatus) {
        if let Some(index) = self.running.remove(&id.0) {
            self.lanes[index].leave_running(status);
            self.lanes[index].running = None;
        }
    }

    fn running(&self, id: CallId) -> Result<usize, Error> {
        let index = self.running.get(&id.0).copied();
        index.ok_or_else(|| Error::new("E_ATTEMPT_ENDED", "the call has ended"))
    }

    /// Deletes a context that was created for a call that could not be recorded.
    fn remove(&self, name: &str) -> Result<(), Error> {
        Ok(self.store.for_context(name)?.delete(name)?)
    }

    /// Closes the contexts that were not used for the longest time. They are opened again when they are needed.
    fn rest(&mut self) {
        const OPEN: usize = 64;
        let is_idle = |lane: &&mut Lane| lane.is_open() && lane.running.is_none();
        let mut idle: Vec<&mut Lane> = self.lanes.iter_mut().filter(is_idle).collect();
        if idle.len() > OPEN {
            idle.sort_by_key(|lane| lane.last_call);
            let spare = idle.len() - OPEN;
            idle.into_iter().take(spare).for_each(Lane::close);
        }
    }

    /// Forgets the conversations that were not used for the longest time, if there are more than `most`. Those that a path or a session
    /// names are found again by it, all of a name together.
    fn forget(&mut self, most: usize) {
        if self.lanes.len() <= most {
            return;
        }
        let own = |lane: &Lane| if lane.running.is_some() { u64::MAX } else { lane.last_call };
        let mut used: BTreeMap<Group, u64> = BTreeMap::new();
        for lane in &self.lanes {
            for group in lane.groups.iter().filter(|group| **group != Group::Other) {
                let newest = used.entry(group.clone()).or_default();
                *newest = own(lane).max(*newest);
            }
        }
        let age = |lane: &Lane| {
            let groups = lane.groups.iter().filter_map(|group| used.get(group).copied());
            groups.fold(own(lane), u64::max)
        };
        let ages: Vec<u64> = self.lanes.iter().map(age).collect();
        let mut sorted = ages.clone();
        sorted.sort_unstable();
        // Some more than necessary, so that it is not done at every call.
        let oldest = sorted[sorted.len() - (most - most / 4)];
        let mut places = BTreeMap::new();
        let lanes = std::mem::take(&mut self.lanes);
        for (index, (lane, age)) in lanes.into_iter().zip(ages).enumerate() {
            if age >= oldest {
                places.insert(index, self.lanes.len());
                self.lanes.push(lane);
            }
        }
        // Conversations whose calls are running stay.
        self.running.retain(|_, index| match places.get(index) {
            Some(place) => {
                *index = *place;
                true
            }
            None => false,
        });
    }
}

fn refused(error: &contextree::import::ImportError) -> Error {
    Error::new(error.code(), error.to_string())
}

#[cfg(test)]
mod tests {
    use contextree_json::parse;

    use super::*;

    fn recorder() -> Recorder {
        let store = contextree::open("memory:").expect("it is in memory");
        Recorder::new(&Workspace::over(store, "memory:"), "agent").expect("it is open")
    }

    fn call(session: &str, text: &str) -> NewCall {
        let request = format!(
            r#"{{"model":"m","max_tokens":9,"messages":[{{"role":"user","content":"{text}"}}]}}"#
        );
        let Ok(Value::Object(request)) = parse(request.as_bytes()) else { panic!("an object") };
        let conversation = Conversation { session: session.to_owned(), agent: None };
        NewCall {
            provider: Provider::Anthropic,
            request,
            model: None,
            started_at: 1,
            target: None,
            conversation: Some(conversation),
            text: None,
        }
    }

    fn answer() -> Value {
        let text = br#"{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
        parse(text).expect("it is JSON")
    }

    #[test]
    fn conversations_that_were_forgotten_are_found_again_and_running_ones_stay() {
        let mut recorder = recorder();
        let running = recorder.begin(call("running", "a")).expect("it is recorded");
        for session in ["one", "two", "three", "four"] {
            let begun = recorder.begin(call(session, "a")).expect("it is recorded");
            recorder.complete(begun.id, &answer(), None, 2).expect("it is recorded");
        }
        recorder.forget(4);
        let names: Vec<&str> = recorder.lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["agent-running", "agent-three", "agent-four"]);
        recorder.complete(running.id, &answer(), None, 3).expect("it is still known");
        let again = recorder.begin(call("one", "a")).expect("it is recorded");
        assert_eq!((again.context.as_str(), again.relation), ("agent-one", Relation::Retried));
    }

    #[test]
    fn request_that_cannot_be_read_leaves_no_context() {
        let mut recorder = recorder();
        let mut unreadable = call("one", "a");
        let message = parse(b"[7]").expect("it is JSON");
        unreadable.request.insert("messages", message);
        assert!(recorder.begin(unreadable).is_err());
        assert!(recorder.store.find("agent-one").expect("it can be read").is_none());
    }
}
