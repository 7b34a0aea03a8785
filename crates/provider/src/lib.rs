//! Converts trees to the requests of model providers, and their messages to blocks of a tree.
//!
//! ```text
//! render   TreeRef ─parts→ messages ─wire→ bytes · spans · losses
//! lint     request → findings, with the node at fault
//! read     request or answer ─read→ messages of blocks; `contextree-import` fills contexts with them
//! stream   events of a streamed answer ─collect→ the answer
//! ```
//!
//! One block of a tree is one part of a message; `docs/providers.md` tables the mapping and what is
//! lost. The crate is pure: the same input gives the same bytes, and it does no IO.
//!
//! ```
//! use contextree_import::{Format, ImportOptions, import};
//! use contextree_provider::{Provider, RenderOptions, render};
//!
//! let request = br#"{"model":"m","messages":[{"role":"user","content":"Will it rain?"}]}"#;
//! let imported = import(request, Format::OpenAiChat, ImportOptions::default())?;
//! let head = imported.context.newest().expect("one turn");
//! let rendered = render(head.view(), Provider::OpenAiChat, &RenderOptions::default())?;
//! assert_eq!(rendered.bytes, request);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anthropic;
mod gemini;
mod id_set;
mod lint;
mod media;
mod messages;
mod openai_chat;
mod openai_responses;
mod order;
pub mod parts;
mod provider;
pub mod read;
mod render;
mod stream;
mod tools;
mod wires;

pub use lint::{Finding, Severity, lint, lint_value};
pub use order::KeyOrder;
pub use provider::{Provider, UnknownProvider};
pub use read::{Incoming, read_answer, read_message};
pub use render::{
    List, Loss, LossKind, RenderError, RenderOptions, Rendered, RequestRenderer, Slot, Span, render,
};
pub use stream::{MAX_STREAM_BYTES, StreamCollector, StreamError, is_event_stream};
