//! The tree of entries: what precedes an entry, and which entries belong to the request of a call.
//!
//! One answer of the model is written as several entries with the same message id, and parallel calls
//! and their results are on branches of their own. Maps are never iterated, so their order cannot
//! affect output.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::read::{Above, Body, Entry, Kept, Which};

/// The entries of a log, linked.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) entries: Vec<Entry>,
    /// The position of each entry by id.
    places: HashMap<Box<str>, usize>,
    /// The entries of each answer.
    answers: HashMap<Box<str>, Vec<usize>>,
    /// The entries with results, by the id of their call.
    results: HashMap<Box<str>, Vec<usize>>,
    /// The first entry with a message, by its time and the hash of what it says.
    said: HashMap<(i64, u64), usize>,
    /// Compactions whose summary was not read yet.
    compactions: Vec<Kept>,
    /// Where entries continue that follow the summary of a compaction.
    redirected: HashMap<usize, usize>,
    /// Entries whose parent is not in the log.
    pub(super) missing: HashSet<usize>,
}

/// The entries that lead to an entry.
pub(super) struct Chain {
    /// The position in the window of the message that they continue; `None` if they begin a
    /// conversation.
    pub(super) anchor: Option<usize>,
    /// Entries that are not part of the window, oldest first.
    pub(super) entries: Vec<usize>,
    /// Whether the conversation begins with a compaction.
    pub(super) is_compacted: bool,
}

impl Tree {
    /// Adds an entry, and returns its position. An entry that is repeated, as in a resumed session,
    /// is added once; a session that continues another may repeat it under another id.
    pub(super) fn push(&mut self, mut entry: Entry) -> Option<usize> {
        if self.places.contains_key(&entry.uuid) {
            return None;
        }
        let index = self.entries.len();
        if let Some(said) = said(&entry) {
            let first = *self.said.entry(said).or_insert(index);
            if first < index && self.entries[first].session != entry.session {
                self.places.insert(entry.uuid, first);
                return None;
            }
        }
        if entry.uuid.is_empty() {
            entry.uuid = format!("#{index}").into();
        }
        self.places.insert(entry.uuid.clone(), index);
        self.compactions.extend(entry.kept.take());
        self.register(index, &entry);
        self.entries.push(entry);
        Some(index)
    }

    fn register(&mut self, index: usize, entry: &Entry) {
        if entry.aside {
            return;
        }
        if let Some(answer) = &entry.answer {
            self.answers.entry(answer.id.clone()).or_default().push(index);
        }
        for call in &entry.results {
            self.results.entry(call.clone()).or_default().push(index);
        }
    }

    /// Returns whether an entry of this answer was read.
    pub(super) fn has_answer(&self, answer: &str) -> bool {
        self.answers.contains_key(answer)
    }

    /// Returns whether an entry repeats one that was read, under its own id or another.
    pub(super) fn is_repeated(&self, entry: &Entry) -> bool {
        let same = |index: &usize| same_content(&self.entries[*index], entry);
        let answer = entry.answer.as_ref().and_then(|answer| self.answers.get(&answer.id));
        self.places.contains_key(&entry.uuid)
            || match said(entry) {
                Some(said) => self.said.contains_key(&said),
                None => answer.is_some_and(|members| members.iter().any(same)),
            }
    }

    /// Returns the entries of an answer in the order of the log, each content once: a session that
    /// was resumed may repeat them under other ids.
    pub(super) fn members(&self, answer: &str) -> Vec<usize> {
        let mut members: Vec<usize> = Vec::new();
        for index in self.answers.get(answer).into_iter().flatten().copied() {
            let entry = &self.entries[index];
            let is_same = |other: &usize| same_content(&self.entries[*other], entry);
            if !members.iter().any(is_same) {
                members.push(index);
            }
        }
        members
    }

