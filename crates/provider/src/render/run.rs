//! From parts to messages, and from messages to bytes.

use std::collections::HashSet;

use contextree_json::Value;
use contextree_tree::{Class, NodeRef, Region};

use super::fit::uses_ids_once;
use super::order::take;
use super::out::Mark;
use super::wire::wire_call_id;
use super::{Loss, LossKind, Message, Out, Wire};
use crate::parts::{Kind, Part, Role, names};

/// A conversation that is being written.
pub(crate) struct Run<'a, 'o> {
    pub(crate) wire: &'static dyn Wire,
    pub(crate) out: &'o mut Out,
    /// Calls of messages that are written, without results so far. None where results may stand anywhere.
    pub(crate) pending: Vec<Part<'a>>,
    /// The message that may go on.
    pub(crate) open: Option<Open<'a>>,
    /// Ids of calls, where each may be used once.
    pub(crate) used: &'o mut Used,
}

/// A message that may go on.
pub(crate) struct Open<'a> {
    parts: Vec<Part<'a>>,
    /// What was written before it.
    pub(crate) mark: Mark,
    /// How many ids were used before it.
    pub(crate) used: usize,
    /// The turn in which it began, and which of the turn's parts is its first.
    pub(crate) start: (usize, usize),
    /// The turn of its last part.
    turn: usize,
}

/// Ids of calls that were used, in the order of their use.
#[derive(Debug, Default)]
pub(crate) struct Used {
    order: Vec<Box<str>>,
    /// Asked for by id alone, so its order shows nowhere.
    ids: HashSet<Box<str>>,
}

impl Used {
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Takes back all but the first so many.
    pub(crate) fn truncate(&mut self, length: usize) {
        for id in self.order.drain(length.min(self.order.len())..) {
            self.ids.remove(&id);
        }
    }

    /// Uses an id; returns which use it is if it was used before.
    fn take(&mut self, id: &str) -> u32 {
        let number = (1u32..).find(|number| !self.ids.contains(&*numbered(id, *number)));
        let number = number.unwrap_or_default();
        let id = numbered(id, number);
        self.ids.insert(id.clone());
        self.order.push(id);
        if number > 1 { number } else { 0 }
    }
}

fn numbered(id: &str, number: u32) -> Box<str> {
    if number > 1 { format!("{id}_{number}").into() } else { id.into() }
}

