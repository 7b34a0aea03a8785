//! Canonical bytes and hashes: all of Contextree's formats are defined here.
//!
//! | what | function |
//! |---|---|
//! | the hash of a node's content | [`content_hash`] |
//! | the digest of a node, a turn, a snapshot, a history | [`node_digest`], [`snapshot_digest`], [`history_digest`] |
//! | a snapshot as a document, and back | [`export`], [`import`] |
//! | a history as lines, and back | [`history`] |
//! | records for stores | [`record`] |
//! | what a model is shown | [`thread`] |
//! | the bytes of the specification's own serializer | [`reference_bytes`], [`reference_bytes_of_document`] |
//!
//! All of them are pure functions of a tree. The layouts are described in `docs/format.md`.

mod digest;
mod error;
mod hash;
pub mod history;
mod import;
mod limits;
mod prefix;
mod prepared;
pub mod record;
mod reference;
pub mod thread;
mod write;

pub use digest::{history_digest, node_digest, snapshot_digest};
pub use error::{DocumentError, Issue};
pub use hash::{
    Hash, HashedContent, InvalidContent, NotAHash, content_hash, content_hash_of_bytes,
    content_hash_of_document, hashed_text,
};
pub use import::{Imported, Profile, import, import_working, is_version_1};
pub use limits::Limits;
pub use prefix::PrefixHasher;
pub use prepared::PreparedNode;
pub use reference::{order_siblings, reference_bytes_of_document};
pub use write::{SPEC_VERSION, export, export_to, export_with_digest, reference_bytes};
