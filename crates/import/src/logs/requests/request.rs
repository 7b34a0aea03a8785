//! Brings the tree to what a request contains.

use std::ops::Range;

use contextree_engine::NewNode;
use contextree_json::{Object, Value};
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{
    Fields, Incoming, Request, Role, read_messages, read_request, role_of, set,
};
use contextree_provider::{KeyOrder, Provider};

use super::{Requests, is_blank, keep_blank, note_blank};
use crate::error::ImportErrorKind;
use crate::fingerprint::{Fingerprint, Unmarked, essence_of, write_as_text};
use crate::session::{
    About, CallInfo, Placed, Seen, Session, UnmarkedText, numbered, settings_node,
};

/// A request, compared with the messages of the tree.
struct Compared {
    /// Settings, tools and system text.
    preamble: Vec<NewNode>,
    /// The messages that the tree does not have, each with its position after the system text that
    /// comes first.
    new: Vec<(usize, Incoming)>,
    /// How each message is written, known or not.
    unmarked: Vec<Unmarked>,
    /// For a message of a single text: whether its block is recorded as a list.
    listed: Vec<Option<bool>>,
    /// How many messages the tree has.
    known: usize,
    /// The first message that repeats the last answer in another form, if there is one.
    repeats: Option<usize>,
    /// Whether a part of the last answer is not repeated.
    omits_answer: bool,
}

impl Requests {
    /// Brings the tree to what a request contains: adds the messages that it does not have, and drops
    /// those that the request does not have. Commits nothing.
    pub(crate) fn request(
        &mut self,
        fields: Fields,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        self.bring(fields, session, |message, about, session| session.add(message, &about))?;
        self.has_requests = true;
        Ok(())
    }

    /// Adds a conversation: each answer in it ended a call.
    pub(super) fn conversation(
        &mut self,
        fields: Fields,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        self.bring(fields, session, |message, _, session| session.message(message))?;
        session.settle()
    }

    /// Commits the request: it was sent.
    pub(super) fn seal(
        &mut self,
        order: Option<KeyOrder>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        session.begin_call(CallInfo { order, ..CallInfo::default() })
    }

