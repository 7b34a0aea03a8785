//! Records: what a store keeps, in few bytes.
//!
//! A record says what happened, never what to do: nodes as they are after it, and ids that went. Reading it asks for no rule of the engine.
//!
//! | record | says |
//! |---|---|
//! | commit | what changed between two snapshots, the digest of the newer, and why, in words |
//! | work | nodes of the working state as they are now, since the record before |
//! | tree | a whole snapshot; the bodies of its nodes stand in the commits that brought them |
//!
//! Bodies (content and attributes) are written apart from the rest, so that a tree can refer to those of commits. Large contents stand
//! in no record at all, only their hash does: see [`SHARED_FROM`]. The layout is described in `docs/format.md`.

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
pub use body::{SHARED_FROM, SharedContent, StoredBody, read_bodies, retain_bodies};
pub use bytes::RecordError;
pub use fold::{Fold, build};
pub use put::{BodyPlace, Put};
pub use read::{Effects, Subject, read_effects};
pub use write::{
    Encoded, Heading, WorkCounters, write_alone, write_base, write_checkpoint, write_commit,
    write_work,
};
