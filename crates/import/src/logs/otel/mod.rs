//! Reads spans and events of the OpenTelemetry conventions for generative AI: every model call has
//! the whole conversation so far.
//!
//! 1. [`records`] finds what a line or a document contains: OTLP exports, single spans, events and
//!    messages; in chronological order, one conversation after the other;
//! 2. [`messages`] reads calls and their messages. Events of the first conventions have one message
//!    each; together they form a call;
//! 3. a call without new messages adds nothing.
//!
//! [`dialects`] translates the names of other conventions.

mod dialects;
mod messages;
mod records;

use std::collections::HashMap;

use contextree_engine::{CallOutcome, CallResponse};
use contextree_json::{Object, Value};
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Shape, set};

use super::Log;
use crate::error::ImportErrorKind;
use crate::fingerprint::Fingerprint;
use crate::session::{CallInfo, Session, settings_node};
pub(crate) use dialects::is_dialect;
use messages::{Call, read_call, read_message};
use records::{Record, What};

/// Reads spans and events.
#[derive(Clone, Debug, Default)]
pub(crate) struct OTel {
    /// The messages of the last call of each conversation. Never iterated.
    seen: HashMap<Box<str>, Vec<Fingerprint>>,
    /// Messages that arrived one by one, until the call is complete.
    open: Option<Open>,
    /// Whether the log has model calls, so that spans of agents only repeat them.
    has_calls: bool,
}

/// A call whose messages arrive one by one.
#[derive(Clone, Debug)]
struct Open {
    conversation: Box<str>,
    span: Option<Box<str>>,
    messages: Vec<Value>,
    /// What the log notes about the first message.
    entry: Object,
    times: Times,
    answered: bool,
}

/// The result of reading a record.
enum Step {
    Call {
        conversation: Box<str>,
        call: Box<Call>,
        times: Times,
    },
    Message(Incoming),
    /// The beginning or the continuation of a call, and whether it is the answer.
    Event {
        begun: Box<Open>,
        answers: bool,
    },
    Other(&'static str),
}

impl Log for OTel {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        // Read everything before adding anything.
        let records = records::of(value)?;
        let is_call = |record: &Record| matches!(record.what, What::Call(_)) && !record.of_agent;
        let has_calls = self.has_calls || records.iter().any(is_call);
        let read = |record: Record| read(record, has_calls);
        let steps: Vec<Step> = records.into_iter().map(read).collect::<Result<_, Shape>>()?;
        self.has_calls = has_calls;
        for step in steps {
            self.step(step, session)?;
        }
        Ok(())
    }

    fn end(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        self.close(session)
    }
}

fn read(record: Record, has_calls: bool) -> Result<Step, Shape> {
    let times = record.times();
    let Record { conversation, span, of_agent, about, what, .. } = record;
    match what {
        What::Call(_) if of_agent && has_calls => Ok(Step::Other("agent_span")),
        What::Call(fields) => {
            let call = read_call(Fields(fields))?;
            if call.fingerprints.is_empty() {
                return Ok(Step::Other("other_span"));
            }
            Ok(Step::Call { conversation, call: Box::new(call), times })
        }
        What::Message(message) => Ok(Step::Message(read_message(message)?)),
        What::Event { name, body } => {
            let Some((message, answers)) = messages::of_event(&name, body) else {
                return Ok(Step::Other("other_event"));
            };
            let messages = vec![message];
            let begun =
                Open { conversation, span, messages, entry: about, times, answered: answers };
            Ok(Step::Event { begun: Box::new(begun), answers })
        }
        What::Other => Ok(Step::Other("other_span")),
    }
}