    fn bring(
        &mut self,
        fields: Fields,
        session: &mut Session<'_>,
        add: impl Fn(Incoming, About, &mut Session<'_>) -> Result<(), ImportErrorKind>,
    ) -> Result<(), ImportErrorKind> {
        // Read everything before changing anything.
        let compared = self.compare(fields, session)?;
        let about_answer = self.drop_unknown(&compared, session)?;
        let Compared { preamble, new, unmarked, listed, repeats, .. } = compared;
        session.system(preamble)?;
        let mut new = new.into_iter().peekable();
        while let Some((first, mut message)) = new.next() {
            let mut about = About::default();
            if let Some((entry, time)) = about_answer.as_ref().filter(|_| repeats == Some(first)) {
                about.times = vec![Some(*time); message.parts.len()];
                if let (Some(entry), Some(part)) = (entry, message.parts.first_mut()) {
                    set(part, names::ENTRY, entry.clone());
                }
            }
            add(message, about, session)?;
            let next = new.peek().map_or(unmarked.len(), |(next, _)| *next);
            note(session, &unmarked, &listed, first..next);
        }
        mark(&unmarked, session)
    }

    fn compare(&self, fields: Fields, session: &Session<'_>) -> Result<Compared, ImportErrorKind> {
        let Request { settings, tools, mut system, mut messages } =
            read_request(self.provider, fields)?;
        // System text may change between requests of the same conversation.
        let leading = match self.provider {
            Provider::OpenAiChat => messages.iter().take_while(|it| is_system(it)).count(),
            _ => 0,
        };
        let window = &session.state.window;
        let first_answer = session.first_answer();
        let essences: Vec<Fingerprint> =
            messages[leading..].iter().skip(first_answer).map(essence_of).collect();
        let look = |message: &mut Value| Unmarked::take(self.provider, message);
        let unmarked: Vec<Unmarked> = messages[leading..].iter_mut().map(look).collect();
        let known = known(window, &unmarked, session.state.reach);
        let answer = &window[first_answer.max(known).min(window.len())..];
        let (repeats, omits_answer) = repeated(answer, &essences, first_answer, known);
        let mut listed: Vec<_> = unmarked.iter().map(|message| message.listed).collect();
        let becomes_string = session.state.unmarked_text == UnmarkedText::BecomesString;
        for (index, message) in unmarked.iter().enumerate().skip(known) {
            if becomes_string && !message.marks.is_empty() && message.listed == Some(true) {
                write_as_text(&mut messages[leading + index]);
                listed[index] = Some(false);
            }
        }
        let field = self.provider.messages_field();
        let mut incoming = read_messages(self.provider, messages, leading + known)
            .map_err(|shape| shape.within(field))?;
        incoming.iter_mut().for_each(|(_, message)| keep_blank(self.provider, &mut message.parts));
        for block in system.iter_mut().filter(|block| is_blank(self.provider, block)) {
            note_blank(self.provider, block);
        }
        let mut incoming = incoming.into_iter();
        for (_, message) in incoming.by_ref().take(leading) {
            let number = system.len() as u64;
            system.extend(numbered(message.into_nodes(), number));
        }
        let new = incoming.filter(|(first, _)| *first >= leading + known);
        let new = new.map(|(first, message)| (first - leading, message)).collect();
        let mut preamble = vec![settings_node(settings, self.provider)];
        preamble.extend(tools);
        preamble.append(&mut system);
        Ok(Compared { preamble, new, unmarked, listed, known, repeats, omits_answer })
    }

    /// Drops the messages that the request does not have. An answer that it does not repeat is kept
    /// with its attempt. Returns what the log says about the last answer, and its time.
    fn drop_unknown(
        &mut self,
        compared: &Compared,
        session: &mut Session<'_>,
    ) -> Result<Option<(Option<Value>, i64)>, ImportErrorKind> {
        let known = compared.known;
        let length = session.state.window.len();
        let answered = self.answered.take();
        if known == 0 {
            session.state.counts.conversations += 1;
        }
        if known == length {
            return Ok(None);
        }
        let first_answer = session.first_answer();
        let first = session.state.window.get(first_answer).and_then(|it| it.nodes.first());
        let node = first.and_then(|id| session.context.working().resolve(id));
        let about = node.map(|it| (it.attribute(names::ENTRY).cloned(), it.created_at_ns()));
        if let Some(answer) = answered.filter(|_| compared.omits_answer) {
            session.keep_answer(answer);
        }
        if known > 0 && known < first_answer {
            session.state.find("rewritten");
        }
        // What was not sent, and is not the answer to a request, would be nowhere else.
        let cycle = session.context.next_cycle();
        let is_only_here = |placed: &Placed| {
            placed.cycle == cycle && placed.seen.is_none_or(|seen| seen.essence.is_none())
        };
        let gone = &session.state.window[known..];
        if !session.state.by_calls || gone.iter().any(is_only_here) {
            session.commit()?;
        }
        session.retain(|index, _| index < known)?;
        Ok(about)
    }
}

pub(crate) fn is_system(message: &Value) -> bool {
    message.get("role").and_then(Value::as_str).is_some_and(|role| role_of(role) == Role::System)
}

/// Returns the number of leading messages that the tree has as well. A message that is written as
/// several entries is known as a whole or not at all.
fn known(window: &[Placed], unmarked: &[Unmarked], reach: Option<usize>) -> usize {
    let same = |(placed, message): &(&Placed, &Unmarked)| {
        placed.seen.is_some_and(|seen| seen.fingerprint == message.fingerprint)
    };
    let known = window.iter().zip(unmarked).take_while(same).count();
    let mut known = reach.map_or(known, |reach| known.min(reach));
    while known > 0 && window.get(known).is_some_and(|placed| placed.nodes.is_empty()) {
        known -= 1;
    }
    known
}

/// Finds the answer in what the request has in its place. Returns the position of its first message,
/// and whether something of it is missing.
fn repeated(
    answer: &[Placed],
    essences: &[Fingerprint],
    first_answer: usize,
    known: usize,
) -> (Option<usize>, bool) {
    let mut rest = essences.iter().enumerate().skip(known.saturating_sub(first_answer));
    let (mut first, mut is_missing) = (None, false);
    for placed in answer {
        let Some(essence) = placed.seen.and_then(|seen| seen.essence) else { continue };
        let mut ahead = rest.clone();
        match ahead.find(|(_, other)| **other == essence) {
            Some((index, _)) => {
                first = first.or(Some(first_answer + index));
                rest = ahead;
            }
            None => is_missing = true,
        }
    }
    (first, is_missing)
}

/// Records how the request writes the message that was added last. If it writes it as several
/// entries, the others follow without blocks.
fn note(
    session: &mut Session<'_>,
    unmarked: &[Unmarked],
    listed: &[Option<bool>],
    entries: Range<usize>,
) {
    let Some(last) = session.state.window.last() else { return };
    let (role, cycle) = (last.role, last.cycle);
    let seen = |index: usize| {
        let fingerprint = unmarked[index].fingerprint;
        Some(Seen { fingerprint, listed: listed[index], essence: None })
    };
    let first = entries.start;
    if let Some(last) = session.state.window.last_mut() {
        last.seen = seen(first);
    }
    for index in entries.skip(1) {
        let placed = Placed::continued(role, cycle, seen(index));
        session.state.window.push(placed);
    }
}

/// Records the breakpoints of a request, and the texts that it writes in another form than before.
fn mark(unmarked: &[Unmarked], session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
    let (mut marks, mut forms) = (Object::new(), Object::new());
    let mut habit = None;
    for (message, placed) in unmarked.iter().zip(&session.state.window) {
        for (part, fields) in &message.marks {
            if let Some(node) = placed.nodes.get(*part) {
                marks.insert(node, Value::Object(fields.clone()));
            }
        }
        // A text with a breakpoint is a list in any case.
        let then = placed.seen.and_then(|seen| seen.listed);
        if let (Some(now), Some(then), [node]) = (message.listed, then, &*placed.nodes)
            && now != then
            && message.marks.is_empty()
        {
            let (text, form) = match now {
                true => (UnmarkedText::StaysList, form::LIST),
                false => (UnmarkedText::BecomesString, form::TEXT),
            };
            habit = Some(text);
            forms.insert(node, Value::from(form));
        }
    }
    session.state.unmarked_text = habit.unwrap_or(session.state.unmarked_text);
    session.marks(marks, forms)
}
