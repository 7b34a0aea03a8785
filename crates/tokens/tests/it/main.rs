//! The tests of this crate.

mod agreement;
mod breakdowns;
mod counts;
mod texts;
