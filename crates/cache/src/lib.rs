//! How much of a request a provider can read from its prompt cache, what broke it, and where to set breakpoints.
//!
//! A provider reuses the beginning of a request that it has seen before, byte for byte. So the report compares two rendered
//! requests: how far they are the same, which node comes first behind that, and what was done to it.
//!
//! ```text
//! Rendered (bytes, spans) ─measure→ Prompt ┐
//!                                          ├─compare→ Report: prefix, break, cause
//! Rendered (bytes, spans) ─measure→ Prompt ┘
//! Prompt ─breakpoints(rules)→ where to set them
//! one snapshot after another ─Follower→ share of input that is read from the cache
//! ```
//!
//! This crate knows no provider's format: whoever renders says which bytes belong to which node ([`Span`]).
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
mod follow;
mod prompt;
mod rendered;
mod report;
mod rules;

pub use assert::{PrefixBroken, assert_stable_prefix, check_stable_prefix};
pub use breakpoints::{Breakpoint, Purpose, breakpoints};
pub use cause::{Cause, Evidence};
pub use follow::{Follower, History, Step};
pub use prompt::Prompt;
pub use rendered::{Rendered, Span, SpanError};
pub use report::{Break, Extent, Report, Section, compare};
pub use rules::CacheRules;

/// The examples of the page run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tokens.md")]
struct Page;
