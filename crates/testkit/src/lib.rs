//! Test kit: random sessions and a deliberately naive model.

pub mod compare;
pub mod drive;
pub mod generate;
pub mod model;
pub mod script;
