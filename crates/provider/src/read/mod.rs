//! Reads requests, messages and model responses, for importers and for programs that call models.
//!
//! ```text
//! request ─read_request→ Request ─read_messages→ Incoming
//! answer  ─read_answer→  Incoming
//! ```
//!
//! An [`Incoming`] is one message whose blocks can be added to a context. [`Fields`] and its
//! helpers take objects apart: known fields are taken out, the remaining ones are kept as they are.

mod fields;
mod incoming;
mod request;
mod shape;
mod usage;

pub use fields::{Attributes, Fields, mark_provider, opaque, opaque_part, set};
pub use incoming::Incoming;
pub use request::{
    Request, is_request, read_answer, read_message, read_messages, read_part, read_request,
};
pub use shape::Shape;
pub use usage::{Usage, provider_of_answer, read_usage};

pub use crate::anthropic::read_spoken;
pub use crate::media::{from_url, url_of_node};
pub use crate::parts::{Kind, Role, kind_of_node, role_of, text_of_node};
pub use crate::tools::function;
