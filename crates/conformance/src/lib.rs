//! The PACT conformance corpus and its runner: cases in, verdicts out.
//!
//! ```text
//! FILES or a directory ─load→ Corpus ─run(case, edition)→ Verdict: pass, or what was got instead
//! ```
//!
//! The corpus is plain JSON in `corpus/`, for implementations in any language; [`Corpus::embedded`] is the same corpus inside
//! this crate.
//!
//! ```
//! use contextree_conformance::{Corpus, run};
//!
//! let corpus = Corpus::embedded()?;
//! let case = corpus.case("ORDER-7.1").expect("a case of the corpus");
//! assert!(run(case, case.editions[0]).is_pass());
//! # Ok::<(), contextree_conformance::LoadError>(())
//! ```
//!
//! A case is plain JSON and says by its `kind` what is to be done; `corpus/README.md` describes all kinds. Each kind has one
//! [`Check`], which goes through the public API of the engine and answers what it got for every key of the case's `expect`. A
//! [`Runner`] is a table of checks by kind: those that need a selector language are plugged in by whoever has one, and until
//! then their cases are [`Verdict::Unsupported`], never passed over in silence.

mod case;
mod corpus;
mod document;
mod files;
mod kinds;
mod runner;
mod schemas;
mod verdict;

pub use case::{Case, Edition};
pub use corpus::{Corpus, LoadError};
pub use document::{Detour, set_detour};
pub use files::FILES;
pub use kinds::{Check, DiffSelector, Got};
pub use runner::{Runner, run};
pub use schemas::check_schemas;
pub use verdict::Verdict;
