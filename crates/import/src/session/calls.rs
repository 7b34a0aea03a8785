//! Calls: what was sent is committed, and the call is recorded as a completed attempt.

use contextree_canon::Hash;
use contextree_engine::{
    AttemptStart, AttemptStatus, CallOutcome, CallStart, ClearedByClient, CommitOptions,
    RecordedCall,
};
use contextree_json::{Object, Value};
use contextree_provider::{KeyOrder, Provider, RenderOptions, render};

use super::turn::Turn;
use super::{Session, State};
use crate::error::ImportErrorKind;

/// What a log knows about a call when it begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallInfo {
    /// The model, unless the settings of the request name it.
    pub(crate) model: Option<Box<str>>,
    /// When the request was sent, if that is not the time of the log.
    pub(crate) started_at: Option<i64>,
    /// The provider, unless it is that of the log.
    pub(crate) provider: Option<Provider>,
    /// Settings of this request that the tree does not have.
    pub(crate) settings: Object,
    /// The order of keys in what was sent, if the log has it.
    pub(crate) order: Option<KeyOrder>,
    /// The hash of what was sent, if the log has it.
    pub(crate) input: Option<Hash>,
    /// What the provider reported, if that is known already.
    pub(crate) outcome: Option<Box<CallOutcome>>,
    /// When the answer was complete, if that is known already.
    pub(crate) ended_at: Option<i64>,
}

/// What Claude Code sends in place of a result that it leaves out.
const RESULT_CLEARED: &str = "[Old tool result content cleared]";

/// A call whose request was committed.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    start: CallStart,
    started_at: i64,
}

impl Session<'_> {
    /// Begins a call: everything that was added is what it sent, and is committed. Without effect if
    /// turns are cycles, or there was nothing to send.
    pub(crate) fn begin_call(&mut self, info: CallInfo) -> Result<(), ImportErrorKind> {
        if !self.state.by_calls || self.state.window.is_empty() {
            return Ok(());
        }
        self.end_call(CallOutcome::default(), None)?;
        let started_at = info.started_at.unwrap_or_else(|| self.state.now());
        self.commit_at(started_at)?;
        let provider = info.provider.unwrap_or(self.state.provider);
        let mut start = self.state.call_start(provider, info.model, info.input);
        if !info.settings.is_empty() {
            let options = RenderOptions { settings: info.settings, ..RenderOptions::default() };
            start.options = options.to_text(provider);
        }
        if let Some(order) = info.order {
            start.options = order.add_to(&start.options);
        }
        self.state.call = Some(OpenCall { start, started_at });
        match info.outcome {
            Some(outcome) => self.end_call(*outcome, info.ended_at),
            None => Ok(()),
        }
    }

    /// Ends the call that was begun, with what the provider reported. Without effect if there is
    /// none.
    pub(crate) fn end_call(
        &mut self,
        outcome: CallOutcome,
        ended_at: Option<i64>,
    ) -> Result<(), ImportErrorKind> {
        let Some(OpenCall { start, started_at }) = self.state.call.take() else { return Ok(()) };
        let source = self.state.format.name().to_owned();
        let call = RecordedCall { start, started_at, ended_at, outcome, source };
        self.context.record_call(call)?;
        self.state.counts.calls += 1;
        Ok(())
    }

    /// Records a call that was not answered: nothing is sealed.
    pub(crate) fn failed_call(
        &mut self,
        status: AttemptStatus,
        ended_at: Option<i64>,
    ) -> Result<(), ImportErrorKind> {
        if !self.state.by_calls {
            return Ok(());
        }
        self.end_call(CallOutcome::default(), None)?;
        let started_at = self.state.now();
        let provider = self.state.provider;
        let model = self.state.system.model().unwrap_or_default().to_owned();
        let params = self.state.system.settings().to_canonical();
        self.context.at_time(started_at, |context| {
            let sent = render(context.working(), provider, &RenderOptions::default());
            let input = sent.map(|sent| sent.bytes).unwrap_or_default();
            let start = AttemptStart {
                provider: provider.name(),
                model: &model,
                params: &params,
                input: &input,
            };
            let id = context.start_attempt(start).attempt_id.clone();
            let ended = ended_at.unwrap_or(started_at);
            context.at_time(ended, |context| context.end_attempt(&id, status, None).map(drop))
        })?;
        self.state.counts.calls += 1;
        Ok(())
    }

    /// Keeps the last answer with its attempt, because the next request does not repeat it.
    pub(crate) fn keep_answer(&mut self, answer: Value) {
        let last = self.context.attempts().last().map(|attempt| attempt.attempt_id.clone());
        if let Some(last) = last.filter(|_| self.state.by_calls) {
            // The attempt is the one that was just found.
            drop(self.context.keep_answer(&last, answer));
        }
    }

    /// Commits what was added, unless there is nothing. A call that was begun is ended first: it
    /// belongs to the snapshot before.
    pub(crate) fn commit(&mut self) -> Result<(), ImportErrorKind> {
        let is_open = match self.state.by_calls {
            true => self.has_uncommitted(),
            false => self.state.turn != Turn::Empty,
        };
        if !is_open {
            return Ok(());
        }
        self.end_call(CallOutcome::default(), None)?;
        self.commit_at(self.state.now())
    }

    /// Commits if messages are to be dropped, so that the tree no longer has them.
    pub(crate) fn settle(&mut self) -> Result<(), ImportErrorKind> {
        if self.state.drop.is_empty() {
            return Ok(());
        }
        self.end_call(CallOutcome::default(), None)?;
        self.commit_at(self.state.now())
    }

    fn commit_at(&mut self, time: i64) -> Result<(), ImportErrorKind> {
        let drop = self.state.take_drop(self.context);
        let cleared = self.state.take_clear();
        let clear = ClearedByClient { results: &cleared, placeholder: RESULT_CLEARED };
        let options = CommitOptions {
            without_policy: true,
            drop: &drop,
            clear: (!cleared.is_empty()).then_some(clear),
            ..CommitOptions::default()
        };
        let done = self.context.at_time(time, |context| context.commit_with(&options));
        done.map_err(|error| ImportErrorKind::Commit(Box::new(error)))?;
        if !cleared.is_empty() {
            self.state.note_placeholders(self.context, &cleared);
        }
        self.state.counts.commits += 1;
        self.state.turn = Turn::Empty;
        Ok(())
    }
}

impl State {
    /// Returns what is known about a call that sends the state. The settings name the model, unless it is given.
    pub(crate) fn call_start(
        &self,
        provider: Provider,
        model: Option<Box<str>>,
        input: Option<Hash>,
    ) -> CallStart {
        let model = model.or_else(|| self.system.model().map(Into::into));
        CallStart {
            provider: provider.name().to_owned(),
            model: model.unwrap_or_default().into(),
            params: Hash::of(&self.system.settings().to_canonical()),
            input,
            serves: self.serves.clone(),
            // The settings of the request are in the tree.
            options: RenderOptions::default().to_text(provider),
        }
    }

    /// Returns whether a call was begun and not ended.
    pub(crate) fn has_call(&self) -> bool {
        self.call.is_some()
    }
}
