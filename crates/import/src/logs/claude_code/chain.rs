//! Finds the conversation in a tree of entries: the path from the first entry to the newest leaf,
//! and the entries that belong to the answers on it. Sets and maps are never iterated, so their
//! order cannot affect output.

use std::collections::{HashMap, HashSet};

use contextree_json::{Object, Value};

use super::Entry;

/// The entries that a compaction kept: they follow the anchor, which is the summary.
pub(super) struct Kept {
    anchor: Box<str>,
    which: Which,
}

enum Which {
    /// These entries, in this order.
    List(Vec<Box<str>>),
    /// All entries from the first to the last, linked by their parents.
    Segment { first: Box<str>, last: Box<str> },
}

impl Kept {
    /// Reads the kept entries from the entry that records a compaction. Streams use another
    /// spelling.
    pub(super) fn read(entry: &Object) -> Option<Self> {
        let (either, text) = (
            |value: &Value, one: &str, other: &str| {
                value.get(one).or_else(|| value.get(other)).cloned()
            },
            |value: Option<Value>| Some(Box::<str>::from(value?.as_str()?)),
        );
        let all = entry.get("compactMetadata").or_else(|| entry.get("compact_metadata"))?;
        let anchor = |it: &Value| text(either(it, "anchorUuid", "anchor_uuid"));
        if let Some(kept) = either(all, "preservedMessages", "preserved_messages")
            && let Some(list) = kept.get("uuids").and_then(Value::as_array)
        {
            let list = list.iter().filter_map(|it| Some(it.as_str()?.into())).collect();
            return Some(Kept { anchor: anchor(&kept)?, which: Which::List(list) });
        }
        let kept = either(all, "preservedSegment", "preserved_segment")?;
        let first = text(either(&kept, "headUuid", "head_uuid"))?;
        let last = text(either(&kept, "tailUuid", "tail_uuid"))?;
        Some(Kept { anchor: anchor(&kept)?, which: Which::Segment { first, last } })
    }
}

/// Returns the entries of the conversation in order.
pub(super) fn conversation(entries: &[Entry]) -> Vec<usize> {
    let places: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(index, entry)| (&*entry.uuid, index)).collect();
    let find = |uuid: &str| places.get(uuid).copied();
    let mut parents: Vec<Option<usize>> =
        entries.iter().map(|entry| find(entry.parent.as_deref()?)).collect();
    for kept in entries.iter().filter_map(|entry| entry.kept.as_ref()) {
        let moved = find(&kept.anchor).zip(kept_entries(kept, &parents, find));
        if let Some((anchor, list)) = moved {
            relink(anchor, &list, &mut parents);
        }
    }
    let leaf = newest_leaf(entries, &parents);
    leaf.map_or_else(Vec::new, |leaf| arrange(entries, &chain(leaf, &parents)))
}

/// Returns the end of the conversation: the newest entry that can be one, or a descendant of it
/// that was written before it.
fn newest_leaf(entries: &[Entry], parents: &[Option<usize>]) -> Option<usize> {
    let newest = entries.iter().rposition(|entry| entry.may_end)?;
    let mut goes_on = vec![false; entries.len()];
    for (index, _) in entries.iter().enumerate().filter(|(_, entry)| entry.may_end) {
        let mut next = parents[index];
        while let Some(above) = next
            && !std::mem::replace(&mut goes_on[above], true)
        {
            next = parents[above];
        }
    }
    if !goes_on[newest] {
        return Some(newest);
    }
    let mut children = vec![Vec::new(); entries.len()];
    for (child, parent) in parents.iter().enumerate() {
        parent.map(|parent| children[parent].push(child));
    }
    let mut open = vec![newest];
    let mut found = None;
    while let Some(index) = open.pop() {
        // Taking the children ensures that each entry is visited once.
        open.append(&mut children[index]);
        if entries[index].may_end && !goes_on[index] {
            found = found.max(Some(index));
        }
    }
    found.or(Some(newest))
}