    /// Returns the entries with the results of these calls that are not part of the window, in the
    /// order of the log.
    fn results_of(&self, calls: impl Iterator<Item = usize>) -> Vec<usize> {
        let calls = calls.flat_map(|index| &self.entries[index].calls);
        let first = calls.filter_map(|call| {
            let all = self.results.get(call)?;
            // Of several, the one that was added, or else the first.
            let added = all.iter().find(|index| self.entries[**index].group.is_some());
            added.or(all.first()).copied()
        });
        let mut found: Vec<usize> =
            first.filter(|index| self.entries[*index].group.is_none()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the first entry of an answer: the one that does not follow another of its entries.
    pub(super) fn first_of(&mut self, members: &[usize]) -> Option<usize> {
        let first = members.iter().copied().find(|index| {
            let above = self.above(*index);
            above.is_none_or(|above| !members.contains(&above))
        });
        first.or(members.first().copied())
    }

    /// Returns the entry before an entry.
    fn above(&mut self, index: usize) -> Option<usize> {
        let found = match &self.entries[index].above {
            Above::Nothing => None,
            Above::At(at) => return Some(*at),
            Above::Line => self.line_before(index),
            Above::Entry(uuid) => match self.places.get(uuid) {
                Some(above) => Some(*above),
                // The program did not write it, but the model saw what precedes it in the log.
                None => {
                    self.missing.insert(index);
                    self.line_before(index)
                }
            },
        };
        found.map(|above| self.redirected.get(&above).copied().unwrap_or(above))
    }

    /// Returns the last entry of the same conversation that was written before this one.
    fn line_before(&self, index: usize) -> Option<usize> {
        let entry = &self.entries[index];
        let is_same = |other: &&Entry| other.aside == entry.aside && other.session == entry.session;
        self.entries[..index].iter().rposition(|other| is_same(&other))
    }

    /// Returns the last entry that a compaction kept after this one, if it is the summary of one.
    pub(super) fn after(&mut self, index: usize) -> usize {
        self.settle_compactions();
        self.redirected.get(&index).copied().unwrap_or(index)
    }

    /// Returns the entries that lead to an entry, without the entry itself.
    pub(super) fn chain(&mut self, index: usize) -> Chain {
        self.settle_compactions();
        let mut entries = Vec::new();
        let mut seen = HashSet::from([index]);
        let mut next = self.above(index);
        let mut is_compacted = false;
        // In a cycle of parents, each entry is visited once.
        while let Some(at) = next.filter(|at| seen.insert(*at)) {
            let entry = &self.entries[at];
            if let Some(group) = entry.group {
                entries.reverse();
                return Chain { anchor: Some(group), entries, is_compacted: false };
            }
            is_compacted = entry.is_boundary;
            entries.push(at);
            next = self.above(at);
        }
        entries.reverse();
        Chain { anchor: None, entries, is_compacted }
    }

    /// Arranges entries as messages: the entries of an answer together, then the results of its calls.
    /// `before` are the entries of the answer that they continue.
    pub(super) fn arrange(&self, before: &[usize], chain: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut placed: HashSet<usize> = HashSet::new();
        let add_results = |groups: &mut Vec<Vec<usize>>,
                           placed: &mut HashSet<usize>,
                           results: Vec<usize>| {
            let results: Vec<usize> = results.into_iter().filter(|it| placed.insert(*it)).collect();
            match groups.last_mut() {
                _ if results.is_empty() => {}
                Some(last) if self.entries[last[0]].is_results() => last.extend(results),
                _ => groups.push(results),
            }
        };
        add_results(&mut groups, &mut placed, self.results_of(before.iter().copied()));
        for index in chain.iter().copied() {
            let entry = &self.entries[index];
            if !entry.is_message() || placed.contains(&index) {
                continue;
            }
            if let Some(answer) = &entry.answer {
                let members = self.members(&answer.id);
                let members: Vec<usize> = members
                    .into_iter()
                    .filter(|it| self.entries[*it].group.is_none() && placed.insert(*it))
                    .collect();
                if members.is_empty() {
                    continue;
                }
                groups.push(members.clone());
                add_results(&mut groups, &mut placed, self.results_of(members.into_iter()));
            } else if entry.is_results() {
                add_results(&mut groups, &mut placed, vec![index]);
            } else if placed.insert(index) {
                groups.push(vec![index]);
            }
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        groups
    }

    /// Puts the entries that compactions kept after their summaries. They are entries of their own
    /// from then on, because the model sees them in another place.
    fn settle_compactions(&mut self) {
        for kept in std::mem::take(&mut self.compactions) {
            let Some(anchor) = self.places.get(&kept.anchor).copied() else {
                self.compactions.push(kept);
                continue;
            };
            let originals = self.kept_entries(&kept.which, anchor);
            let mut above = anchor;
            for original in originals {
                let index = self.entries.len();
                let mut copy = self.entries[original].clone();
                copy.above = Above::At(above);
                copy.group = None;
                if let Body::Message(_) = &copy.body {
                    self.entries[original].body = Body::Nothing;
                }
                self.places.insert(copy.uuid.clone(), index);
                self.supersede(original, index);
                self.entries.push(copy);
                above = index;
            }
            if above != anchor {
                self.redirected.insert(anchor, above);
            }
        }
    }

    /// Finds the entries that were kept.
    fn kept_entries(&mut self, which: &Which, anchor: usize) -> Vec<usize> {
        let place = |uuid: &str| self.places.get(uuid).copied();
        match which {
            Which::List(list) => {
                list.iter().filter_map(|uuid| place(uuid)).filter(|it| *it != anchor).collect()
            }
            Which::Segment { first, last } => {
                let (Some(first), Some(last)) = (place(first), place(last)) else {
                    return Vec::new();
                };
                let mut list = vec![last];
                let mut seen = HashSet::from([last]);
                let mut at = last;
                while at != first {
                    match self.above(at).filter(|above| seen.insert(*above)) {
                        Some(above) => at = above,
                        None => return Vec::new(),
                    }
                    list.push(at);
                }
                list.reverse();
                if list.contains(&anchor) { Vec::new() } else { list }
            }
        }
    }

    /// Replaces an entry by its copy in the lists of answers and results.
    fn supersede(&mut self, original: usize, copy: usize) {
        let entry = &self.entries[original];
        let answer = entry.answer.as_ref().and_then(|answer| self.answers.get_mut(&answer.id));
        let replace = |list: &mut Vec<usize>| {
            for index in list.iter_mut().filter(|index| **index == original) {
                *index = copy;
            }
        };
        answer.into_iter().for_each(replace);
        for call in &entry.results {
            self.results.get_mut(call).into_iter().for_each(replace);
        }
    }

    /// Returns the end of the conversation among the entries before a position: the newest one that can
    /// be it, or a descendant that was written before it.
    pub(super) fn newest_end(&mut self, before: usize) -> Option<usize> {
        let may_end = |entry: &Entry| entry.may_end && !entry.aside;
        let mut end = self.entries[..before].iter().rposition(may_end)?;
        let before = self.chain(end).entries;
        loop {
            let uuid = self.entries[end].uuid.clone();
            let follows =
                |entry: &Entry| matches!(&entry.above, Above::Entry(above) if *above == uuid);
            let below = (0..end).rev().find(|index| {
                let entry = &self.entries[*index];
                let is_new = entry.group.is_none() && !before.contains(index);
                is_new && may_end(entry) && follows(entry)
            });
            match below {
                Some(below) => end = below,
                None => return Some(end),
            }
        }
    }
}

/// Returns the time of an entry with a message, and the hash of what it says.
fn said(entry: &Entry) -> Option<(i64, u64)> {
    let time = entry.time.filter(|_| !entry.aside)?;
    let Body::Message(message) = &entry.body else { return None };
    let mut hasher = DefaultHasher::new();
    entry.answer.as_ref().map(|answer| &answer.id).hash(&mut hasher);
    (&entry.calls, &entry.results).hash(&mut hasher);
    for part in &message.parts {
        part.kind.hash(&mut hasher);
        match part.content.as_text() {
            Some(text) => text.hash(&mut hasher),
            None => part.attributes.len().hash(&mut hasher),
        }
    }
    Some((time, hasher.finish()))
}

/// Returns whether two entries of an answer have the same content.
fn same_content(left: &Entry, right: &Entry) -> bool {
    match (&left.body, &right.body) {
        (Body::Message(left), Body::Message(right)) => {
            left.parts.len() == right.parts.len()
                && left.parts.iter().zip(&right.parts).all(|(left, right)| {
                    let said =
                        |(name, _): &&(String, contextree_json::Value)| name.starts_with("data_");
                    left.kind == right.kind
                        && left.content == right.content
                        && left
                            .attributes
                            .iter()
                            .filter(said)
                            .eq(right.attributes.iter().filter(said))
                })
        }
        // Once they are added, only calls can be compared.
        _ => !left.calls.is_empty() && left.calls == right.calls,
    }
}
