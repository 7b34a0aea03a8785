//! Imports requests and logs into a context.
//!
//! 1. [`Format`] names the format, or has it detected;
//! 2. an [`Importer`] takes documents, or a log line by line, and passes each entry to the reader
//!    of its format;
//! 3. readers turn entries into messages of blocks and model calls; the session adds them to the
//!    context. Each call is a commit of what was sent, and a completed attempt.
//!
//! Calls can also be recorded while they are made, into a context that the caller holds: [`Recording`].
//!
//! A file with many conversations can be imported into a context for each: [`Splitter`].
//!
//! Lines that are imported together use two threads: one parses and reads ahead, the other fills
//! the context. Contents are hashed by whichever thread has time, which does not affect the result.
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
mod cycles;
mod detect;
mod error;
mod fingerprint;
mod format;
mod importer;
mod logs;
mod recording;
mod session;
mod split;
mod time;

pub use cycles::{Cycles, UnknownCycles};
pub use detect::detect;
pub use error::{ImportError, ImportErrorKind};
pub use format::{Format, UnknownFormat};
pub use importer::{
    ImportOptions, ImportReport, Imported, Importer, import, is_lines, without_byte_order_mark,
};
pub use recording::{
    Begun, Limited, Limits, Outline, Overlap, PrunedRequest, Recording, Sent, Trace, beginning,
};
pub use split::{Split, Splitter};
