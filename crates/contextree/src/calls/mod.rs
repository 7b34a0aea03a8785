//! The loop of model calls: one cycle is one request that was sent.
//!
//! ```text
//! add …  ─begin→ Call: the exact bytes ─send→ response ─complete→ snapshot, and the answer opens the next cycle
//!                                          └──cancel, fail→ nothing is sealed, edit and begin again
//! ```
//!
//! *When do I commit?* Never by hand: completing a call commits exactly what was sent.
//!
//! ```
//! use contextree::calls::Request;
//! use contextree::provider::Provider;
//! use contextree::{ContextSettings, Error, Place, SnapshotAddress, user};
//!
//! let store = contextree::open("memory:")?;
//! let mut session = store.create("main", &ContextSettings::default())?;
//! session.update(|context| Ok::<_, Error>(context.add(Place::head(), user("Will it rain?"))?))?;
//!
//! let call = Request::new(Provider::OpenAiChat, "gpt-5").begin(&mut session)?;
//! // Send `call.bytes`; this is what comes back.
//! let response = br#"{"id":"r1","choices":[{"message":{"role":"assistant","content":"Yes."}}]}"#;
//! call.complete(&mut session, response)?;
//!
//! // The newest snapshot is what the model saw last; the answer belongs to the next request.
//! let sent = contextree::calls::sent(&session, SnapshotAddress::Back(0))?;
//! assert_eq!(sent.bytes, call.bytes);
//! assert_eq!(session.select(".block[role=assistant]")?.nodes().map(|it| it.nodes.len()), Some(1));
//! # Ok::<(), Error>(())
//! ```

mod answer;
mod append;
#[cfg(feature = "tokens")]
mod budget;
mod call;
mod kept;
mod request;
#[cfg(feature = "tokens")]
mod summary;

pub use answer::{
    Answered, ToolCall, attach_in, complete, complete_collected, complete_in,
    complete_with_document,
};
pub use append::{Appended, AppendedMessage, append_in};
#[cfg(feature = "tokens")]
pub use budget::tokenizer_of;
pub use call::{Call, Sent, order_of, sent};
pub use contextree_provider::{StreamCollector, StreamError};
pub use request::Request;
#[cfg(feature = "tokens")]
pub use summary::Removal;
