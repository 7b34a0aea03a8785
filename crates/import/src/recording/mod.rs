//! Records calls while they are made: each request becomes the state that it contains, each response the answer.
//!
//! An [`Importer`](crate::Importer) fills a context of its own from a log. A [`Recording`] does the same for a context that the caller
//! holds, such as one of a store, in two steps per call: [`Recording::begin`] when the request is known, and [`Recording::complete`] or
//! [`Recording::end`] when the call is over. In between, the attempt is running, so that a call that is cut off is visible as such.

mod elements;
mod left_out;
mod outline;
mod prune;
mod resume;
mod splice;
mod trace;

use contextree_canon::Hash;
use contextree_engine::{
    AttemptStatus, CallError, CallOutcome, CommitOptions, Context, MAX_PARTIAL_BYTES, Preview,
};
use contextree_json::{Object, Value};
use contextree_provider::read::{Fields, Shape};
use contextree_provider::{Provider, RenderOptions, render};
use contextree_tree::Cycle;

use crate::error::{ImportError, ImportErrorKind};
use crate::format::Format;
use crate::logs::requests::Requests;
use crate::session::{Session, State};

pub use outline::Outline;
pub use prune::{Limited, Limits, PrunedRequest};
pub use trace::{Overlap, Trace};

/// What a recorded call sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The request.
    pub request: Object,
    /// The model, if the request itself does not name it.
    pub model: Option<String>,
    /// When it was sent, in nanoseconds since 1970.
    pub started_at: i64,
}

/// A call that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The attempt.
    pub attempt: String,
    /// The cycle of the snapshot that completing the call adds.
    pub cycle: Cycle,
    /// Whether the snapshot renders to the request, compared as JSON.
    pub is_exact: bool,
}

/// Brings a context to the requests of a program, call by call. The caller passes the same context each time.
#[derive(Clone, Debug)]
pub struct Recording {
    provider: Provider,
    state: State,
    log: Requests,
    /// What the running call drops when it is completed.
    dropped: Vec<String>,
    /// The results that it clears, with their placeholders.
    cleared: Vec<(String, String)>,
}

