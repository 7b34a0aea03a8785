//! Fills a context: messages become blocks, calls become commits.
//!
//! A [`Session`] borrows a context together with the [`State`] of its import, so that the context
//! can be one in memory or the one of a store.
//!
//! - [`Session::message`] and [`Session::add`] add a message to the head ([`window`] knows which
//!   messages the tree has, [`units`] which blocks belong together);
//! - [`Session::begin_call`] commits what was added, because it is what a call sent, and
//!   [`Session::end_call`] records the call ([`calls`]);
//! - [`Session::retain`] drops messages that the next request no longer contains;
//! - in logs that are committed by turns instead, [`turn`] decides where a turn ends.
//!
//! Changes to `^sys` belong to the request that follows them.

mod calls;
mod copy;
mod list;
mod marks;
mod numbers;
mod system;
mod trail;
mod turn;
mod units;
mod window;

use std::collections::BTreeMap;

use contextree_engine::{Context, NewNode, OpError, Place, PreparedNode};
use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Incoming, Role, set};
use contextree_tree::Content;

use crate::error::ImportErrorKind;
use crate::format::Format;
use calls::OpenCall;
use numbers::{merge, needs_number};
use system::System;
use turn::{Step, Turn};
use units::Units;

pub(crate) use calls::CallInfo;
pub(crate) use copy::copies_of;
pub(crate) use list::Listed;
pub(crate) use marks::UnmarkedText;
pub(crate) use numbers::numbered;
pub(crate) use system::settings_node;
pub(crate) use trail::Trail;
pub(crate) use window::{Placed, Seen};

/// What an import has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) commits: u64,
    pub(crate) calls: u64,
    pub(crate) conversations: u64,
    pub(crate) messages: u64,
}

/// What an import knows about the context that it fills.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) provider: Provider,
    pub(crate) format: Format,
    /// Whether each call is a cycle; otherwise each turn is.
    pub(crate) by_calls: bool,
    pub(crate) counts: Counts,
    /// Entries that are not part of the conversation, by type.
    pub(crate) skipped: BTreeMap<String, u64>,
    /// What a reader noticed, by name.
    pub(crate) findings: BTreeMap<String, u64>,
    /// The messages of the tree, oldest first.
    pub(crate) window: Vec<Placed>,
    /// How many messages of the tree a request may continue; all of them unless some are pruned, and the
    /// request is to have them again.
    pub(crate) reach: Option<usize>,
    /// Whether messages of the user stay apart although an answer is between them: the answer may be
    /// pruned.
    pub(crate) keeps_apart: bool,
    /// A habit of the client whose requests are imported.
    pub(crate) unmarked_text: UnmarkedText,
    /// Sealed nodes that the next commit drops.
    drop: Vec<String>,
    /// Results that the client left out of the next request, to be replaced by a placeholder.
    clear: Vec<String>,
    /// The turn that is being filled, if turns are cycles.
    turn: Turn,
    system: System,
    units: Units,
    /// The call whose request was committed and whose answer is not complete yet.
    call: Option<OpenCall>,
    /// The user message that the next call serves.
    serves: Option<String>,
    /// The newest time of an entry that was read.
    newest: Option<i64>,
    /// The time of the log.
    time: Option<i64>,
}

/// A context that is being filled.
pub(crate) struct Session<'a> {
    pub(crate) context: &'a mut Context,
    pub(crate) state: &'a mut State,
}

/// What a log knows about a message besides its content.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// When each block was written, if they differ; otherwise the time of the log counts.
    pub(crate) times: Vec<Option<i64>>,
    /// Whether the client wrote a user message, not the user.
    pub(crate) is_context: bool,
    /// Whether the client sends the message together with the one before it, if both are the user's.
    pub(crate) is_merged: bool,
}

impl State {
    pub(crate) fn new(format: Format, by_calls: bool) -> Self {
        State {
            provider: format.provider(),
            format,
            by_calls,
            counts: Counts::default(),
            skipped: BTreeMap::new(),
            findings: BTreeMap::new(),
            window: Vec::new(),
            reach: None,
            keeps_apart: false,
            unmarked_text: UnmarkedText::default(),
            drop: Vec::new(),
            clear: Vec::new(),
            turn: Turn::default(),
            system: System::default(),
            units: Units::default(),
            call: None,
            serves: None,
            newest: None,
            time: None,
        }
    }