impl<'a> Run<'a, '_> {
    /// Returns the last part so far, if its message may go on.
    pub(crate) fn last(&self) -> Option<Part<'a>> {
        self.open.as_ref()?.parts.last().copied()
    }

    /// Returns the calls that the next parts may answer; none where they may be answered anywhere.
    pub(crate) fn awaiting(&self) -> Vec<Part<'a>> {
        if self.wire.keeps_order() {
            return Vec::new();
        }
        let Some(open) = &self.open else { return self.pending.clone() };
        let mut awaiting: Vec<Part<'a>> =
            open.parts.iter().filter(|part| part.kind == Kind::Call).copied().collect();
        if open.parts.iter().any(|part| part.kind == Kind::Result) {
            awaiting.extend(&self.pending);
            for part in &open.parts {
                if part.kind == Kind::Result {
                    take(&mut awaiting, part);
                }
            }
        }
        awaiting
    }

    /// Adds the parts of a turn, in order, from the given one on.
    pub(crate) fn turn(&mut self, parts: Vec<Part<'a>>, turn: usize, from: usize) {
        for (ordinal, part) in parts.into_iter().enumerate().skip(from) {
            self.push(part, (turn, ordinal));
        }
    }

    fn push(&mut self, mut part: Part<'a>, at: (usize, usize)) {
        if part.kind == Kind::Tool {
            self.out.loss(LossKind::ToolPlace, part.node.id(), "");
            return;
        }
        let joins = self.open.as_ref().is_some_and(|open| {
            let last = open.parts.last();
            last.is_some_and(|last| self.wire.joins(last, &part, open.turn == at.0))
        });
        let mut open = match self.open.take() {
            Some(open) if joins => open,
            before => {
                self.open = before;
                self.flush();
                let (mark, used) = (self.out.mark(), self.used.len());
                Open { parts: Vec::new(), mark, used, start: at, turn: at.0 }
            }
        };
        if part.moved {
            self.out.loss(LossKind::Order, part.node.id(), "");
        }
        if !self.wire.keeps_order() {
            part.repeat = self.repeat(&part, &open);
        }
        open.parts.push(part);
        open.turn = at.0;
        self.open = Some(open);
    }

    /// Returns which use of its id a call or result is, if it is not the first.
    fn repeat(&mut self, part: &Part<'a>, open: &Open<'a>) -> u32 {
        match part.kind {
            // What came without an id is sent without.
            Kind::Call if part.view().form() == Some(names::form::ANONYMOUS) => 0,
            Kind::Call => {
                let id = wire_call_id(part, &[]);
                let repeat = if uses_ids_once(self.out.rendered.provider) {
                    self.used.take(&id)
                } else {
                    // An id may be used again, but not while somebody waits for its result.
                    let waits = |it: &&Part<'_>| {
                        // Without an id, each gets one of its own.
                        it.kind == Kind::Call
                            && it.call_id().is_some()
                            && it.call_id() == part.call_id()
                    };
                    let waiting = open.parts.iter().filter(waits).count();
                    if waiting > 0 { waiting as u32 + 1 } else { 0 }
                };
                if repeat > 0 {
                    self.out.loss(LossKind::CallId, part.node.id(), &*id);
                }
                repeat
            }
            Kind::Result => {
                let same = |it: &&Part<'_>| it.call_id() == part.call_id();
                let results = open.parts.iter().filter(|it| it.kind == Kind::Result);
                let before = results.filter(same).count();
                let call = self.pending.iter().filter(same).nth(before);
                call.map_or(0, |call| call.repeat)
            }
            _ => 0,
        }
    }

    /// Writes the message that may have gone on.
    fn flush(&mut self) {
        let Some(Open { parts, .. }) = self.open.take() else { return };
        let message = Message { role: parts[0].role, parts };
        if self.wire.keeps_order() {
            return self.write_in_order(&message);
        }
        let calls = self.pending.clone();
        let mut answers = false;
        for part in &message.parts {
            if part.kind == Kind::Result {
                answers |= take(&mut self.pending, part);
            }
        }
        let mut missing = Vec::new();
        if self.wire.answers_together() && message.role != Role::Assistant {
            missing = std::mem::take(&mut self.pending);
            self.note_missing(&missing);
        } else if !answers {
            self.write_missing();
        }
        self.write(&message, &calls, &missing);
        self.pending.extend(message.parts.iter().filter(|part| part.kind == Kind::Call));
    }

    /// Writes a message where results may stand anywhere: what will not come is said directly behind it.
    fn write_in_order(&mut self, message: &Message<'a>) {
        let answered = message.parts.iter().filter_map(|part| part.call);
        let calls: Vec<Part<'a>> = answered.map(|node| Part::of(node, Region::Seq)).collect();
        self.write(message, &calls, &[]);
        let mut missing: Vec<Part<'a>> = message.parts.clone();
        missing.retain(|it| it.open && it.kind == Kind::Call && !self.wire.may_stay_open(it));
        if !missing.is_empty() {
            self.note_missing(&missing);
            self.wire.missing(self.out, &missing);
        }
    }

    fn write(&mut self, message: &Message<'a>, calls: &[Part<'a>], missing: &[Part<'a>]) {
        let (losses, messages) = (self.out.rendered.losses.len(), self.out.messages);
        self.wire.message(self.out, message, calls, missing);
        if !self.wire.minds_fields() {
            let written = self.out.messages != messages;
            self.note_fields(&message.parts[usize::from(written)..], losses);
        }
    }

    /// Notes fields of messages that were not written, or joined to another: only those of the first have a place.
    fn note_fields(&mut self, parts: &[Part<'a>], losses: usize) {
        for part in parts {
            let fields = part.node.attribute(names::MESSAGE_EXTRA).and_then(Value::as_object);
            let Some(fields) = fields else { continue };
            let id = part.node.id();
            let names = fields.keys().collect::<Vec<&str>>().join(", ");
            let mut noted = self.out.rendered.losses[losses..].iter();
            let same = |loss: &Loss| loss.kind == LossKind::Field && loss.detail == names;
            if !noted.any(|loss| loss.node == id && same(loss)) {
                self.out.loss(LossKind::Field, id, names);
            }
        }
    }

    fn write_missing(&mut self) {
        let missing = std::mem::take(&mut self.pending);
        if !missing.is_empty() {
            self.note_missing(&missing);
            self.wire.missing(self.out, &missing);
        }
    }

    fn note_missing(&mut self, calls: &[Part<'a>]) {
        for call in calls {
            self.out.loss(LossKind::MissingResult, call.node.id(), "");
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(&mut self) {
        self.flush();
        self.write_missing();
    }
}

/// Returns the blocks below a node as parts, in the order in which they stand.
pub(crate) fn parts_of(top: NodeRef<'_>, region: Region) -> Vec<Part<'_>> {
    let blocks = top.subtree().filter(|(_, node)| node.class() == Class::Block);
    blocks.map(|(_, node)| Part::of(node, region)).collect()
}
