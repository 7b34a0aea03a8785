//! Removes what the caller dropped, sealed or not.

use contextree_tree::Class;

use super::Progress;
use crate::error::{CommitError, OpError, Reason};
use crate::work::Work;

impl Work<'_> {
    /// Removes these nodes with everything below them. A node below one that was removed before it is gone already, which is not an
    /// error.
    pub(super) fn drop_nodes(
        &mut self,
        nodes: &[String],
        progress: &mut Progress,
    ) -> Result<(), CommitError> {
        let refuse = |error| CommitError::Drop(Box::new(error));
        for id in nodes {
            let Some(node) = self.draft.view().resolve(id) else {
                if progress.dropped.contains(id) {
                    continue;
                }
                return Err(refuse(OpError::NodeNotFound { node: id.clone() }));
            };
            if matches!(node.class(), Class::Root | Class::Region) {
                return Err(refuse(OpError::placement(Reason::FixedNode, id)));
            }
            let key = node.key_of();
            progress.dropped.extend(node.subtree().map(|(_, node)| node.id().to_owned()));
            self.draft.remove(key);
        }
        Ok(())
    }
}
