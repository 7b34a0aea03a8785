//! How much of a request a provider can read from its prompt cache, what broke it, and where to set breakpoints.
//!
//! A provider reuses the beginning of a request that it has seen before, byte for byte. So the report compares two rendered
//! requests: how far they are the same, which node comes first behind that, and what was done to it.
//!
//! ```text
//! Rendered (bytes, spans) ─measure→ Prompt ┐
//!                                          ├─compare→ Report: prefix, break, cause
//! Rendered (bytes, spans) ─measure→ Prompt ┘
//! Prompt ─Outlook→ what will change ─breakpoints(rules)→ where to set them
//! one snapshot after another ─Follower→ what is in the cache, and the share of input that is read from it
//! ```
//!
//! What is compared is what [`contextree_provider::render`] returns, or bytes of which somebody else says which belong to which node.
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
mod cause;
mod entries;
mod follow;
mod memo;
mod outlook;
mod prompt;
mod reason;
mod rendered;
mod report;
mod rules;
mod settings;

pub use assert::{PrefixBroken, assert_stable_prefix, check_stable_prefix};
pub use breakpoints::{Breakpoint, Purpose, breakpoints};
pub use cause::{Cause, Evidence};
pub use contextree_provider::Span;
pub use follow::{Follower, History, Step};
pub use outlook::Outlook;
pub use prompt::Prompt;
pub use reason::Reason;
pub use rendered::{Rendered, SpanError};
pub use report::{Break, Extent, Report, compare};
pub use rules::CacheRules;