impl OTel {
    fn step(&mut self, step: Step, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        match step {
            Step::Event { begun, answers } => {
                // An answer ends a call; any other message after it belongs to the next.
                let goes_on = self.open.as_mut().filter(|open| {
                    open.span == begun.span
                        && open.conversation == begun.conversation
                        && (answers || !open.answered)
                });
                let Some(open) = goes_on else {
                    self.close(session)?;
                    self.open = Some(*begun);
                    return Ok(());
                };
                // Only the first of several answers counts.
                if !(answers && open.answered) {
                    open.messages.extend(begun.messages);
                }
                open.answered |= answers;
                open.times.ended_at = begun.times.started_at.or(open.times.ended_at);
                Ok(())
            }
            Step::Call { conversation, call, times } => {
                self.close(session)?;
                self.call(&conversation, *call, times, session)
            }
            Step::Message(message) => {
                self.close(session)?;
                session.single(message)
            }
            Step::Other(name) => {
                session.state.skip(name);
                Ok(())
            }
        }
    }

    /// Adds the open call.
    fn close(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let mut fields = Fields(open.entry);
        let answer = match open.answered {
            true => open.messages.pop().into_iter().collect(),
            false => Vec::new(),
        };
        fields.0.insert("gen_ai.input.messages", Value::Array(open.messages));
        fields.0.insert("gen_ai.output.messages", Value::Array(answer));
        self.call(&open.conversation, read_call(fields)?, open.times, session)
    }

    fn call(
        &mut self,
        conversation: &str,
        call: Call,
        times: Times,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let seen = self.seen.get(conversation);
        if seen.is_some_and(|seen| seen.starts_with(&call.fingerprints)) {
            session.state.skip("repeated_call");
            return Ok(());
        }
        self.seen.insert(conversation.into(), call.fingerprints);
        session.state.at(times.started_at);
        let provider = call.model.as_ref().map(|(_, provider)| *provider);
        let settings = call.model.map(|(model, provider)| {
            settings_node(Object::from_iter([("model", model)]), provider)
        });
        session.system(settings.into_iter().chain(call.system).collect())?;
        let outcome = outcome_of(&call.rest);
        let entry = Some(call.rest).filter(|entry| !entry.is_empty());
        let is_answered = !call.answers.is_empty();
        let mut messages = call.messages;
        // What the log notes about the call is with its answer, or else with its last message.
        let mut answers = call.answers;
        let first = answers.first_mut().or(messages.last_mut());
        if let (Some(mut entry), Some((_, message))) = (entry, first)
            && let Some(part) = message.parts.first_mut()
        {
            let attributes = part.attributes_mut();
            if let Some(place) = attributes.iter().position(|(name, _)| name == names::ENTRY) {
                entry.insert("part", attributes.remove(place).1);
            }
            set(part, names::ENTRY, Value::Object(entry));
        }
        session.sent(messages)?;
        let outcome = Some(Box::new(outcome)).filter(|_| is_answered);
        let ended_at = times.ended_at;
        session.begin_call(CallInfo { provider, outcome, ended_at, ..CallInfo::default() })?;
        session.state.at(ended_at);
        for (fingerprint, message) in answers {
            session.add(message, &crate::session::About::default())?;
            session.recognize(fingerprint);
        }
        Ok(())
    }
}

/// When a call began and ended.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    started_at: Option<i64>,
    ended_at: Option<i64>,
}

/// Returns what the provider reported. Some instrumentations use names of earlier conventions.
fn outcome_of(attributes: &Object) -> CallOutcome {
    let number = |names: &[&str]| {
        names.iter().find_map(|name| {
            let value = attributes.get(name)?;
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        })
    };
    let text = |name: &str| attributes.get(name).and_then(Value::as_str).map(str::to_owned);
    let reasons = attributes.get("gen_ai.response.finish_reasons");
    let reason = reasons.and_then(|it| it.as_array()?.first()?.as_str()).map(str::to_owned);
    CallOutcome {
        token_in: number(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]),
        token_out: number(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]),
        response: CallResponse {
            cache_read: number(&["gen_ai.usage.cache_read.input_tokens"]),
            cache_write: number(&["gen_ai.usage.cache_creation.input_tokens"]),
            reasoning: number(&["gen_ai.usage.reasoning.output_tokens"]),
            model: text("gen_ai.response.model"),
            stop_reason: reason,
            response_id: text("gen_ai.response.id"),
            ..CallResponse::default()
        },
    }
}
