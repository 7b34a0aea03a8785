//! Reads Codex rollouts: the model's input and output, entry by entry.
//!
//! Consecutive items of the model are one answer, and everything before it is what its call sent. A
//! compaction drops what it replaces, and a rollback drops the last turns; both stay in the history.
//! What was billed is recorded after the results of an answer's tool calls.

mod read;

use contextree_engine::{CallOutcome, CallResponse, NewNode};
use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::read::{Incoming, Role, Shape};

use super::Log;
use crate::error::ImportErrorKind;
use crate::session::{About, CallInfo, Placed, Session, settings_node};
use read::{Entry, Step, Summary, Tokens, is_context, read};

/// Reads rollouts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Codex {
    /// Consecutive items of the model, with their times, not yet added.
    open: Option<(Incoming, Vec<Option<i64>>)>,
    /// When the last message was added that a call sent.
    sent_at: Option<i64>,
    /// When the last item of the model was written.
    answered_at: Option<i64>,
    /// The last count of tokens. Some counts are repeated.
    counted: Option<Tokens>,
    /// The session metadata and the instructions.
    meta: Vec<NewNode>,
    /// The settings of the open turn.
    settings: Object,
    /// The settings of the next turn, if recorded.
    next_settings: Option<Object>,
    /// Whether `meta` and `settings` differ from the context.
    changed: bool,
}

impl Codex {
    fn step(&mut self, entry: Entry, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Entry { time, step } = entry;
        if let Step::Messages(_) = &step {
            session.state.look_at(time);
        }
        match step {
            Step::Messages(messages) => self.take(messages, time, session),
            Step::Written(messages) => {
                self.flush(session)?;
                messages.into_iter().try_for_each(|it| self.add(it, vec![time], session))
            }
            Step::Meta(nodes) => {
                self.meta = nodes;
                self.changed = true;
                Ok(())
            }
            Step::Settings(settings) => {
                self.next_settings = Some(settings);
                session.state.skip("turn_context");
                Ok(())
            }
            Step::Tokens(tokens) => {
                session.state.skip("event_msg");
                self.count(&tokens, session)
            }
            Step::Compacted(summary) => {
                self.flush(session)?;
                session.state.find("compaction");
                session.commit()?;
                let messages = match summary {
                    Summary::Messages(replacement) => {
                        session.retain(|_, _| false)?;
                        replacement
                    }
                    Summary::Text(summary) => {
                        session.retain(|_, placed| may_be_kept(placed))?;
                        vec![summary]
                    }
                };
                for message in messages {
                    self.add(message, vec![time], session)?;
                }
                session.settle()
            }
            Step::RolledBack(turns) => {
                self.flush(session)?;
                let kept = kept_after_rollback(&session.state.window, turns);
                if kept == session.state.window.len() {
                    return Ok(());
                }
                session.state.find("rewound");
                session.commit()?;
                session.retain(|index, _| index < kept)?;
                session.settle()
            }
            Step::Other(name) => {
                session.state.skip(&name);
                Ok(())
            }
        }
    }

    fn take(
        &mut self,
        messages: Vec<Incoming>,
        time: Option<i64>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        for message in messages {
            if message.role != Role::Assistant {
                self.flush(session)?;
                self.sent_at = time.or(self.sent_at);
                self.add(message, vec![time], session)?;
                continue;
            }
            self.answered_at = time.or(self.answered_at);
            match &mut self.open {
                Some((open, times)) => {
                    times.extend(std::iter::repeat_n(time, message.parts.len()));
                    open.parts.extend(message.parts);
                }
                None => {
                    let times = vec![time; message.parts.len()];
                    self.switch();
                    self.open = Some((message, times));
                }
            }
        }
        Ok(())
    }

    /// Adds the open answer, after the call that it ends.
    fn flush(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Some((message, times)) = self.open.take() else { return Ok(()) };
        self.system(session)?;
        let model = self.settings.get("model").and_then(Value::as_str).map(Box::from);
        let started_at = self.sent_at.or_else(|| times.first().copied().flatten());
        session.begin_call(CallInfo { model, started_at, ..CallInfo::default() })?;
        self.add(message, times, session)
    }

    fn add(
        &mut self,
        message: Incoming,
        times: Vec<Option<i64>>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let is_context = is_context(&message);
        let times = match &*times {
            [only] => vec![*only; message.parts.len()],
            _ => times,
        };
        session.add(message, &About { times, is_context, is_merged: false })
    }

    /// Records what was billed for the call that was begun last.
    fn count(&mut self, tokens: &Tokens, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        // Without a total, only a count of the same numbers can be a repetition.
        let is_repeated = self.counted.is_some_and(|before| match tokens.total {
            Some(total) => before.total == Some(total),
            None => before == *tokens,
        });
        self.counted = Some(*tokens);
        self.flush(session)?;
        if is_repeated {
            return Ok(());
        }
        let response = CallResponse {
            cache_read: tokens.cached,
            reasoning: tokens.reasoning,
            ..CallResponse::default()
        };
        let outcome = CallOutcome { token_in: tokens.input, token_out: tokens.output, response };
        session.end_call(outcome, self.answered_at)
    }

    /// Switches to the settings that were recorded last.
    fn switch(&mut self) {
        if let Some(next) = self.next_settings.take() {
            self.changed |= self.settings != next;
            self.settings = next;
        }
    }

    /// Updates `^sys` if it changed.
    fn system(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let settings = Some(self.settings.clone()).filter(|settings| !settings.is_empty());
        let settings = settings.map(|it| settings_node(it, Provider::OpenAiResponses));
        session.system(settings.into_iter().chain(self.meta.iter().cloned()).collect())
    }
}

impl Log for Codex {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Value::Array(list) = value else { return self.step(read(value)?, session) };
        // Read everything before changing anything, so that a bad list adds nothing.
        let entries: Vec<Entry> = list.into_iter().map(read).collect::<Result<_, Shape>>()?;
        entries.into_iter().try_for_each(|entry| self.step(entry, session))
    }

    fn end(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        self.flush(session)?;
        session.end_call(CallOutcome::default(), self.answered_at)?;
        self.switch();
        self.system(session)
    }
}

/// Returns whether a compaction without a list of messages keeps this message: user messages stay,
/// the previous summary does not.
fn may_be_kept(message: &Placed) -> bool {
    matches!(message.role, Role::User | Role::System) && !message.is_summary
}

/// Returns the number of messages left after rolling back the last user turns. Messages before the
/// first turn always stay.
fn kept_after_rollback(window: &[Placed], turns: u64) -> usize {
    let positions: Vec<usize> = window
        .iter()
        .enumerate()
        .filter(|(_, message)| message.is_prompt)
        .map(|(position, _)| position)
        .collect();
    let turns = usize::try_from(turns).unwrap_or(usize::MAX).min(positions.len());
    let Some(first) = positions.first().filter(|_| turns > 0) else { return window.len() };
    let mut kept = positions[positions.len() - turns];
    // Messages about the environment of a turn are rolled back with it.
    let surrounds = |message: &Placed| {
        message.role == Role::System || (message.role == Role::User && !message.is_prompt)
    };
    while kept > *first && surrounds(&window[kept - 1]) {
        kept -= 1;
    }
    kept
}