/// Finds the entries that were kept.
fn kept_entries(
    kept: &Kept,
    parents: &[Option<usize>],
    find: impl Fn(&str) -> Option<usize>,
) -> Option<Vec<usize>> {
    let anchor = find(&kept.anchor)?;
    match &kept.which {
        Which::List(list) => {
            Some(list.iter().filter_map(|uuid| find(uuid)).filter(|it| *it != anchor).collect())
        }
        Which::Segment { first, last } => {
            let (first, last) = (find(first)?, find(last)?);
            let list = chain(last, parents);
            let begin = list.iter().position(|index| *index == first)?;
            Some(list[begin..].to_vec()).filter(|list| !list.contains(&anchor))
        }
    }
}

/// Inserts entries between the anchor and its successor.
fn relink(anchor: usize, list: &[usize], parents: &mut [Option<usize>]) {
    let Some(last) = list.last() else { return };
    for (child, parent) in parents.iter_mut().enumerate() {
        if *parent == Some(anchor) && !list.contains(&child) {
            *parent = Some(*last);
        }
    }
    let mut above = anchor;
    for index in list {
        parents[*index] = Some(above);
        above = *index;
    }
}

/// Returns the path from the first entry to this one.
fn chain(leaf: usize, parents: &[Option<usize>]) -> Vec<usize> {
    let mut seen = vec![false; parents.len()];
    let mut chain = Vec::new();
    let mut next = Some(leaf);
    // In a cycle of parents, each entry is visited once.
    while let Some(index) = next
        && !std::mem::replace(&mut seen[index], true)
    {
        chain.push(index);
        next = parents[index];
    }
    chain.reverse();
    chain
}

/// Collects what belongs to each answer: its entries, including those on other branches, and their
/// results.
fn arrange(entries: &[Entry], chain: &[usize]) -> Vec<usize> {
    let mut placed = vec![false; entries.len()];
    chain.iter().for_each(|index| placed[*index] = true);
    let mut beside = Beside::new(entries, &placed);
    placed.fill(false);
    let mut order: Vec<usize> = Vec::with_capacity(chain.len());
    for (position, index) in chain.iter().enumerate() {
        if std::mem::replace(&mut placed[*index], true) {
            continue;
        }
        order.push(*index);
        let Some(answer) = entries[*index].answer.as_deref() else { continue };
        let first = order.len() - 1;
        for later in &chain[position + 1..] {
            if entries[*later].answer.as_deref() == Some(answer) {
                placed[*later] = true;
                order.push(*later);
            } else if entries[*later].message.is_some() && !entries[*later].is_results() {
                break;
            }
        }
        order.extend(beside.answers.remove(answer).unwrap_or_default());
        let calls = order[first..].iter().flat_map(|index| &entries[*index].calls);
        let results: Vec<usize> = calls.filter_map(|id| beside.result(id)).collect();
        order.extend(results);
    }
    let are_results =
        |left: &usize, right: &usize| entries[*left].is_results() && entries[*right].is_results();
    // Results from other branches are sorted by their position in the file.
    order.chunk_by_mut(are_results).for_each(<[usize]>::sort_unstable);
    order
}

/// Entries outside of the path that may belong to it.
struct Beside<'a> {
    /// Entries of answers, by answer id.
    answers: HashMap<&'a str, Vec<usize>>,
    /// Entries with results, by the id of the first call.
    results: HashMap<&'a str, usize>,
}

impl<'a> Beside<'a> {
    fn new(entries: &'a [Entry], placed: &[bool]) -> Self {
        let on_the_way = entries.iter().zip(placed).filter(|(_, placed)| **placed);
        let answered: HashSet<&str> =
            on_the_way.flat_map(|(entry, _)| entry.results.iter().map(|id| &**id)).collect();
        let mut beside = Beside { answers: HashMap::new(), results: HashMap::new() };
        for (index, entry) in entries.iter().enumerate() {
            if placed[index] || entry.message.is_none() {
                continue;
            }
            if let Some(answer) = &entry.answer {
                beside.answers.entry(answer).or_default().push(index);
            } else if let Some(first) = entry.results.first()
                && !entry.results.iter().any(|id| answered.contains(&**id))
            {
                beside.results.entry(first).or_insert(index);
            }
        }
        beside
    }

    fn result(&mut self, call: &str) -> Option<usize> {
        self.results.remove(call)
    }
}
