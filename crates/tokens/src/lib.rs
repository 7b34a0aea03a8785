//! Counts the tokens of a text, a node or a snapshot.
//!
//! ```text
//! name ─Tokenizer::named→ Tokenizer ─count→ tokens of a text
//! Tokenizer ─TokenCounter→ tokens of a block, kept per content hash
//! TokenCounter::of_requests → the same, with what a request adds around a block
//! TokenCounter ─Tally→ tokens of one snapshot after another, by region, turn, role, kind, key, tag
//! ```
//!
//! Counts for the public OpenAI encodings are exact. Their vocabularies are part of the package;
//! nothing is ever downloaded. Other providers do not publish theirs; for them there are estimates
//! with a stated error ([`Estimate`]).
//!
//! ```
//! use contextree_tokens::Tokenizer;
//!
//! let tokenizer = Tokenizer::named("gpt-4o")?;
//! assert_eq!(tokenizer.count("The quick brown fox"), 4);
//! assert!(tokenizer.is_exact());
//! assert!(!Tokenizer::named("claude-sonnet-5")?.is_exact());
//! # Ok::<(), contextree_tokens::UnknownTokenizer>(())
//! ```

mod bpe;
mod breakdown;
mod class;
mod counter;
mod encoding;
mod estimate;
mod media;
mod models;
mod part;
mod split;
mod spoken;
mod tally;
mod tokenizer;

pub use breakdown::{Breakdown, By, Count, Group, breakdown};
pub use counter::{TokenCounter, counted_text};
pub use encoding::Encoding;
pub use estimate::Estimate;
pub use models::{bare_model, model_version};
pub use part::Part;
pub use spoken::{Measured, count_json, count_text};
pub use tally::{Moment, Tally, over_time};
pub use tokenizer::{Tokenizer, UnknownTokenizer};