impl Recording {
    /// Returns the recording of a context without messages.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        Recording {
            provider,
            state: State::new(format_of(provider), true),
            log: Requests::new(provider),
            dropped: Vec::new(),
            cleared: Vec::new(),
        }
    }

    /// Returns the provider whose requests are recorded.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Brings the context to a request and begins its call. Messages that the context has stay, those that the request left out are
    /// dropped when the call is completed.
    ///
    /// # Errors
    ///
    /// If the request does not have the shape of its provider, or a call is running. Then context and recording are to be
    /// discarded: both may have changed.
    pub fn begin(&mut self, context: &mut Context, sent: Sent) -> Result<Begun, ImportError> {
        self.try_begin(context, sent).map_err(located)
    }

    fn try_begin(&mut self, context: &mut Context, sent: Sent) -> Result<Begun, ImportErrorKind> {
        let Sent { request, model, started_at } = sent;
        let wanted = Value::Object(request.clone());
        // What was pruned before is sent now, so the tree gets it again.
        self.state.reach = self.first_changed(context.working());
        self.state.forget_left_out();
        self.bring(context, Fields(request), started_at)?;
        let drop = self.state.take_drop(context);
        let options =
            CommitOptions { without_policy: true, drop: &drop, ..CommitOptions::default() };
        self.begin_call(context, &options, model, started_at, &wanted)
    }

    /// Brings the tree to what a request contains.
    fn bring(
        &mut self,
        context: &mut Context,
        request: Fields,
        started_at: i64,
    ) -> Result<(), ImportErrorKind> {
        self.state.at(Some(started_at));
        self.cleared.clear();
        let mut session = Session { context, state: &mut self.state };
        self.log.request(request, &mut session)?;
        self.dropped = self.state.unsealed_drop();
        Ok(())
    }

    /// Begins the call of the request that the tree was brought to; `wanted` is what is sent.
    fn begin_call(
        &self,
        context: &mut Context,
        options: &CommitOptions<'_>,
        model: Option<String>,
        started_at: i64,
        wanted: &Value,
    ) -> Result<Begun, ImportErrorKind> {
        let (provider, state) = (self.provider, &self.state);
        context.at_time(started_at, |context| {
            context.begin_call(options, |preview: &Preview| {
                let view = preview.snapshot.view();
                let rendered = render(view, provider, &RenderOptions::default());
                let sent = rendered.ok().filter(|rendered| rendered.value() == *wanted);
                let input = sent.as_ref().map(|sent| Hash::of(&sent.bytes));
                let start = state.call_start(provider, model.map(Into::into), input);
                Ok::<_, CallError>((start, ()))
            })
        })?;
        let begun = context.running_call().map(|call| Begun {
            attempt: call.attempt.attempt_id.clone(),
            cycle: call.report.cycle,
            is_exact: call.attempt.input.is_some(),
        });
        Ok(begun.expect("the call has just begun"))
    }

    /// Completes the running call with the document that the provider returned.
    ///
    /// # Errors
    ///
    /// If the document is not an answer of the provider, or there is no such call. Then context and recording are to be discarded.
    pub fn complete(
        &mut self,
        context: &mut Context,
        attempt: &str,
        answer: Value,
        request_id: Option<String>,
        ended_at: i64,
    ) -> Result<CallOutcome, ImportError> {
        let complete = || {
            let mut answer = self.log.read_answer(answer)?;
            let mut outcome = std::mem::take(&mut answer.outcome);
            outcome.response.request_id = request_id;
            self.state.at(Some(ended_at));
            let done = outcome.clone();
            context.at_time(ended_at, |context| {
                context.complete_call(attempt, Vec::new(), done).map(drop)
            })?;
            self.state.counts.calls += 1;
            self.state.counts.commits += 1;
            self.dropped.clear();
            self.note_cleared();
            let mut session = Session { context, state: &mut self.state };
            self.log.add_answer(answer, &mut session)?;
            Ok(outcome)
        };
        complete().map_err(located)
    }

    /// Ends the running call without a complete answer. Nothing is sealed; what arrived of the answer is kept with the attempt, up to
    /// the limit of a partial answer.
    ///
    /// # Errors
    ///
    /// If there is no such call.
    pub fn end(
        &mut self,
        context: &mut Context,
        attempt: &str,
        status: AttemptStatus,
        partial: Option<&str>,
        ended_at: i64,
    ) -> Result<(), ImportError> {
        let end = || {
            if let Some(partial) = partial.filter(|partial| !partial.is_empty()) {
                context.attach_partial(attempt, beginning(partial))?;
            }
            context.at_time(ended_at, |context| match status {
                AttemptStatus::Error(why) => context.fail_call(attempt, why).map(drop),
                _ => context.cancel_call(attempt).map(drop),
            })?;
            self.state.at(Some(ended_at));
            self.state.restore_drop(std::mem::take(&mut self.dropped));
            self.cleared.clear();
            self.state.counts.calls += 1;
            Ok(())
        };
        end().map_err(located)
    }
}

/// Returns as much of a partial answer as an attempt keeps.
#[must_use]
pub fn beginning(partial: &str) -> &str {
    let mut end = partial.len().min(MAX_PARTIAL_BYTES);
    while !partial.is_char_boundary(end) {
        end -= 1;
    }
    &partial[..end]
}

fn located(kind: ImportErrorKind) -> ImportError {
    ImportError { line: None, kind, detected: None }
}

fn shape(at: &str, expected: &'static str) -> ImportErrorKind {
    Shape { at: at.to_owned(), expected }.into()
}

fn format_of(provider: Provider) -> Format {
    match provider {
        Provider::OpenAiResponses => Format::OpenAiResponses,
        Provider::Anthropic => Format::Anthropic,
        Provider::Gemini => Format::Gemini,
        _ => Format::OpenAiChat,
    }
}
