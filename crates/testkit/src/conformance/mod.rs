//! The conformance runner: cases of the corpus in, verdicts out.
//!
//! ```text
//! directory ─load→ Corpus ─run(case, edition)→ Verdict: pass, or what was got instead
//! ```
//!
//! A case is plain JSON and says by its `kind` what is to be done; `corpus/README.md` describes all kinds. Each kind has one
//! [`Check`], which goes through the public API of the engine and answers what it got for every key of the case's `expect`. A
//! [`Runner`] is a table of checks by kind: those that need a selector language are plugged in by whoever has one, and until
//! then their cases are [`Verdict::Unsupported`], never passed over in silence.

mod case;
mod corpus;
mod document;
mod kinds;
mod runner;
mod schemas;
mod verdict;

pub use case::{Case, Edition};
pub use corpus::{Corpus, LoadError};
pub use document::{Detour, set_detour};
pub use kinds::{Check, DiffSelector, Got};
pub use runner::{Runner, run};
pub use schemas::check_schemas;
pub use verdict::Verdict;
