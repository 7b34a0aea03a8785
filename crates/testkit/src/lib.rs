//! Test kit: random sessions, a deliberately naive model, and the runner of the conformance corpus.

pub mod compare;
pub mod conformance;
pub mod drive;
pub mod generate;
pub mod model;
pub mod script;
