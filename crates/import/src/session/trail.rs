//! Conversations that turn back: which messages of a log the window has, and what it takes to bring
//! it to others.
//!
//! Readers of logs with branches and compactions number the messages as they read them, and say
//! which of them the model sees. A message that returns, or that a compaction puts in another place,
//! is added again as a copy.

use contextree_provider::read::{Incoming, Role};
use contextree_tree::Cycle;

use super::copy::copies_of;
use super::{About, Session};
use crate::error::ImportErrorKind;

/// The messages of a log, by number.
#[derive(Debug, Default, Clone)]
pub(crate) struct Trail {
    messages: Vec<Message>,
    /// The numbers of the messages that the window has.
    window: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Message {
    about: About,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    /// Not added yet.
    New(Incoming),
    /// Added in this cycle, as these nodes.
    Added { role: Role, cycle: Cycle, nodes: Vec<String> },
    /// Refused by the engine when it was added.
    Refused,
}

impl Trail {
    /// Takes a message, and returns its number. Adds nothing.
    pub(crate) fn push(&mut self, message: Incoming, about: About) -> usize {
        self.messages.push(Message { about, body: Body::New(message) });
        self.messages.len() - 1
    }

    /// Adds a message to the end of the window.
    pub(crate) fn append(
        &mut self,
        number: usize,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        match self.take(number, session) {
            Some(message) => self.place(number, message, session),
            None => Ok(()),
        }
    }

    /// Brings the window to these messages. Those that it has and the list has not are dropped with
    /// the next commit; `finding` says why. Messages that no call has sent are committed first, so
    /// that the history has them, unless they are only moved.
    pub(crate) fn turn_to(
        &mut self,
        target: &[usize],
        finding: &str,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let same = self.window.iter().zip(target).take_while(|(left, right)| left == right);
        let known = same.count();
        let new = target[known..].iter();
        let new = new.filter_map(|number| Some((*number, self.take(*number, session)?)));
        let new: Vec<(usize, Incoming)> = new.collect();
        if known < self.window.len() {
            session.state.find(finding);
            let cycle = session.context.next_cycle();
            let gone = session.state.window.iter().zip(&self.window).skip(known);
            let mut unsent = gone.filter(|(placed, _)| placed.cycle == cycle);
            if unsent.any(|(_, number)| !target.contains(number)) {
                session.commit()?;
            }
            session.retain(|index, _| index < known)?;
            self.window.truncate(known);
        }
        new.into_iter().try_for_each(|(number, message)| self.place(number, message, session))
    }

    /// Returns a message to be added: the message itself, or a copy of what was added.
    fn take(&mut self, number: usize, session: &Session<'_>) -> Option<Incoming> {
        let body = &mut self.messages[number].body;
        if let Body::Added { role, cycle, nodes } = body {
            return Some(Incoming::new(*role, copies_of(session.context, *cycle, nodes)));
        }
        match std::mem::replace(body, Body::Refused) {
            Body::New(message) => Some(message),
            _ => None,
        }
    }

    fn place(
        &mut self,
        number: usize,
        message: Incoming,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let (role, cycle) = (message.role, session.context.next_cycle());
        session.add(message, &self.messages[number].about)?;
        let nodes = session.state.window.last().map(|last| last.nodes.clone()).unwrap_or_default();
        self.messages[number].body = Body::Added { role, cycle, nodes };
        self.window.push(number);
        Ok(())
    }
}
