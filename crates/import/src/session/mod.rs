//! The state of an import: messages become blocks, turns become commits.
//!
//! These are the transitions, the only places that commit or change the state of the turn:
//!
//! - [`Session::advance`], before a message is added: commits a turn that the message ends; then
//!   the [`Turn`] takes the message's [`Step`].
//! - [`Session::continue_request`], for a request that repeats the previous one and adds to it:
//!   commits nothing.
//! - [`Session::replace_request`], for a request that does not continue the previous one: starts a
//!   conversation in a new window.
//! - [`Session::begin_window`], also where a log drops its history: commits; the next commit
//!   removes all earlier turns.
//! - [`Session::commit`], called by the others and at the end of the log: the turn becomes
//!   [`Turn::Empty`].
//!
//! Changes to `^sys` do not start a turn, except those of [`Session::add_system`].

mod numbers;
mod seen;
mod system;
mod turn;
mod units;

use contextree_engine::{CommitOptions, Context, Limit, NewNode, OpError, Place, Policy};
use contextree_json::Object;
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Incoming, Role, set};

use crate::error::ImportErrorKind;
use crate::fingerprint::Fingerprint;
use numbers::{LastMessage, Numbering, numbering_of};
use system::System;
use turn::{Step, Turn, Window};
use units::Units;

pub(crate) use numbers::numbered;
pub(crate) use seen::{NewestRequest, UnmarkedText};
pub(crate) use system::settings_node;

/// What an import has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) commits: u64,
    pub(crate) conversations: u64,
    /// Also the number of the last message.
    pub(crate) messages: u64,
}

/// The context that is being filled.
pub(crate) struct Session {
    pub(crate) context: Context,
    pub(crate) provider: Provider,
    pub(crate) counts: Counts,
    /// The newest request of a log of requests.
    pub(crate) request: NewestRequest,
    turn: Turn,
    window: Window,
    /// The last message of the window.
    last: Option<LastMessage>,
    system: System,
    units: Units,
}

impl Session {
    pub(crate) fn new(context: Context, provider: Provider) -> Self {
        Session {
            context,
            provider,
            counts: Counts::default(),
            request: NewestRequest::default(),
            turn: Turn::default(),
            window: Window::default(),
            last: None,
            system: System::default(),
            units: Units::default(),
        }
    }

    /// Returns whether nothing was imported.
    pub(crate) fn is_empty(&self) -> bool {
        let Counts { commits, messages, .. } = self.counts;
        let nothing_added = self.turn == Turn::Empty && self.system.has_no_blocks();
        messages == 0 && commits == 0 && nothing_added
    }

    /// Sets the content of `^sys`: settings, tools, system text. Leading nodes that did not change
    /// stay.
    pub(crate) fn system(&mut self, nodes: Vec<NewNode>) -> Result<(), ImportErrorKind> {
        self.system.set(&mut self.context, nodes)
    }

    /// Records which blocks the newest request marks, and which it writes in another form than the
    /// imported one.
    pub(crate) fn marks(&mut self, marks: Object, forms: Object) -> Result<(), ImportErrorKind> {
        self.system.set_marks(&mut self.context, self.provider, marks, forms)
    }

    /// Returns the number of leading messages that the previous request had as well: a log of
    /// requests repeats the conversation so far in every line.
    pub(crate) fn known(&self, messages: &[Fingerprint]) -> usize {
        self.request.known(messages)
    }

    /// Starts a request. The caller then adds the messages that are not known.
    pub(crate) fn begin_request(
        &mut self,
        messages: Vec<Fingerprint>,
    ) -> Result<(), ImportErrorKind> {
        if self.known(&messages) == 0 {
            return self.replace_request(messages);
        }
        self.continue_request(messages);
        Ok(())
    }

    /// Continues the previous request: what it adds belongs to the open turn.
    fn continue_request(&mut self, messages: Vec<Fingerprint>) {
        self.request.continue_with(messages);
    }

    /// Replaces the previous request in the tree, because a model sees only one request; the
    /// history keeps the others.
    fn replace_request(&mut self, messages: Vec<Fingerprint>) -> Result<(), ImportErrorKind> {
        self.counts.conversations += 1;
        self.begin_window()?;
        self.request.replace_with(messages);
        Ok(())
    }

