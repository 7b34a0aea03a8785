//! Reads sessions of Gemini CLI: a document with all messages, or one record a line.
//!
//! Each answer of the model is a call. It is recorded together with its thoughts, its tool calls and
//! their results. A record is written again when something is added to it, so the newest one is
//! held until another follows. A session can be rewound, and its messages can be replaced by a
//! compression.

mod read;

use std::collections::{HashMap, HashSet};

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Shape};
use contextree_tree::NewNode;

use super::Log;
use crate::error::ImportErrorKind;
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::session::{About, CallInfo, Session, Trail, settings_node};
use read::{Body, Record, answered_in, read};

/// Reads sessions.
#[derive(Debug, Default, Clone)]
pub(crate) struct GeminiCli {
    trail: Trail,
    /// The records of the conversation.
    records: Vec<Placed>,
    /// The newest record, which may be written again.
    open: Option<(Fingerprint, Record)>,
    /// The answers that were imported. Never iterated, so its order cannot affect output.
    answers: HashSet<Box<str>>,
    /// What is known about the session besides its messages.
    about: Object,
}

/// A record whose messages were added, by their numbers.
#[derive(Clone, Debug)]
struct Placed {
    id: Box<str>,
    own: Fingerprint,
    numbers: Vec<usize>,
}

impl Log for GeminiCli {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        match value {
            Value::Array(list) => list.into_iter().enumerate().try_for_each(|(index, value)| {
                let done = self.line(value, session);
                done.map_err(|kind| kind.within(&format!("[{index}]")))
            }),
            value => self.line(value, session),
        }
    }

    fn end(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        self.flush(session)?;
        self.system(None, session)
    }
}

impl GeminiCli {
    fn line(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let mut fields = Fields::of(value)?;
        if let Some(id) = fields.take_text("$rewindTo") {
            self.flush(session)?;
            let kept = self.records.iter().position(|record| record.id == id);
            self.records.truncate(kept.unwrap_or(0));
            return self.turn("rewound", session);
        }
        if let Some(changes) = fields.take_object("$set") {
            return self.change(Fields(changes), session);
        }
        if fields.0.contains_key("sessionId") && !fields.0.contains_key("type") {
            return self.document(fields, session);
        }
        let value = Value::Object(fields.0);
        let own = fingerprint(&value);
        self.record(own, read(value, &HashSet::new())?, session)
    }

    /// Takes a whole session, or the line that begins one.
    fn document(
        &mut self,
        mut fields: Fields,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let messages = fields.take_list("messages").unwrap_or_default();
        // Read everything before adding anything.
        let read = read_list(messages)?;
        self.flush(session)?;
        let id = self.about.get("sessionId");
        if id.is_some() && id != fields.0.get("sessionId") {
            session.state.counts.conversations += 1;
            self.records.clear();
            self.turn("cleared", session)?;
        }
        self.about = fields.0;
        read.into_iter().try_for_each(|(own, record)| self.record(own, record, session))
    }

    /// Takes a change of the session, which may replace its messages.
    fn change(
        &mut self,
        mut fields: Fields,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let messages = fields.take_list("messages").map(read_list).transpose()?;
        self.flush(session)?;
        for (name, value) in fields.0 {
            self.about.insert(name, value);
        }
        let Some(messages) = messages else { return Ok(()) };
        let known: HashMap<Box<str>, Placed> =
            self.records.drain(..).map(|record| (record.id.clone(), record)).collect();
        for (own, record) in messages {
            let same = known.get(&record.id).filter(|placed| placed.own == own);
            let placed = match same {
                Some(placed) => placed.clone(),
                None => self.number(own, record, session),
            };
            self.records.push(placed);
        }
        self.turn("compaction", session)
    }

    fn record(
        &mut self,
        own: Fingerprint,
        record: Record,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        if self.open.as_ref().is_some_and(|(_, open)| open.id != record.id) {
            self.flush(session)?;
        }
        let before = self.records.iter().position(|placed| placed.id == record.id);
        let Some(before) = before.filter(|_| !record.id.is_empty()) else {
            self.open = Some((own, record));
            return Ok(());
        };
        if self.records[before].own != own {
            self.records[before] = self.number(own, record, session);
            return self.turn("rewritten", session);
        }
        Ok(())
    }

    /// Gives numbers to the messages of a record that is not the answer of a call, or whose call is
    /// known.
    fn number(&mut self, own: Fingerprint, record: Record, session: &mut Session<'_>) -> Placed {
        let Record { id, time, body, .. } = record;
        let messages = match body {
            Body::User(message) => vec![message],
            Body::Answer(answer) => std::iter::once(answer.message).chain(answer.results).collect(),
            Body::Other(name) => {
                session.state.skip(&name);
                Vec::new()
            }
        };
        let about = |message: &Incoming| About {
            times: vec![time; message.parts.len()],
            ..About::default()
        };
        let push = |message: Incoming| {
            let about = about(&message);
            self.trail.push(message, about)
        };
        let numbers = messages.into_iter().map(push).collect();
        Placed { id, own, numbers }
    }

    /// Adds the newest record, after the call that it ended.
    fn flush(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Some((own, mut record)) = self.open.take() else { return Ok(()) };
        if let Body::Answer(answer) = &mut record.body
            && self.answers.insert(record.id.clone())
        {
            let call = CallInfo {
                model: answer.model.clone(),
                outcome: Some(Box::new(std::mem::take(&mut answer.outcome))),
                ended_at: record.time,
                ..CallInfo::default()
            };
            self.system(answer.model.clone(), session)?;
            session.begin_call(call)?;
        }
        session.state.at(record.time);
        let placed = self.number(own, record, session);
        for number in &placed.numbers {
            self.trail.append(*number, session)?;
        }
        self.records.push(placed);
        Ok(())
    }

    /// Brings the window to the records.
    fn turn(&mut self, finding: &str, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let numbers = self.records.iter().flat_map(|record| record.numbers.iter().copied());
        let target: Vec<usize> = numbers.collect();
        self.trail.turn_to(&target, finding, session)
    }

    /// Sets the model, and what is known about the session.
    fn system(
        &mut self,
        model: Option<Box<str>>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let Some(model) = model else { return Ok(()) };
        let settings = Object::from_iter([("model", Value::String(model))]);
        let mut nodes = vec![settings_node(settings, Provider::Gemini)];
        if !self.about.is_empty() {
            let about = NewNode::container(names::REQUEST_TYPE);
            nodes.push(about.attribute(names::ENTRY, Value::Object(self.about.clone())));
        }
        session.system(nodes)
    }
}

fn read_list(list: Vec<Value>) -> Result<Vec<(Fingerprint, Record)>, Shape> {
    // Results may be messages of their own as well.
    let answered = answered_in(&list);
    let read = |(index, value): (usize, Value)| {
        let own = fingerprint(&value);
        let record = read(value, &answered);
        Ok((own, record.map_err(|shape| shape.within(&format!("messages[{index}]")))?))
    };
    list.into_iter().enumerate().map(read).collect()
}
