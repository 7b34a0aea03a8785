//! From parts to messages, and from messages to bytes.

use contextree_tree::{Class, NodeRef, Region};

use super::order::take;
use super::out::Mark;
use super::{LossKind, Message, Out, Wire, order};
use crate::parts::{Kind, Part, Role};

/// A conversation that is being written.
pub(crate) struct Run<'a, 'o> {
    pub(crate) wire: &'static dyn Wire,
    pub(crate) out: &'o mut Out,
    /// Calls of messages that are written, without results so far.
    pub(crate) pending: Vec<Part<'a>>,
    /// The message that may go on.
    pub(crate) open: Option<Open<'a>>,
}

/// A message that may go on.
pub(crate) struct Open<'a> {
    parts: Vec<Part<'a>>,
    /// What was written before it.
    pub(crate) mark: Mark,
    /// The turn in which it began, and which of the turn's parts is its first.
    pub(crate) start: (usize, usize),
    /// The turn of its last part.
    turn: usize,
}

impl<'a> Run<'a, '_> {
    /// Returns the last part so far, if its message may go on.
    pub(crate) fn last(&self) -> Option<Part<'a>> {
        self.open.as_ref()?.parts.last().copied()
    }

    /// Returns the calls that the next parts may answer.
    pub(crate) fn awaiting(&self) -> Vec<Part<'a>> {
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

    fn push(&mut self, part: Part<'a>, at: (usize, usize)) {
        if part.kind == Kind::Tool {
            self.out.loss(LossKind::ToolPlace, part.node.id(), "");
            return;
        }
        if let Some(open) = &mut self.open
            && let Some(last) = open.parts.last()
            && self.wire.joins(last, &part, open.turn == at.0)
        {
            open.parts.push(part);
            open.turn = at.0;
            return;
        }
        self.flush();
        let mark = self.out.mark();
        self.open = Some(Open { parts: vec![part], mark, start: at, turn: at.0 });
    }

    /// Writes the message that may have gone on.
    fn flush(&mut self) {
        let Some(Open { parts, .. }) = self.open.take() else { return };
        let message = Message { role: parts[0].role, parts };
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
        self.wire.message(self.out, &message, &calls, &missing);
        self.pending.extend(message.parts.iter().filter(|part| part.kind == Kind::Call));
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

/// Returns the blocks below a node as parts, in the order in which they are sent.
pub(crate) fn parts_of<'a>(
    top: NodeRef<'a>,
    region: Region,
    awaiting: Vec<Part<'a>>,
    last: Option<Part<'a>>,
    wire: &dyn Wire,
) -> Vec<Part<'a>> {
    let blocks = top.subtree().filter(|(_, node)| node.class() == Class::Block);
    order(blocks.map(|(_, node)| Part::of(node, region)).collect(), awaiting, last, wire)
}