    /// Returns whether nothing was imported.
    pub(crate) fn is_empty(&self) -> bool {
        let Counts { commits, messages, .. } = self.counts;
        let nothing_added = self.turn == Turn::Empty && self.system.has_no_blocks();
        messages == 0 && commits == 0 && nothing_added
    }

    /// Counts an entry that is not part of the conversation.
    pub(crate) fn skip(&mut self, name: &str) {
        count(&mut self.skipped, name);
    }

    /// Counts something that the user should know.
    pub(crate) fn find(&mut self, name: &str) {
        count(&mut self.findings, name);
    }

    /// Forgets which messages are left out, because the next request has all of its messages.
    pub(crate) fn forget_left_out(&mut self) {
        self.system.forget_left_out();
    }

    /// Moves on to the time of an entry, if it is known. Notes times that run backwards; entries that
    /// were written at about the same time may be in any order.
    pub(crate) fn at(&mut self, time: Option<i64>) {
        self.look_at(time);
        self.time = self.time.max(time);
    }

    /// Notes a time that runs backwards, without moving on to it: the entry is added later.
    pub(crate) fn look_at(&mut self, time: Option<i64>) {
        const SECOND: i64 = 1_000_000_000;
        if time.is_some_and(|time| self.newest.is_some_and(|before| before - time >= SECOND)) {
            self.find("time_backwards");
        }
        self.newest = self.newest.max(time);
    }

