//! A node to be added, whose content may have been hashed ahead.

use std::ops::Deref;

use contextree_json::Value;
use contextree_tree::NewNode;

use crate::HashedContent;

/// A node to be added, whose content may have been hashed ahead, on any thread: the commit that seals it then has less to do.
///
/// The hash is computed here, not promised by the caller. The content can therefore not be changed
/// any more.
///
/// ```
/// use contextree_canon::PreparedNode;
/// use contextree_tree::NewNode;
///
/// let read = std::thread::spawn(|| {
///     let mut node = PreparedNode::from(NewNode::text("a long document").role("tool"));
///     node.hash_content();
///     node
/// });
/// let (node, content) = read.join().unwrap().into_parts();
/// assert_eq!(node.role.as_deref(), Some("tool"));
/// assert!(content.is_some(), "the content is hashed");
/// ```
#[derive(Clone, Debug)]
pub struct PreparedNode {
    node: NewNode,
    content: Option<Box<HashedContent>>,
}

impl From<NewNode> for PreparedNode {
    fn from(node: NewNode) -> Self {
        PreparedNode { node, content: None }
    }
}

impl Deref for PreparedNode {
    type Target = NewNode;

    fn deref(&self) -> &NewNode {
        &self.node
    }
}

impl PreparedNode {
    /// Hashes the content, if that was not done yet.
    pub fn hash_content(&mut self) {
        self.content.get_or_insert_with(|| Box::new(HashedContent::of(&self.node.content)));
    }

    /// Returns the custom attributes, to be changed.
    pub fn attributes_mut(&mut self) -> &mut Vec<(String, Value)> {
        &mut self.node.attributes
    }

    /// Sets the role.
    pub fn set_role(&mut self, role: impl Into<String>) {
        self.node.role = Some(role.into());
    }

    /// Returns the node, without what was done ahead.
    #[must_use]
    pub fn into_node(self) -> NewNode {
        self.node
    }

    /// Returns the node, and its content with the hash if that was made ahead.
    ///
    /// The engine calls this when it adds the node.
    #[must_use]
    pub fn into_parts(self) -> (NewNode, Option<Box<HashedContent>>) {
        (self.node, self.content)
    }
}
