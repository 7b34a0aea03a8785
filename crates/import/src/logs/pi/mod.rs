//! Reads sessions of pi: a tree of entries, in which every answer of the model is a call that sent
//! what leads to it. The first version wrote a list instead of a tree.
//!
//! A compaction puts its summary before the entries that it kept. A call that failed or was aborted
//! is recorded with what it said so far; pi does not send that again.

mod read;

use std::collections::{HashMap, HashSet};

use contextree_engine::NewNode;
use contextree_json::{Object, Value};
use contextree_provider::parts::names;
use contextree_provider::read::{Incoming, Shape};

use super::Log;
use crate::error::ImportErrorKind;
use crate::session::{About, CallInfo, Session, Trail, settings_node};
use read::{Above, Answer, Entry, Kept, Step, read};

/// Reads sessions.
#[derive(Debug, Default, Clone)]
pub(crate) struct Pi {
    /// Every entry, the header included: compactions of the first version count it.
    places: Vec<Place>,
    /// The position of each entry by id. Never iterated, so its order cannot affect output.
    by_id: HashMap<Box<str>, usize>,
    trail: Trail,
    /// What the header says about the session.
    about: Object,
}

/// What is known about an entry.
#[derive(Debug, Clone)]
struct Place {
    above: Option<usize>,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Nothing,
    /// A message, by its number.
    Message(usize),
    /// A summary, by its number, and the first entry that was kept.
    Compaction(usize, Option<usize>),
}

impl Log for Pi {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Value::Array(list) = value else { return self.step(read(value)?, session) };
        // Read everything before changing anything, so that a bad list adds nothing.
        let entries: Vec<Entry> = list.into_iter().map(read).collect::<Result<_, Shape>>()?;
        entries.into_iter().try_for_each(|entry| self.step(entry, session))
    }
}

impl Pi {
    fn step(&mut self, entry: Entry, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Entry { id, above, time, step } = entry;
        if id.as_ref().is_some_and(|id| self.by_id.contains_key(id)) {
            session.state.skip("repeated_entry");
            return Ok(());
        }
        let position = self.places.len();
        let above = match above {
            Above::Nothing => None,
            Above::Line => position.checked_sub(1),
            Above::Entry(id) => match self.by_id.get(&id) {
                Some(above) => Some(*above),
                None => {
                    session.state.find("missing_parent");
                    position.checked_sub(1)
                }
            },
        };
        self.places.push(Place { above, what: What::Nothing });
        if let Some(id) = id {
            self.by_id.insert(id, position);
        }
        match step {
            Step::Session(fields) => {
                if position > 0 {
                    session.state.counts.conversations += 1;
                }
                // Another session in the same file begins anew.
                self.places[position].above = None;
                self.about = fields;
                Ok(())
            }
            Step::Message(message, is_context) => {
                self.follow(position, session)?;
                session.state.at(time);
                let is_merged = message.parts.iter().any(|it| it.kind.as_deref() == Some("result"));
                let about = About { is_context, is_merged, ..About::default() };
                self.append(message, about, session)
            }
            Step::Answer(answer) => {
                self.follow(position, session)?;
                self.answer(*answer, time, session)
            }
            Step::Compaction(summary, kept) => {
                session.state.at(time);
                let about = About { is_context: true, ..About::default() };
                let number = self.trail.push(summary, about);
                let kept = match kept {
                    Kept::Id(id) => self.by_id.get(&id).copied(),
                    Kept::Position(position) => Some(position),
                    Kept::Nothing => None,
                };
                self.places[position].what = What::Compaction(number, kept);
                self.trail.turn_to(&self.path(position), "compaction", session)
            }
            Step::Other(name) => {
                session.state.skip(&name);
                Ok(())
            }
        }
    }

    /// Adds the message of the newest entry.
    fn append(
        &mut self,
        message: Incoming,
        about: About,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let number = self.trail.push(message, about);
        if let Some(last) = self.places.last_mut() {
            last.what = What::Message(number);
        }
        self.trail.append(number, session)
    }

    fn answer(
        &mut self,
        answer: Answer,
        ended_at: Option<i64>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let Answer { message, said, provider, model, started_at, outcome, failed } = answer;
        session.state.provider = provider;
        let mut nodes: Vec<NewNode> = Vec::new();
        if let Some(model) = &model {
            let settings = Object::from_iter([("model", Value::String(model.clone()))]);
            nodes.push(settings_node(settings, provider));
        }
        if !self.about.is_empty() {
            let about = NewNode::container(names::REQUEST_TYPE);
            nodes.push(about.attribute(names::ENTRY, Value::Object(self.about.clone())));
        }
        session.system(nodes)?;
        if let Some(status) = failed {
            session.state.at(started_at);
            session.failed_call(status, ended_at)?;
            if let Some(said) = said {
                session.keep_answer(said);
            }
            session.state.at(ended_at);
            return Ok(());
        }
        let call = CallInfo {
            model,
            started_at,
            provider: Some(provider),
            outcome: Some(Box::new(outcome)),
            ended_at,
            ..CallInfo::default()
        };
        session.begin_call(call)?;
        session.state.at(ended_at);
        self.append(message, About::default(), session)
    }

    /// Brings the window to what leads to an entry, unless it continues the entry before it.
    fn follow(
        &mut self,
        position: usize,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let above = self.places[position].above;
        if above.is_some() && above == position.checked_sub(1) {
            return Ok(());
        }
        let target = above.map_or_else(Vec::new, |above| self.path(above));
        let finding = if target.is_empty() { "cleared" } else { "rewound" };
        self.trail.turn_to(&target, finding, session)
    }

    /// Returns the messages that the model sees after an entry.
    fn path(&self, position: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(position);
        // In a cycle of parents, each entry is visited once.
        while let Some(at) = next.filter(|at| *at < self.places.len() && seen.insert(*at)) {
            path.push(at);
            next = self.places[at].above;
        }
        path.reverse();
        let message = |at: &usize| match self.places[*at].what {
            What::Message(number) => Some(number),
            _ => None,
        };
        let compaction = path.iter().enumerate().rev().find_map(|(index, at)| {
            let What::Compaction(number, kept) = self.places[*at].what else { return None };
            Some((index, number, kept))
        });
        let Some((index, number, kept)) = compaction else {
            return path.iter().filter_map(message).collect();
        };
        let first = kept.and_then(|kept| path[..index].iter().position(|at| *at == kept));
        let kept = path[first.unwrap_or(index)..].iter().filter_map(message);
        std::iter::once(number).chain(kept).collect()
    }
}
