//! Reads Codex rollouts: the model's input and output, entry by entry.
//!
//! Consecutive items of the model form one message. A compaction starts a new window, and so does a
//! rollback: earlier messages are removed from the tree with the next commit and stay in the
//! history. Messages that remain valid are added again.

mod read;

use std::collections::BTreeMap;

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::read::{Incoming, Role, Shape};
use contextree_tree::NewNode;

use super::Log;
use crate::error::ImportErrorKind;
use crate::session::{Session, settings_node};
use read::{Step, Summary, is_context, read};

/// Reads rollouts.
#[derive(Default)]
pub(crate) struct Codex {
    /// Consecutive items of the model, not yet added.
    open: Option<Incoming>,
    /// The valid messages, kept in case of a rollback.
    window: Vec<Incoming>,
    /// The session metadata and the instructions.
    meta: Vec<NewNode>,
    /// The model of the open turn.
    model: Option<Box<str>>,
    /// The model of the next turn, if recorded.
    next_model: Option<Box<str>>,
    /// Whether `meta` and `model` differ from the context.
    changed: bool,
}

impl Codex {
    fn step(
        &mut self,
        step: Step,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        match step {
            Step::Messages(messages) => self.take(messages, session),
            Step::Meta(nodes) => {
                self.meta = nodes;
                self.changed = true;
                Ok(())
            }
            Step::Model(model) => {
                self.next_model = Some(model);
                *skipped.entry("turn_context".to_owned()).or_default() += 1;
                Ok(())
            }
            Step::Compacted(summary) => {
                self.flush(session)?;
                let mut messages = std::mem::take(&mut self.window);
                match summary {
                    Summary::Messages(replacement) => messages = replacement,
                    Summary::Text(summary) => {
                        messages.retain(may_be_kept);
                        messages.push(summary);
                    }
                }
                session.begin_window()?;
                self.take(messages, session)
            }
            Step::RolledBack(turns) => {
                self.flush(session)?;
                let kept = kept_after_rollback(&self.window, turns);
                if kept == self.window.len() {
                    return Ok(());
                }
                let mut messages = std::mem::take(&mut self.window);
                messages.truncate(kept);
                session.begin_window()?;
                self.take(messages, session)
            }
            Step::Other(name) => {
                *skipped.entry(name.into()).or_default() += 1;
                Ok(())
            }
        }
    }

    fn take(
        &mut self,
        messages: Vec<Incoming>,
        session: &mut Session,
    ) -> Result<(), ImportErrorKind> {
        for message in messages {
            match &mut self.open {
                Some(open) if message.role == Role::Assistant => open.parts.extend(message.parts),
                _ => {
                    self.flush(session)?;
                    if message.role == Role::Assistant {
                        self.ask_next();
                        self.open = Some(message);
                    } else {
                        self.add(message, session)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self, session: &mut Session) -> Result<(), ImportErrorKind> {
        match self.open.take() {
            Some(message) => self.add(message, session),
            None => Ok(()),
        }
    }

    fn add(&mut self, message: Incoming, session: &mut Session) -> Result<(), ImportErrorKind> {
        // The turn before an answer may have been answered by another model.
        if message.role == Role::Assistant {
            self.system(session)?;
        }
        self.window.push(message.clone());
        session.message(message)
    }

    /// Switches to the model that was recorded last.
    fn ask_next(&mut self) {
        if let Some(next) = self.next_model.take() {
            self.changed |= self.model.as_ref() != Some(&next);
            self.model = Some(next);
        }
    }

    /// Updates `^sys` if it changed.
    fn system(&mut self, session: &mut Session) -> Result<(), ImportErrorKind> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let settings = self.model.clone().map(|model| {
            let settings = Object::from_iter([("model", Value::String(model))]);
            settings_node(settings, Provider::OpenAiResponses)
        });
        session.system(settings.into_iter().chain(self.meta.iter().cloned()).collect())
    }
}

impl Log for Codex {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let Value::Array(list) = value else { return self.step(read(value)?, session, skipped) };
        // Read everything before changing anything, so that a bad list adds nothing.
        let steps: Vec<Step> = list.into_iter().map(read).collect::<Result<_, Shape>>()?;
        steps.into_iter().try_for_each(|step| self.step(step, session, skipped))
    }

    fn end(
        &mut self,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        self.flush(session)?;
        self.ask_next();
        self.system(session)
    }
}

/// Returns whether a compaction without a list of messages keeps this message: user messages stay,
/// the previous summary does not.
fn may_be_kept(message: &Incoming) -> bool {
    let is_summary = message.parts.iter().any(|part| part.kind.as_deref() == Some("summary"));
    matches!(message.role, Role::User | Role::System) && !is_summary
}

/// Returns the number of messages left after rolling back the last user turns. Messages before the
/// first turn always stay.
fn kept_after_rollback(window: &[Incoming], turns: u64) -> usize {
    let begins = |message: &&Incoming| message.role == Role::User && !is_context(message);
    let positions: Vec<usize> = window
        .iter()
        .enumerate()
        .filter(|(_, message)| begins(message))
        .map(|(position, _)| position)
        .collect();
    let turns = usize::try_from(turns).unwrap_or(usize::MAX).min(positions.len());
    let Some(first) = positions.first().filter(|_| turns > 0) else { return window.len() };
    let mut kept = positions[positions.len() - turns];
    // Messages about the environment of a turn are rolled back with it.
    let surrounds = |message: &Incoming| message.role == Role::System || is_context(message);
    while kept > *first && surrounds(&window[kept - 1]) {
        kept -= 1;
    }
    kept
}