    /// Returns the time that stamps are made from. A log without times has stamps that only count.
    fn now(&self) -> i64 {
        self.time.unwrap_or(0)
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

impl Session<'_> {
    /// Sets the content of `^sys`: settings, tools, system text. Leading nodes that did not change
    /// stay.
    pub(crate) fn system(&mut self, nodes: Vec<NewNode>) -> Result<(), ImportErrorKind> {
        let now = self.state.now();
        let system = &mut self.state.system;
        self.context.at_time(now, |context| system.set(context, nodes))
    }

    /// Records which blocks the newest request marks, and which it writes in another form than the
    /// imported one.
    pub(crate) fn marks(&mut self, marks: Object, forms: Object) -> Result<(), ImportErrorKind> {
        let (now, provider) = (self.state.now(), self.state.provider);
        let system = &mut self.state.system;
        self.context.at_time(now, |context| system.set_marks(context, provider, marks, forms))
    }

    /// Records which messages the newest request has and the tree has not, or has changed.
    pub(crate) fn left_out(&mut self, left_out: Option<Value>) -> Result<(), ImportErrorKind> {
        let (now, provider) = (self.state.now(), self.state.provider);
        let system = &mut self.state.system;
        self.context.at_time(now, |context| system.set_left_out(context, provider, left_out))
    }

    /// Adds a message of a log without requests. System messages before any other are added to
    /// `^sys`.
    pub(crate) fn single(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        // Responses has items of every role in its list.
        let is_first = self.state.counts.messages == 0;
        let leads = is_first && self.state.provider != Provider::OpenAiResponses;
        if message.role == Role::System && leads {
            let now = self.state.now();
            let system = &mut self.state.system;
            let nodes = message.into_nodes();
            return self.context.at_time(now, |context| system.add_leading(context, nodes));
        }
        self.message(message)
    }

    /// Adds a message. If it is an answer, a call ends with it that sent everything before it.
    pub(crate) fn message(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        self.message_of(message, CallInfo::default())
    }

    /// Like [`Session::message`], but with what the log knows about the call.
    pub(crate) fn message_of(
        &mut self,
        message: Incoming,
        call: CallInfo,
    ) -> Result<(), ImportErrorKind> {
        // The items of one answer of Responses are written one by one.
        let goes_on = self.state.provider == Provider::OpenAiResponses
            && self.state.window.last().is_some_and(|last| last.role == Role::Assistant);
        if message.role == Role::Assistant && !goes_on {
            self.begin_call(call)?;
        }
        self.add(message, &About::default())
    }

    /// Adds a message that does not end a call, or whose call was begun.
    pub(crate) fn add(&mut self, message: Incoming, about: &About) -> Result<(), ImportErrorKind> {
        let Incoming { role, mut parts } = message;
        self.state.counts.messages += 1;
        let number = self.state.window.len() as u64 + 1;
        let has_results = parts.iter().any(|part| part.kind.as_deref() == Some("result"));
        self.advance(Step::of(role, has_results))?;
        let provider = self.state.provider;
        let last = self.state.window.last().map(|last| last.role);
        let keeps_apart = self.state.keeps_apart && role != Role::Assistant;
        let before = last.map(|last| if keeps_apart { role } else { last });
        if before.is_some_and(|before| merge(provider, before, role)) && !about.is_merged {
            parts.iter_mut().for_each(|part| set(part, names::APART, number));
        }
        if needs_number(role, parts.len()) {
            parts.iter_mut().for_each(|part| set(part, names::MESSAGE, number));
        }
        let opened = self.state.units.assign(provider, role, &mut parts, number);
        let cycle = self.context.next_cycle();
        let is_summary = parts.iter().any(|part| part.kind.as_deref() == Some("summary"));
        let mut nodes = Vec::with_capacity(parts.len());
        for (index, part) in parts.into_iter().enumerate() {
            let time = about.times.get(index).copied().flatten();
            self.state.time = self.state.time.max(time);
            nodes.push(self.block(role, part, time)?);
        }
        let is_prompt = role == Role::User && !has_results && !about.is_context;
        if is_prompt {
            self.state.serves = nodes.first().cloned();
        }
        let placed = Placed { role, nodes, cycle, is_prompt, is_summary, opened, seen: None };
        self.state.window.push(placed);
        Ok(())
    }

    fn block(
        &mut self,
        role: Role,
        mut part: PreparedNode,
        time: Option<i64>,
    ) -> Result<String, ImportErrorKind> {
        if part.role.is_none() {
            let word = role_word(role, part.kind.as_deref());
            part.set_role(word);
        }
        // A text of a provider that is not text has a form that only the program knows which wrote it. Data without a provider is sent
        // as JSON.
        let is_strange = part.kind.as_deref() == Some("text")
            && matches!(part.content, Content::Json(_))
            && part.attributes.iter().any(|(name, _)| name == names::PROVIDER);
        if is_strange || part.kind.as_deref() == Some("foreign") {
            self.state.find("foreign_block");
        }
        let now = time.unwrap_or_else(|| self.state.now());
        self.context.at_time(now, |context| context.add(Place::head(), part)).map_err(refused)
    }

    /// Adds a block to `^sys` unchanged.
    pub(crate) fn add_system(&mut self, node: NewNode) -> Result<(), ImportErrorKind> {
        let now = self.state.now();
        self.context.at_time(now, |context| context.add(Place::system(), node)).map_err(refused)?;
        self.advance(Step::Addition)
    }

    /// Adds the block of a flat log unchanged. Its role alone decides whether it ends the turn.
    pub(crate) fn flat(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        let role = message.role;
        if role == Role::Assistant {
            self.begin_call(CallInfo::default())?;
        }
        self.advance(Step::of(role, false))?;
        self.state.counts.messages += 1;
        let cycle = self.context.next_cycle();
        let now = self.state.now();
        let mut nodes = Vec::new();
        for part in message.parts {
            let added = self.context.at_time(now, |context| context.add(Place::head(), part));
            nodes.push(added.map_err(refused)?);
        }
        let is_prompt = role == Role::User;
        if is_prompt {
            self.state.serves = nodes.first().cloned();
        }
        self.state.window.push(Placed { nodes, cycle, is_prompt, ..Placed::of(role) });
        Ok(())
    }

    /// If turns are cycles: commits the turn if the next message does not belong to it, then takes
    /// the message's step.
    fn advance(&mut self, step: Step) -> Result<(), ImportErrorKind> {
        if self.state.turn.ends_before(step) && !self.state.by_calls {
            self.commit()?;
        }
        self.state.turn = self.state.turn.after(step);
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
