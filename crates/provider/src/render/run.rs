//! Groups parts into messages and has the provider's [`Wire`] write each message.
//!
//! ```text
//! part ─push→ open message ─flush→ bytes
//!             (joined parts)       results are matched with `pending` calls,
//!                                  calls without results get placeholders
//! ```
//!
//! A message stays open until a part does not join it, because a writer needs all of its parts at
//! once. The rules differ between providers:
//!
//! - Anthropic, Gemini: all results of a message's calls are in the next user message. Call ids are
//!   unique in the conversation.
//! - Chat Completions: results are `tool` messages directly after the assistant message. Call ids
//!   are unique among calls without results.
//! - Responses: results are items anywhere after their calls, which [`Pairs`](super::Pairs) has
//!   matched before this stage.

use std::collections::HashMap;

use contextree_json::Value;
use contextree_tree::{Class, NodeRef, Region};

use super::fit::uses_ids_once;
use super::order::take;
use super::out::Mark;
use super::wire::wire_call_id;
use super::{Loss, LossKind, Message, Out, Wire};
use crate::id_set::IdSet;
use crate::parts::{Kind, Part, Role, names};

/// The state of writing a conversation, part by part.
pub(crate) struct Run<'a, 'o> {
    pub(crate) wire: &'static dyn Wire,
    pub(crate) out: &'o mut Out,
    /// Calls of written messages that have no results so far. Always empty if results may follow at
    /// any distance ([`Wire::keeps_order`]).
    pub(crate) pending: Vec<Part<'a>>,
    /// The message that the next part may join. It is not written yet.
    pub(crate) open: Option<Open<'a>>,
    /// Call ids in use, for providers that require unique ids.
    pub(crate) used: &'o mut Used,
}

/// A message that further parts may join.
///
/// `mark`, `used` and `start` are what an incremental rendering needs to write the message again
/// from its first part, if the next snapshot extends it.
pub(crate) struct Open<'a> {
    parts: Vec<Part<'a>>,
    /// The end of the output before it.
    pub(crate) mark: Mark,
    /// The number of call ids in use before it.
    pub(crate) used: usize,
    /// The turn of its first part, and the position of that part in the turn.
    pub(crate) start: (usize, usize),
    /// The turn of its last part.
    turn: usize,
}

/// Call ids in use, in the order of their first use, so that the newest can be released again.
#[derive(Debug, Default)]
pub(crate) struct Used {
    ids: IdSet,
    /// By id: the first suffix that may be free. Servers that name every call `call_0` would
    /// otherwise make each of them try all suffixes before its own.
    next: HashMap<Box<str>, u32>,
    /// How `next` changed: the number of ids in use before, the id, and its entry before.
    changes: Vec<(usize, Box<str>, Option<u32>)>,
}

impl Used {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Releases all but the first `length` ids.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.ids.truncate(length);
        while let Some((_, id, before)) = self.changes.pop_if(|(at, ..)| *at >= length) {
            match before {
                Some(before) => self.next.insert(id, before),
                None => self.next.remove(&id),
            };
        }
    }

    /// Reserves an id. Returns 0 for its first use, and the suffix that makes it unique for later
    /// uses: 2, 3, ….
    fn take(&mut self, id: &str) -> u32 {
        let (length, first) = (self.len(), self.next.get(id).copied().unwrap_or(1));
        let number = (first..).find(|number| self.ids.insert(&numbered(id, *number)));
        let number = number.unwrap_or_default();
        if number < 2 {
            return 0;
        }
        let before = self.next.insert(id.into(), number + 1);
        self.changes.push((length, id.into(), before));
        number
    }
}

fn numbered(id: &str, number: u32) -> Box<str> {
    if number > 1 { format!("{id}_{number}").into() } else { id.into() }
}

