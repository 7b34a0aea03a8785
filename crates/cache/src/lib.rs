//! Reports how much of a request a provider can read from its prompt cache, what broke the prefix,
//! what was billed instead, and where to set breakpoints.
//!
//! A provider reuses the beginning of a request that it has seen before, byte for byte. So a report
//! compares two rendered requests: the length of their common prefix, the first node after it, and
//! what happened to that node.
//!
//! ```text
//! Rendered (bytes, spans) ─measure→ Prompt ┐
//!                                          ├─compare→ Report: prefix, break, cause
//! Rendered (bytes, spans) ─measure→ Prompt ┘
//! Prompt ─Outlook→ what will change ─breakpoints(rules)→ where to set them
//! one Call after another ─Follower→ what is in the cache, what each call reads from it, and why not more
//! ```
//!
//! The input is what [`contextree_provider::render`] returns, or any bytes with the spans of their
//! nodes.
//!
//! ```
//! use contextree_cache::{Rendered, assert_stable_prefix};
//!
//! let before = Rendered::new(br#"["a","b"]"#, [(1, 4, "x"), (5, 8, "y")])?;
//! let after = Rendered::new(br#"["a","b","c"]"#, [(1, 4, "x"), (5, 8, "y"), (9, 12, "z")])?;
//! assert_stable_prefix(&before, &after);
//! # Ok::<(), contextree_cache::SpanError>(())
//! ```

mod assert;
mod breakpoints;
mod call;
mod cause;
mod entries;
mod follow;
mod history;
mod infer;
mod last;
mod memo;
mod miss;
mod outlook;
mod prices;
mod prompt;
mod reason;
mod rendered;
mod report;
mod rules;
mod said;
mod settings;

pub use assert::{PrefixBroken, assert_stable_prefix, check_stable_prefix};
pub use breakpoints::{Breakpoint, Purpose, breakpoints};
pub use call::{Billed, Call, Diagnosis, Mark};
pub use cause::{Cause, Evidence};
pub use contextree_provider::Span;
pub use follow::Follower;
pub use history::{Agreement, Growth, History, Inferred, Reading, Step};
pub use miss::{Miss, MissReason, Place, ReasonTotal};
pub use outlook::Outlook;
pub use prices::{Price, PriceError, Prices};
pub use prompt::Prompt;
pub use reason::Reason;
pub use rendered::{Rendered, SpanError};
pub use report::{Break, Extent, Report, compare};
pub use rules::CacheRules;
