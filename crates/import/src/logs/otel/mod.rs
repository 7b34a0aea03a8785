//! Reads spans and events of the OpenTelemetry conventions for generative AI: every model call has
//! the whole conversation so far.
//!
//! 1. [`records`] finds what a line or a document contains: OTLP exports, single spans, events and
//!    messages; in chronological order, one conversation after the other;
//! 2. [`messages`] reads calls and their messages. Events of the first conventions have one message
//!    each; together they form a call;
//! 3. a call without new messages adds nothing.

mod messages;
mod records;

use std::collections::{BTreeMap, HashMap};

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Shape, set};

use super::Log;
use crate::error::ImportErrorKind;
use crate::fingerprint::Fingerprint;
use crate::session::{Session, settings_node};
use messages::{Call, read_call, read_message};
use records::{Record, What};

/// Reads spans and events.
#[derive(Default)]
pub(crate) struct OTel {
    /// The messages of the last call of each conversation. Never iterated.
    seen: HashMap<Box<str>, Vec<Fingerprint>>,
    /// Messages that arrived one by one, until the call is complete.
    open: Option<Open>,
    /// Whether the log has model calls, so that spans of agents only repeat them.
    has_calls: bool,
}

/// A call whose messages arrive one by one.
struct Open {
    conversation: Box<str>,
    span: Option<Box<str>>,
    messages: Vec<Value>,
    /// What the log notes about the first message.
    entry: Object,
    answered: bool,
}

/// The result of reading a record.
enum Step {
    Call {
        conversation: Box<str>,
        call: Box<Call>,
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
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        // Read everything before adding anything.
        let records = records::of(value)?;
        let is_call = |record: &Record| matches!(record.what, What::Call(_)) && !record.of_agent;
        let has_calls = self.has_calls || records.iter().any(is_call);
        let read = |record: Record| read(record, has_calls);
        let steps: Vec<Step> = records.into_iter().map(read).collect::<Result<_, Shape>>()?;
        self.has_calls = has_calls;
        for step in steps {
            self.step(step, session, skipped)?;
        }
        Ok(())
    }

    fn end(
        &mut self,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        self.close(session, skipped)
    }
}

fn read(record: Record, has_calls: bool) -> Result<Step, Shape> {
    let Record { conversation, span, of_agent, about, what, .. } = record;
    match what {
        What::Call(_) if of_agent && has_calls => Ok(Step::Other("agent_span")),
        What::Call(fields) => {
            let call = read_call(Fields(fields))?;
            if call.fingerprints.is_empty() {
                return Ok(Step::Other("other_span"));
            }
            Ok(Step::Call { conversation, call: Box::new(call) })
        }
        What::Message(message) => Ok(Step::Message(read_message(message)?)),
        What::Event { name, body } => {
            let Some((message, answers)) = messages::of_event(&name, body) else {
                return Ok(Step::Other("other_event"));
            };
            let messages = vec![message];
            let begun = Open { conversation, span, messages, entry: about, answered: answers };
            Ok(Step::Event { begun: Box::new(begun), answers })
        }
        What::Other => Ok(Step::Other("other_span")),
    }
}

impl OTel {
    fn step(
        &mut self,
        step: Step,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        match step {
            Step::Event { begun, answers } => {
                // An answer ends a call; any other message after it belongs to the next.
                let goes_on = self.open.as_mut().filter(|open| {
                    open.span == begun.span
                        && open.conversation == begun.conversation
                        && (answers || !open.answered)
                });
                let Some(open) = goes_on else {
                    self.close(session, skipped)?;
                    self.open = Some(*begun);
                    return Ok(());
                };
                // Only the first of several answers counts.
                if !(answers && open.answered) {
                    open.messages.extend(begun.messages);
                }
                open.answered |= answers;
                Ok(())
            }
            Step::Call { conversation, call } => {
                self.close(session, skipped)?;
                self.call(&conversation, *call, session, skipped)
            }
            Step::Message(message) => {
                self.close(session, skipped)?;
                session.single(message)
            }
            Step::Other(name) => {
                *skipped.entry(name.to_owned()).or_default() += 1;
                Ok(())
            }
        }
    }

    /// Adds the open call.
    fn close(
        &mut self,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let mut fields = Fields(open.entry);
        fields.0.insert("gen_ai.input.messages", Value::Array(open.messages));
        self.call(&open.conversation, read_call(fields)?, session, skipped)
    }

    fn call(
        &mut self,
        conversation: &str,
        call: Call,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let seen = self.seen.get(conversation);
        if seen.is_some_and(|seen| seen.starts_with(&call.fingerprints)) {
            *skipped.entry("repeated_call".to_owned()).or_default() += 1;
            return Ok(());
        }
        self.seen.insert(conversation.into(), call.fingerprints.clone());
        let known = session.known(&call.fingerprints);
        session.begin_request(call.fingerprints)?;
        let settings = call.model.map(|(model, provider)| settings(model, provider));
        session.system(settings.into_iter().chain(call.system).collect())?;
        let mut entry = Some(call.rest).filter(|entry| !entry.is_empty());
        for (index, mut message) in call.messages {
            if index < known {
                continue;
            }
            if let (Some(mut entry), Some(first)) = (entry.take(), message.parts.first_mut()) {
                let attributes = first.attributes_mut();
                if let Some(place) = attributes.iter().position(|(name, _)| name == names::ENTRY) {
                    entry.insert("part", attributes.remove(place).1);
                }
                set(first, names::ENTRY, Value::Object(entry));
            }
            session.message(message)?;
        }
        Ok(())
    }
}

fn settings(model: Value, provider: Provider) -> contextree_engine::NewNode {
    settings_node(Object::from_iter([("model", model)]), provider)
}