impl<'a> Run<'a, '_> {
    /// Returns the last part of the open message.
    pub(crate) fn last(&self) -> Option<Part<'a>> {
        self.open.as_ref()?.parts.last().copied()
    }

    /// Returns the calls that results in the next parts may answer. Empty if results may follow at
    /// any distance: [`Pairs`](super::Pairs) has matched them already.
    pub(crate) fn awaiting(&self) -> Vec<Part<'a>> {
        if self.wire.keeps_order() {
            return Vec::new();
        }
        let Some(open) = &self.open else { return self.pending.clone() };
        let mut awaiting: Vec<Part<'a>> =
            open.parts.iter().filter(|part| part.kind == Kind::Call).copied().collect();
        // Results in the open message answer calls of the written one. The rest of those calls can
        // still be answered, because another result would join the open message.
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

    /// Adds the parts of a turn, starting with the given one.
    pub(crate) fn turn(&mut self, parts: Vec<Part<'a>>, turn: usize, from: usize) {
        for (ordinal, part) in parts.into_iter().enumerate().skip(from) {
            self.push(part, (turn, ordinal));
        }
    }

    /// Adds a part to the open message, or writes that message and opens another.
    fn push(&mut self, mut part: Part<'a>, at: (usize, usize)) {
        // Every provider lists tools apart from the conversation.
        if part.kind == Kind::Tool {
            self.out.loss(LossKind::ToolPlace, part.node.id(), "");
            return;
        }
        // Anthropic and Gemini merge adjacent messages of one side; Chat Completions joins only the
        // assistant parts of one turn or of one imported message; Responses joins what the model
        // outputs in a row.
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
        // Responses needs no suffixes: `Pairs` matches equal ids in order of appearance.
        if !self.wire.keeps_order() {
            part.repeat = self.repeat(&part, &open);
        }
        open.parts.push(part);
        open.turn = at.0;
        self.open = Some(open);
    }

    /// Returns which use of its id a call or a result is; 0 for the first.
    ///
    /// A later use is sent with this number as a suffix, the same for a call and its result. A call that
    /// came from this provider keeps its id: servers that name every call `call_0` accept it again, and
    /// a request of a log must render as it was sent.
    fn repeat(&mut self, part: &Part<'a>, open: &Open<'a>) -> u32 {
        match part.kind {
            // A call that was imported without an id is sent without one.
            Kind::Call if part.view().form() == Some(names::form::ANONYMOUS) => 0,
            Kind::Call => {
                let id = wire_call_id(part, &[]);
                // Anthropic refuses a repeated id ("`tool_use` ids must be unique"), and Gemini
                // could match a response to the wrong call.
                let is_own = part.view().is_from(self.out.rendered.provider);
                let repeat = if uses_ids_once(self.out.rendered.provider) {
                    let number = self.used.take(&id);
                    if is_own { 0 } else { number }
                } else if is_own {
                    0
                } else {
                    // Chat Completions accepts an id again once its call has a result. Results
                    // end the message, so only the calls of the open message have none yet.
                    let waits = |it: &&Part<'_>| {
                        // Calls without ids get ids made from their nodes, which differ.
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
            // Parallel calls may share an id; their results are matched in order of appearance.
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

    /// Writes the open message, with placeholders for results that can no longer follow.
    fn flush(&mut self) {
        let Some(Open { parts, .. }) = self.open.take() else { return };
        let message = Message { role: parts[0].role, parts };
        if self.wire.keeps_order() {
            return self.write_in_order(&message);
        }
        // Writers look up the call of each result here: its id, its tool name.
        let calls = self.pending.clone();
        let mut answers = false;
        for part in &message.parts {
            if part.kind == Kind::Result {
                answers |= take(&mut self.pending, part);
            }
        }
        let mut missing = Vec::new();
        if self.wire.answers_together() && message.role != Role::Assistant {
            // Anthropic and Gemini: the user message after the calls must contain all results, so
            // placeholders for the missing ones are written into it.
            missing = std::mem::take(&mut self.pending);
            self.note_missing(&missing);
        } else if !answers {
            // Chat Completions: results must directly follow the assistant message, so placeholders
            // come before any other message. After a result, more results may follow. For every
            // provider: an assistant message must not follow calls without results.
            self.write_missing();
        }
        self.write(&message, &calls, &missing);
        let needs_result =
            |part: &&Part<'_>| part.kind == Kind::Call && !self.wire.may_stay_open(part);
        self.pending.extend(message.parts.iter().filter(needs_result));
    }

    /// Writes a message of a provider that accepts results at any distance (Responses). Calls that
    /// have no result in the whole conversation get placeholders directly after the message, unless
    /// the provider accepts them without (asynchronous calls).
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

    /// Writes a message, and reports the extra fields of merged messages if the writer does not.
    fn write(&mut self, message: &Message<'a>, calls: &[Part<'a>], missing: &[Part<'a>]) {
        let (losses, messages) = (self.out.rendered.losses.len(), self.out.messages);
        self.wire.message(self.out, message, calls, missing);
        if !self.wire.reports_merged_fields() {
            // If the message was written, the fields of its first part were written with it.
            let written = self.out.messages != messages;
            self.note_fields(&message.parts[usize::from(written)..], losses);
        }
    }

    /// Reports the extra fields of messages that were dropped or merged: a message can only carry
    /// the fields of its first part. Skips losses reported since `losses`.
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

    /// Writes placeholder results for all pending calls.
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

    /// Writes the open message and the placeholders for calls at the end of the conversation.
    pub(crate) fn finish(&mut self) {
        self.flush();
        self.write_missing();
    }
}

/// Returns the blocks below a node as parts, in document order.
pub(crate) fn parts_of(top: NodeRef<'_>, region: Region) -> Vec<Part<'_>> {
    let blocks = top.subtree().filter(|(_, node)| node.class() == Class::Block);
    blocks.map(|(_, node)| Part::of(node, region)).collect()
}
