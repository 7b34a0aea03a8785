//! How trees, nodes and differences are drawn for people, and what programs get of a node.

pub(crate) mod difference;
pub(crate) mod node;
pub(crate) mod tree;
