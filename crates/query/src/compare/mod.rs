//! The typing rules of comparisons (chapter 04 §5, ER-093).
//!
//! | attribute | `=` `!=` | `<` `<=` `>` `>=` | `~` |
//! |---|---|---|---|
//! | numeric: `offset ttl priority cycle created_at_ns creation_index`, facets | both sides as numbers; a side that is not a number satisfies only `!=` | both as numbers, else false | false |
//! | text: `id nodeType role kind created_at_iso key type` | as text | by code point | substring |
//! | all others | same JSON type and value; a boolean equals the text `true` or `false` | as numbers if both are, else as text | substring of a text, member of a list |
//!
//! `null` satisfies only `= null` and `!=` anything else; `[a]` means: present and not null.

mod exact;
mod test;
mod value;

pub use exact::{Decimal, Exact};
pub use test::{Literal, Test, Typing};
pub(crate) use test::{any_holds, holds};
pub(crate) use value::Datum;
