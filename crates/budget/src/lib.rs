//! Budgets: limit the tokens of a context, and prune what exceeds them.
//!
//! ```text
//! TOML or JSON ─Budget::from_…→ Budget ─policy→ the engine's Policy
//!                                  │
//!                                  └─Keeper→ preview: what would be pruned, and why · commit
//! ```
//!
//! A [`Budget`] is a plain value, the content of a budget file. A [`Keeper`] adds a counter, so
//! that a block is counted once and not at every commit.
//!
//! ```
//! use contextree_budget::{Budget, Keeper};
//! use contextree_engine::{Context, NewNode, Place};
//!
//! let budget = Budget::from_toml(r#"
//!     tokenizer = "gpt-5"
//!     max_tokens = 24
//!     keep_turns = 1
//!     exclude = ["[kind='task']"]
//! "#)?;
//! let keeper = Keeper::new(budget);
//! let mut context = Context::new();
//! for text in ["What is the capital of Norway?", "Oslo.", "And how many people live there?"] {
//!     context.add(Place::head(), NewNode::text(text).role("user"))?;
//!     context.commit()?;
//! }
//! let forecast = keeper.preview(&context)?;
//! assert_eq!(forecast.going[0].node, "block:1.1");
//! assert_eq!(forecast.going[0].reason(), "over `max_tokens`; lowest priority (0), then oldest");
//! keeper.commit(&mut context)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod document;
mod error;
mod forecast;
mod keeper;
mod measure;
mod read;
mod size;
mod stored;
mod transcript;

pub use budget::{Budget, Rule};
pub use error::{BudgetError, Fault};
pub use forecast::{Cause, Clearing, Forecast, Going, Missed};
pub use keeper::Keeper;
pub use measure::{TOKENS, bind, counted_by};
pub use size::parse_size;
pub use transcript::transcript;
