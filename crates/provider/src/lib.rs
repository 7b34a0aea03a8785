//! To the model and back: trees as the requests of model providers, and requests and logs as trees.
//!
//! ```text
//! render   TreeRef ─parts→ messages ─wire→ bytes · spans · losses
//! lint     request → findings, with the node at fault
//! import   request or log ─read→ messages ─session→ Context, one commit for each turn
//! ```
//!
//! One block of a tree is one part of a message; `docs/providers.md` has the table of what maps to what, and of what is lost. The
//! crate is pure: the same input gives the same bytes, and it does no IO.
//!
//! ```
//! use contextree_provider::{Format, ImportOptions, Provider, RenderOptions, import, render};
//!
//! let request = br#"{"model":"m","messages":[{"role":"user","content":"Will it rain?"}]}"#;
//! let imported = import(request, Format::OpenAiChat, ImportOptions::default())?;
//! let head = imported.context.head().expect("one turn");
//! let rendered = render(head.view(), Provider::OpenAiChat, &RenderOptions::default())?;
//! assert_eq!(rendered.bytes, request);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anthropic;
mod gemini;
mod import;
mod lint;
mod logs;
mod media;
mod messages;
mod openai_chat;
mod openai_responses;
pub mod parts;
mod provider;
mod render;
mod requests;
mod tools;
mod wires;

pub use import::{
    Format, ImportError, ImportErrorKind, ImportOptions, ImportReport, Imported, Importer,
    UnknownFormat, detect, import, is_lines, without_byte_order_mark,
};
pub use lint::{Finding, Severity, lint, lint_value};
pub use provider::{Provider, UnknownProvider};
pub use render::{
    List, Loss, LossKind, RenderError, RenderOptions, Rendered, RequestRenderer, Slot, Span, render,
};
