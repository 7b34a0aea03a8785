//! Limits on the size of trees.

/// Limits on trees. Exceeding one is an error with the code `E_LIMIT`, and nothing changes.
///
/// They are generous: legitimate use never reaches them, and a hostile document is rejected before
/// it does harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of nodes, including the root; 64 by default, 400 at most.
    pub max_depth: usize,
    /// Nodes in one tree; 50 million by default.
    pub max_nodes: usize,
    /// Bytes of one content, as UTF-8 text or canonical JSON; 256 MiB by default.
    pub max_content_bytes: usize,
    /// Bytes of an id, a type, a role, a kind, an attribute's name; 4,096 by default.
    pub max_name_bytes: usize,
    /// Attributes of one node; 1,024 by default.
    pub max_attributes: usize,
    /// Bytes of an imported document; 4 GiB by default.
    pub max_document_bytes: usize,
}

impl Limits {
    /// The maximum of `max_depth`: some walks recurse with the depth of the tree.
    pub const DEEPEST: usize = 400;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_depth: 64,
            max_nodes: 50_000_000,
            max_content_bytes: 256 << 20,
            max_name_bytes: 4096,
            max_attributes: 1024,
            max_document_bytes: 4 << 30,
        }
    }
}
