//! Persistent, ordered, versioned trees: the foundation of Contextree.
//!
//! A context is a tree with three regions that changes in commits. This crate stores such trees so
//! that every version remains readable and a new version costs only what changed:
//!
//! 1. every version of every node is a *row* in an append-only log ([`Tree`] records the length of
//!    the log at its creation);
//! 2. the children of a node are a list of rows whose shape depends only on its entries;
//! 3. a [`Draft`] is a mutable view over a tree: it copies the rows it changes, and their
//!    ancestors;
//! 4. [`Draft::freeze`] appends these rows to the log: the rows between two trees are what changed
//!    between them, so [`diff`](diff::diff) need not look at anything else.
//!
//! The crate does no IO and reads no clock. It keeps the structure consistent; the engine decides
//! which changes are allowed.
//!
//! ```
//! use contextree_tree::{Builder, Cycle, NodeData, Region};
//!
//! let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
//! let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
//! let builder = Builder::new(node("root", "^root"), regions).expect("four ids");
//! let mut draft = builder.finish_draft(Cycle::FIRST);
//! let head = draft.view().region(Region::Head).key_of();
//! draft.insert(head, node("hello", "block"));
//! let first = draft.freeze();
//! draft.remove(draft.key("hello").expect("it was just added"));
//! let second = draft.freeze();
//! assert!(first.view().get("hello").is_some(), "a snapshot never changes");
//! assert!(second.view().get("hello").is_none());
//! ```

mod body;
mod class;
mod cycle;
pub mod diff;
mod due;
mod edit;
mod list;
mod marked;
mod merkle;
mod new_node;
mod node;
mod policy_entry;
mod row;
mod rows;
mod scalar;
mod scan;
mod store;
mod symbol;
pub mod time;
mod tree;
mod view;
mod walk;

pub use body::{Body, Content, is_hashed_attribute};
pub use class::{Class, Region, Vocabulary};
pub use cycle::Cycle;
pub use due::{Due, Place};
pub use edit::{Builder, Draft, DuplicateId, NodeData, WorkingTree};
pub use merkle::{MerkleHasher, root_digest};
pub use new_node::NewNode;
pub use node::{NodeChildren, NodeRef};
pub use policy_entry::PolicyEntry;
pub use row::{Header, HeaderSet, NodeKey, RowNumber};
pub use scalar::Scalar;
pub use scan::{Hits, Names};
pub use store::Log;
pub use symbol::{Hint, Symbol};
pub use tree::Tree;
pub use view::TreeRef;
pub use walk::{Ancestors, Preorder};
