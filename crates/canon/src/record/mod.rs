//! Records: the compact binary form in which stores keep histories.
//!
//! A record states results, not instructions: nodes as they are afterwards, and ids that were
//! removed. Reading it needs no rule of the engine.
//!
//! | record | contains |
//! |---|---|
//! | commit | the changes between two snapshots, the digest of the newer, and the reasons |
//! | work | changed nodes of the working state, since the previous record |
//! | tree | a full snapshot; the bodies of its nodes are in the commits that added them |
//!
//! Bodies (content and attributes) are written separately, so that a tree can refer to those of
//! commits. Large contents are in no record, only their hashes are: see [`SHARED_FROM`]. The layout
//! is described in `docs/format.md`.

mod apply;
mod body;
mod bytes;
mod fold;
mod put;
mod read;
mod value;
mod words;
mod write;

pub use apply::{FindBody, apply};
pub use body::{SHARED_FROM, SharedContent, StoredBody, read_bodies, redact_bodies, retain_bodies};
pub use bytes::RecordError;
pub use fold::{Fold, build};
pub use put::{BodyPlace, Put};
pub use read::{Effects, Subject, read_effects};
pub use write::{
    Encoded, Heading, WorkCounters, write_alone, write_base, write_checkpoint, write_commit,
    write_work,
};
