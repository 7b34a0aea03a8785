//! Requests and logs → a context.
//!
//! 1. [`Format`]: which format it is, or finding that out;
//! 2. an [`Importer`] takes documents, or a log line by line, and gives each to the reader of its format;
//! 3. readers make messages of blocks; the session puts them into the context, one commit for each turn.
//!
//! Lines that are given together have two threads: one parses and reads ahead, one fills the context. Contents are hashed by the one that
//! has time for it, which changes no bytes.

mod ahead;
mod detect;
mod error;
mod fields;
mod format;
mod importer;
mod session;
mod sight;

pub use detect::detect;
pub use error::{ImportError, ImportErrorKind};
pub use format::{Format, UnknownFormat};
pub use importer::{
    ImportOptions, ImportReport, Imported, Importer, import, is_lines, without_byte_order_mark,
};

pub(crate) use ahead::work_ahead;
pub(crate) use error::Shape;
pub(crate) use fields::{Fields, mark_provider, opaque, opaque_part, set};
pub(crate) use session::{Incoming, Seen, Session, settings_node};
pub(crate) use sight::{Digest, Sight, digest_of_answer, digests, write_as_text};
