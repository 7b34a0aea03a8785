//! Which context a call belongs to.
//!
//! Calls are compared with the conversations of their group: those of the context that the caller names, those of the client's session,
//! or all others. Within a group, the conversation with the closest relation is continued. A conversation whose call is still running
//! cannot be continued, because its answer is not known: a call beside it gets a context of its own, forked where the two share a past.

use contextree::import::{Outline, Overlap};
use contextree::store::Session;
use contextree::{Cycle, SnapshotAddress};

use super::lane::{Group, Lane};
use super::names::{of_session, sibling};
use super::{NewCall, Recorder, Relation};
use crate::Error;

impl Recorder {
    /// Returns the conversation that a call belongs to, and how it relates to it. Creates the context if there is none.
    pub(super) fn assign(
        &mut self,
        call: &NewCall,
        outline: &Outline,
    ) -> Result<(usize, Relation), Error> {
        let group = match (&call.target, &call.conversation) {
            (Some(target), _) => Group::Named(target.clone()),
            (None, Some(conversation)) => Group::Session(conversation.session.clone()),
            (None, None) => Group::Other,
        };
        let main = match &group {
            Group::Named(name) => Some(name.clone()),
            Group::Session(session) => Some(of_session(&self.base, session)),
            Group::Other => None,
        };
        if let Some(main) = &main
            && !self.lanes.iter().any(|lane| lane.groups.contains(&group))
        {
            self.reopen(main, &group, call)?;
        }
        if let Some((index, overlap)) = self.closest(&group, call, outline) {
            return Ok((index, relation(overlap)));
        }
        let from = self.shared(&group, call, outline);
        let name = match main {
            None => self.next_number()?,
            Some(main) => match self.lanes.iter().any(|lane| lane.groups.contains(&group)) {
                true => {
                    let lanes = &self.lanes;
                    sibling(&self.store, &main, |name| lanes.iter().any(|lane| lane.name == name))?
                }
                false => main,
            },
        };
        let (session, relation) = match from {
            Some((from, cycle)) => {
                let from = self.lanes[from].name.clone();
                let at = Some(SnapshotAddress::from(cycle));
                let session = self.store.for_new(&name)?.fork(&from, at, &name)?;
                (session, Relation::Forked { from })
            }
            None => (self.store.for_new(&name)?.create(&name, &self.settings)?, Relation::New),
        };
        let index = self.push(&name, group, call, session)?;
        Ok((index, relation))
    }

    /// Opens what was recorded of a group before.
    fn reopen(&mut self, main: &str, group: &Group, call: &NewCall) -> Result<(), Error> {
        let mut name = main.to_owned();
        let mut number = 1u32;
        while self.store.find(&name)?.is_some() {
            // Two lanes would not know of each other's calls.
            if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.name == name) {
                lane.groups.push(group.clone());
            } else {
                let session = self.store.session(&name)?;
                self.push(&name, group.clone(), call, session)?;
            }
            number += 1;
            name = format!("{main}.{number}");
        }
        Ok(())
    }

    fn push(
        &mut self,
        name: &str,
        group: Group,
        call: &NewCall,
        session: Session,
    ) -> Result<usize, Error> {
        let lane = Lane::open(name, group, call.conversation.as_ref(), call.provider, session)?;
        self.lanes.push(lane);
        Ok(self.lanes.len() - 1)
    }

    /// Returns the conversation that a call continues.
    fn closest(
        &self,
        group: &Group,
        call: &NewCall,
        outline: &Outline,
    ) -> Option<(usize, Overlap)> {
        let agent = call.conversation.as_ref().and_then(|it| it.agent.as_ref());
        let is_named = matches!(group, Group::Named(_));
        let fits = |lane: &Lane, overlap: Overlap| {
            if lane.trace.sent().is_empty() {
                return true;
            }
            let same = outline.has_preamble_of(lane.trace.sent());
            match overlap {
                Overlap::Named | Overlap::Continues(_) => true,
                Overlap::Nothing => false,
                // A call that names the conversation also has some of its messages, and other instructions.
                Overlap::Fragments => same,
                // One message alone, such as the question, is also sent to name the conversation, or to a subagent.
                _ => same || overlap.common() > 1,
            }
        };
        // The more messages are shared, the closer; among equals, tools and system text decide, then the kind of relation.
        let rank = |lane: &Lane, overlap: Overlap| {
            let same = outline.has_preamble_of(lane.trace.sent());
            (overlap == Overlap::Named, overlap.common(), same, overlap)
        };
        let mut found: Option<(usize, Overlap)> = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            let is_own = lane.groups.contains(group)
                && lane.provider == call.provider
                && (is_named || lane.agent.as_ref() == agent);
            if !is_own || lane.running.is_some() {
                continue;
            }
            let overlap = lane.trace.overlap(outline);
            let is_closer = found.is_none_or(|(other, before)| {
                rank(lane, overlap) > rank(&self.lanes[other], before)
            });
            if is_closer && fits(lane, overlap) {
                found = Some((index, overlap));
            }
        }
        found
    }

    /// Returns the conversation that a call shares its past with, and the newest snapshot that both have.
    fn shared(&self, group: &Group, call: &NewCall, outline: &Outline) -> Option<(usize, Cycle)> {
        let lanes = self.lanes.iter().enumerate();
        let own = lanes
            .filter(|(_, lane)| lane.groups.contains(group) && lane.provider == call.provider)
            .filter(|(_, lane)| {
                outline.has_preamble_of(lane.trace.sent())
                    || lane.trace.overlap(outline).common() > 1
            });
        let shared = own.filter_map(|(index, lane)| {
            let cycle = lane.shared_state(|length| outline.beginning(length))?;
            Some((lane.trace.overlap(outline).common(), index, cycle))
        });
        shared.max().map(|(_, index, cycle)| (index, cycle))
    }

    fn next_number(&mut self) -> Result<String, Error> {
        loop {
            self.numbered += 1;
            let name = format!("{}-{}", self.base, self.numbered);
            if self.store.find(&name)?.is_none() {
                return Ok(name);
            }
        }
    }
}

fn relation(overlap: Overlap) -> Relation {
    match overlap {
        Overlap::Same(_) => Relation::Retried,
        Overlap::Named | Overlap::Extends(_) | Overlap::Continues(_) => Relation::Continued,
        Overlap::Nothing | Overlap::Fragments | Overlap::Beginning(_) => Relation::Rewritten,
    }
}
