//! Placeholders for old tool results: what may be cleared, and what takes its place.
//!
//! A sealed node never changes, so a result is cleared by removing it and adding another block at exactly its position: with its offset,
//! stamps, role, kind and attributes, and an id of its own.

use std::collections::BTreeMap;

use contextree_json::Value;
use contextree_tree::{Body, Class, Content, Draft, NodeData, NodeKey, NodeRef, Region, TreeRef};

use super::units::is_result;
use super::{ClearedByClient, Progress};
use crate::policy::Clear;
use crate::work::Work;

/// The attribute of a placeholder that names the result which it took the place of.
pub const CLEARED: &str = "data_cleared";

/// Attributes that describe the content, which a placeholder has not.
const OF_CONTENT: [&str; 3] = ["mime", "encoding", "content_hash"];

/// Placeholders in a scratch tree, where they can be measured before anything is decided.
pub(super) struct Placeholders {
    scratch: Draft,
    /// By result: its placeholder in the scratch tree.
    by_result: BTreeMap<NodeKey, NodeKey>,
}

impl Placeholders {
    /// Returns the placeholder of a result that may be cleared.
    pub(super) fn of(&self, result: NodeRef<'_>) -> Option<NodeRef<'_>> {
        let key = self.by_result.get(&result.key_of())?;
        self.scratch.view().at(*key)
    }
}

impl Work<'_> {
    /// Returns a placeholder for every result that a policy may clear: all but the newest, and those that would not become shorter.
    pub(super) fn placeholders(&self, clear: &Clear) -> Placeholders {
        let mut scratch = self.draft.fork();
        let mut by_result = BTreeMap::new();
        for (result, parent) in candidates(self.draft.view(), clear) {
            let id = self.unused_id(result.id());
            if id.len() <= self.settings.limits.max_name_bytes {
                let placeholder = scratch.insert(parent, placeholder(result, id, clear));
                by_result.insert(result.key_of(), placeholder);
            }
        }
        Placeholders { scratch, by_result }
    }

    /// Puts a placeholder in the place of a result; returns its id.
    pub(super) fn clear(&mut self, result: NodeKey, clear: &Clear) -> Option<String> {
        let node = self.draft.view().at(result)?;
        let parent = node.parent()?.key_of();
        let id = self.unused_id(node.id());
        let data = placeholder(node, id.clone(), clear);
        self.draft.remove(result);
        self.draft.insert(parent, data);
        Some(id)
    }

    /// Puts placeholders in the places of results that a client left out.
    pub(super) fn clear_for_client(
        &mut self,
        cleared: ClearedByClient<'_>,
        progress: &mut Progress,
    ) {
        let clear = Clear { keep: 0, placeholder: cleared.placeholder.to_owned() };
        for id in cleared.results {
            let Some(node) = self.draft.view().get(id) else { continue };
            let key = node.key_of();
            if self.clear(key, &clear).is_some() {
                progress.dropped.push(id.clone());
            }
        }
    }

    /// Returns an id for what takes the place of a node.
    pub(super) fn unused_id(&self, id: &str) -> String {
        let mut others = (2_u32..).map(|count| format!("{id}~{count}"));
        others.find(|id| !self.is_taken(id)).expect("an unused id exists")
    }
}

/// Returns the results that may be cleared, with their parents.
fn candidates<'a>(tree: TreeRef<'a>, clear: &Clear) -> Vec<(NodeRef<'a>, NodeKey)> {
    let tops = Region::ALL.into_iter().flat_map(|region| tree.region(region).children());
    let mut results: Vec<NodeRef<'a>> = tops
        .flat_map(NodeRef::subtree)
        .map(|(_, node)| node)
        .filter(|node| node.class() == Class::Block && is_result(*node))
        .collect();
    let kept = usize::try_from(clear.keep).unwrap_or(usize::MAX);
    results.truncate(results.len().saturating_sub(kept));
    results
        .into_iter()
        .filter(|node| node.attribute(CLEARED).is_none() && node.child_count() == 0)
        .filter(|node| node.content().is_longer_than(clear.placeholder.len()))
        .filter_map(|node| Some((node, node.parent()?.key_of())))
        .collect()
}

fn placeholder(result: NodeRef<'_>, id: String, clear: &Clear) -> NodeData {
    let mut attributes = result.body().map(|body| body.attributes.clone()).unwrap_or_default();
    for name in OF_CONTENT {
        attributes.remove(name);
    }
    attributes.insert(CLEARED, Value::from(result.id()));
    let mut data = at_place_of(result, id);
    data.node_type = result.node_type().into();
    data.priority = result.priority();
    data.pinned = result.is_pinned();
    data.policy = result.policy();
    data.role = result.role().map(Into::into);
    data.kind = result.kind().map(Into::into);
    data.expires = result.expires();
    data.body = Body::new(Content::from(clear.placeholder.as_str()), attributes);
    data
}

/// Returns a node without content that sorts exactly where another one does.
pub(super) fn at_place_of(node: NodeRef<'_>, id: String) -> NodeData {
    let mut data = NodeData::with_body(id.into(), node.node_type().into(), Body::default());
    data.offset = node.offset();
    data.cycle = node.cycle();
    data.created_at_ns = node.created_at_ns();
    data.creation_index = node.creation_index();
    data
}
