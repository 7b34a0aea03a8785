//! The summary of what was pruned, in the place of it.

use contextree_tree::{Body, Content, NodeData, NodeKey, NodeRef, Region, TreeRef};

use super::clear::at_place_of;
use crate::error::CommitError;
use crate::place::core_of;
use crate::report::Pruned;
use crate::work::Work;

/// A summary of nodes that a commit prunes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// The nodes that it summarizes: those that a preview reports as pruned, in the same order.
    pub of: Vec<String>,
}

/// Where a summary is added.
pub(super) struct Spot {
    parent: NodeKey,
    data: NodeData,
}

impl Summary {
    /// Fails unless a commit prunes what was summarized.
    pub(super) fn check(&self, pruned: &[Pruned]) -> Result<(), CommitError> {
        if self.of.iter().eq(pruned.iter().map(|pruned| &pruned.id)) {
            return Ok(());
        }
        Err(CommitError::StaleSummary { given: self.of.len(), pruned: pruned.len() })
    }
}

impl Work<'_> {
    /// Returns where the summary of these nodes is added, before they are removed: in the place of the first one, or before the turn that
    /// follows the turns which are removed.
    pub(super) fn spot(&mut self, removals: &[NodeKey]) -> Spot {
        if let Some(spot) = self.spot_of_block(removals) {
            return spot;
        }
        let view = self.draft.view();
        let mut turns = view.region(Region::Seq).children();
        let next = turns.find(|turn| !removals.contains(&turn.key_of()));
        let top = next.unwrap_or_else(|| view.region(Region::Head));
        let core = core_of(top).map(|core| (core.key_of(), first_of(core)));
        let (parent, data) = match core {
            Some((core, data)) => (core, data),
            None if next.is_some() => (top.key_of(), first_of(top)),
            None => {
                let core = self.create_core().0;
                let data = self.draft.view().at(core).map(first_of);
                (core, data.expect("the core has just been created"))
            }
        };
        Spot { parent, data: self.with_id(data) }
    }

    /// Returns the place of the first removed block, unless its turn is removed as a whole.
    fn spot_of_block(&self, removals: &[NodeKey]) -> Option<Spot> {
        let view: TreeRef<'_> = self.draft.view();
        let is_block =
            |key: &&NodeKey| view.at(**key).is_some_and(|node| !node.class().is_container());
        let blocks: std::collections::BTreeSet<NodeKey> =
            removals.iter().filter(is_block).copied().collect();
        let tops = Region::ALL.into_iter().flat_map(|region| view.region(region).children());
        let stays =
            tops.filter(|top| blocks.contains(&top.key_of()) || !removals.contains(&top.key_of()));
        let mut nodes = stays.flat_map(NodeRef::subtree).map(|(_, node)| node);
        let first = nodes.find(|node| blocks.contains(&node.key_of()))?;
        let parent = first.parent()?.key_of();
        Some(Spot { parent, data: at_place_of(first, self.unused_id(first.id())) })
    }

    fn with_id(&self, data: NodeData) -> NodeData {
        NodeData { id: self.unused_id(&data.id).into(), ..data }
    }

    /// Adds a summary; returns its key and id.
    pub(super) fn summarize(&mut self, spot: Spot, summary: &Summary) -> (NodeKey, String) {
        let Spot { parent, mut data } = spot;
        data.node_type = self.settings.vocabulary.block().into();
        data.role = Some("user".into());
        data.kind = Some("summary".into());
        data.body = Body::new(Content::from(summary.text.as_str()), Default::default());
        let id = data.id.to_string();
        (self.draft.insert(parent, data), id)
    }
}

/// Returns a node that sorts before everything in a container, or first in an empty one.
fn first_of(container: NodeRef<'_>) -> NodeData {
    match container.child(0) {
        Some(first) => {
            let mut data = at_place_of(first, first.id().to_owned());
            data.created_at_ns -= 1;
            data
        }
        None => {
            let mut data = at_place_of(container, container.id().to_owned());
            data.offset = contextree_tree::Scalar::ZERO;
            data
        }
    }
}
