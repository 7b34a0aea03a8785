//! The text that is sent instead of a request: the agent's own, without the messages that the tree has not.
//!
//! Each rendered message has the agent's own text if that is equal as JSON. Other messages are written anew: those of which a part was
//! pruned or cleared, those that became one because everything between them was removed, and a message that the provider needs before an
//! answer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use contextree_engine::Preview;
use contextree_json::Value;
use contextree_provider::Rendered;
use contextree_tree::TreeRef;

use super::Recording;
use super::elements::Elements;
use super::left_out::{LeftOut, nodes_of};
use super::prune::is_unchanged;
use crate::session::Placed;

/// What is sent instead of a request.
pub(super) struct Spliced {
    pub(super) text: Vec<u8>,
    /// The messages that are not sent as the agent wrote them.
    pub(super) left_out: Vec<LeftOut>,
    /// How many of them are not sent at all.
    pub(super) gone: usize,
}

/// A request of the agent, and the one that is sent instead.
pub(super) struct Sides<'a> {
    /// The agent's request.
    pub(super) own: &'a Value,
    /// The same as the agent wrote it.
    pub(super) text: &'a [u8],
    /// The request that the snapshot renders to.
    pub(super) sent: &'a Value,
}

/// The messages of both sides, from the first one after the system text.
struct Messages<'a> {
    own: &'a [Value],
    texts: Vec<&'a [u8]>,
    sent: &'a [Value],
}

/// Messages of the agent that are rendered as the same messages.
struct Run {
    /// The positions of the agent's messages.
    entries: Vec<Range<usize>>,
    /// The positions of the rendered messages.
    rendered: Range<usize>,
    /// Whether the tree has them as the agent wrote them.
    is_unchanged: bool,
}

/// The messages of the window that are sent, and the positions of the others.
struct Paired {
    runs: Vec<Run>,
    gone: Vec<usize>,
}

impl Recording {
    /// Returns the text of the request without what the rendering has not, and what that is. `None` if the messages of both cannot be
    /// paired.
    pub(super) fn splice(
        &self,
        preview: &Preview,
        rendered: &Rendered,
        sides: &Sides<'_>,
    ) -> Option<Spliced> {
        let window = &self.state.window;
        let field = self.provider.messages_field();
        let elements = Elements::of(sides.text, field)?;
        let leading = elements.ranges.len().checked_sub(window.len())?;
        let texts = |ranges: &[Range<usize>]| {
            ranges.iter().map(|range| &sides.text[range.clone()]).collect::<Vec<_>>()
        };
        let messages = Messages {
            own: sides.own.get(field)?.as_array()?.get(leading..)?,
            texts: texts(&elements.ranges[leading..]),
            sent: sides.sent.get(field)?.as_array()?,
        };
        let tree = preview.snapshot.view();
        let Paired { runs, gone } = self.pair(preview, rendered)?;
        let count = gone.len();
        let mut changed = BTreeSet::from_iter(gone);
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        pieces.extend(texts(&elements.ranges[..leading]).into_iter().map(<[u8]>::to_vec));
        for run in &runs {
            if !messages.write(run, &mut pieces)? {
                changed.extend(run.entries.iter().cloned().flatten());
            }
        }
        let (before, after) = (elements.inside.start, elements.inside.end);
        let all = pieces.join(&b","[..]);
        let text = [&sides.text[..before], &all, &sides.text[after..]].concat();
        let left_out = changed.into_iter().map(|at| LeftOut::of(at, &window[at], tree)).collect();
        Some(Spliced { text, left_out, gone: count })
    }

    /// Finds the rendered messages of each message of the window.
    fn pair(&self, preview: &Preview, rendered: &Rendered) -> Option<Paired> {
        let (window, tree) = (&self.state.window, preview.snapshot.view());
        let cleared = preview.report.cleared.iter();
        let cleared: BTreeMap<&str, &str> =
            cleared.map(|it| (it.id.as_str(), it.placeholder.as_str())).collect();
        let places = places_of(rendered);
        let mut paired = Paired { runs: Vec::new(), gone: Vec::new() };
        for entries in groups(window) {
            let placed = &window[entries.start];
            let present = present(placed, &cleared, tree);
            if present.is_empty() {
                paired.gone.extend(entries);
                continue;
            }
            let found = present.iter().filter_map(|id| places.get(*id)).flatten();
            let found: BTreeSet<usize> = found.copied().collect();
            // A message that is rendered as nothing has no place.
            let (first, last) = (*found.first()?, *found.last()?);
            paired.add(entries, first..last + 1, is_unchanged(placed, tree));
        }
        Some(paired)
    }
}

impl Paired {
    /// Adds messages of the agent. Those that are in the same rendered messages as the ones before belong to the same run.
    fn add(&mut self, entries: Range<usize>, rendered: Range<usize>, is_unchanged: bool) {
        match self.runs.last_mut() {
            Some(run) if rendered.start < run.rendered.end => {
                run.rendered.end = run.rendered.end.max(rendered.end);
                run.is_unchanged &= is_unchanged;
                run.entries.push(entries);
            }
            _ => self.runs.push(Run { entries: vec![entries], rendered, is_unchanged }),
        }
    }
}

impl Messages<'_> {
    /// Writes the messages of a run. Returns whether these are exactly those of the agent; `None` if the tree has them unchanged, but they
    /// are rendered differently.
    fn write(&self, run: &Run, pieces: &mut Vec<Vec<u8>>) -> Option<bool> {
        let mut own = run.entries.iter().cloned().flatten().peekable();
        let mut is_own = true;
        for sent in self.sent.get(run.rendered.clone())? {
            match own.next_if(|at| self.own[*at] == *sent) {
                Some(at) => pieces.push(self.texts[at].to_vec()),
                None => {
                    is_own = false;
                    pieces.push(sent.to_canonical());
                }
            }
        }
        let is_complete = own.peek().is_none();
        if !is_complete && run.is_unchanged && run.entries.len() == 1 {
            return None;
        }
        Some(is_own && is_complete)
    }
}

/// Returns the messages of the window that were read together: a request wrote them as several entries.
pub(super) fn groups(window: &[Placed]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (index, placed) in window.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if placed.nodes.is_empty() => group.end = index + 1,
            _ => groups.push(index..index + 1),
        }
    }
    groups
}

/// Returns the nodes of a message that a commit keeps; the placeholder in place of a result that it clears.
fn present<'a>(
    placed: &'a Placed,
    cleared: &BTreeMap<&str, &'a str>,
    tree: TreeRef<'_>,
) -> Vec<&'a str> {
    let now = |id: &'a String| cleared.get(id.as_str()).copied().unwrap_or(id);
    placed.nodes.iter().map(now).filter(|id| tree.resolve(id).is_some()).collect()
}

/// Returns the positions of the rendered messages that a node is in.
fn places_of(rendered: &Rendered) -> BTreeMap<String, BTreeSet<usize>> {
    let mut places: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (index, nodes) in nodes_of(rendered) {
        for node in nodes {
            places.entry(node).or_default().insert(index);
        }
    }
    places
}
