//! Requests and logs → a context.
//!
//! 1. [`Format`]: which format it is, or finding that out;
//! 2. an [`Importer`] takes documents, or a log line by line, and gives each to the reader of its format;
//! 3. readers make messages of blocks; the session puts them into the context, one commit for each turn.
//!
//! Lines that are given together have two threads: one parses and reads ahead, one fills the context. Contents are hashed by the one that
//! has time for it, which changes no bytes.
//!
//! ```
//! use contextree_import::{Format, ImportOptions, import};
//!
//! let request = br#"{"model":"m","messages":[{"role":"user","content":"Will it rain?"}]}"#;
//! let imported = import(request, Format::Auto, ImportOptions::default())?;
//! assert_eq!(imported.report.format, Some(Format::OpenAiChat));
//! assert_eq!(imported.context.history().len(), 1);
//! # Ok::<(), contextree_import::ImportError>(())
//! ```

mod ahead;
mod detect;
mod error;
mod fingerprint;
mod format;
mod importer;
mod logs;
mod session;

pub use detect::detect;
pub use error::{ImportError, ImportErrorKind};
pub use format::{Format, UnknownFormat};
pub use importer::{
    ImportOptions, ImportReport, Imported, Importer, import, is_lines, without_byte_order_mark,
};
