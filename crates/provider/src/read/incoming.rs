//! A message that was read.

use contextree_canon::PreparedNode;
use contextree_tree::NewNode;

use crate::parts::Role;

/// A message that was read.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The role of the speaker.
    pub role: Role,
    /// Its blocks. Calls and results have the provider's id as `data_call_id`.
    pub parts: Vec<PreparedNode>,
}

impl Incoming {
    /// Creates a message from these blocks.
    #[must_use]
    pub fn new(role: Role, parts: Vec<NewNode>) -> Self {
        Incoming { role, parts: parts.into_iter().map(PreparedNode::from).collect() }
    }

    /// Hashes the contents of the blocks ahead of time, so that the commit does not have to.
    pub fn hash_contents(&mut self) {
        self.parts.iter_mut().for_each(PreparedNode::hash_content);
    }

    /// Returns the blocks.
    #[must_use]
    pub fn into_nodes(self) -> Vec<NewNode> {
        self.parts.into_iter().map(PreparedNode::into_node).collect()
    }
}