    /// Adds a message of a log without requests. System messages before any other are added to
    /// `^sys`.
    pub(crate) fn single(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        // Responses has items of every role in its list.
        let leads = self.counts.messages == 0 && self.provider != Provider::OpenAiResponses;
        if message.role == Role::System && leads {
            return self.system.add_leading(&mut self.context, message.into_nodes());
        }
        self.message(message)
    }

    /// Adds a message.
    pub(crate) fn message(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        let Incoming { role, mut parts } = message;
        self.counts.messages += 1;
        let number = self.counts.messages;
        let has_results = parts.iter().any(|part| part.kind.as_deref() == Some("result"));
        let numbering = numbering_of(role, parts.len());
        let is_apart = self.last.as_ref().is_some_and(|it| it.merges_with(self.provider, role));
        if is_apart {
            parts.iter_mut().for_each(|part| set(part, names::APART, number));
        }
        self.advance(Step::of(role, has_results))?;
        self.units.assign(self.provider, role, &mut parts, number);
        let mut nodes = Vec::with_capacity(parts.len());
        for mut part in parts {
            if numbering == Numbering::Written {
                set(&mut part, names::MESSAGE, number);
            }
            if part.role.is_none() {
                let word = role_word(role, part.kind.as_deref());
                part.set_role(word);
            }
            nodes.push(self.context.add(Place::head(), part).map_err(refused)?);
        }
        self.last = Some(LastMessage { role, nodes });
        Ok(())
    }

    /// Returns the ids of the blocks of the last message.
    pub(crate) fn last_nodes(&self) -> Vec<String> {
        self.last.as_ref().map(|last| last.nodes.clone()).unwrap_or_default()
    }

    /// Adds a block to `^sys` unchanged.
    pub(crate) fn add_system(&mut self, node: NewNode) -> Result<(), ImportErrorKind> {
        self.context.add(Place::system(), node).map_err(refused)?;
        self.advance(Step::Addition)
    }

    /// Adds the block of a flat log unchanged. Its role alone decides whether it ends the turn.
    pub(crate) fn flat(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        self.advance(Step::of(message.role, false))?;
        self.counts.messages += 1;
        for part in message.parts {
            self.context.add(Place::head(), part).map_err(refused)?;
        }
        Ok(())
    }

    /// Ends a window: the next commit removes all turns before it.
    pub(crate) fn begin_window(&mut self) -> Result<(), ImportErrorKind> {
        self.commit()?;
        let has_earlier_turns = self.counts.commits > 0;
        self.window = if has_earlier_turns { Window::Replaced } else { Window::Continued };
        self.last = None;
        self.units.end_window();
        Ok(())
    }

    /// Commits the turn, unless it is empty.
    pub(crate) fn commit(&mut self) -> Result<(), ImportErrorKind> {
        if self.turn == Turn::Empty {
            return Ok(());
        }
        let newest_only = Policy { limits: vec![Limit::Depth(1)], ..Policy::default() };
        let policy = match std::mem::take(&mut self.window) {
            Window::Continued => None,
            Window::Replaced => Some(&newest_only),
        };
        let options = CommitOptions { policy, ..CommitOptions::default() };
        let done = self.context.commit_with(&options);
        done.map_err(|error| ImportErrorKind::Commit(Box::new(error)))?;
        self.counts.commits += 1;
        self.turn = Turn::Empty;
        Ok(())
    }

    /// Commits the turn if the next message does not belong to it, then takes the message's step.
    /// The only place where a message causes a commit.
    fn advance(&mut self, step: Step) -> Result<(), ImportErrorKind> {
        if self.turn.ends_before(step) {
            self.commit()?;
        }
        self.turn = self.turn.after(step);
        Ok(())
    }
}

fn refused(error: OpError) -> ImportErrorKind {
    ImportErrorKind::Refused(Box::new(error))
}

fn role_word(role: Role, kind: Option<&str>) -> &'static str {
    match (role, kind) {
        (_, Some("result")) => "tool",
        (Role::System, _) => "system",
        (Role::User, _) => "user",
        (Role::Assistant, _) => "assistant",
        (Role::Tool, _) => "tool",
    }
}
