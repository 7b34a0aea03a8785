//! The PACT conformance corpus and its runner: cases in, verdicts out.
//!
//! ```text
//! FILES or a directory ─load→ Corpus ─run(case, edition)→ Verdict: pass, or what was got instead
//! ```
//!
//! The corpus is plain JSON in `corpus/`, for implementations in any language; [`Corpus::embedded`]
//! is the same corpus inside this crate.
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
//! A case is plain JSON, and its `kind` selects what is checked; `corpus/README.md` describes all
//! kinds. Each kind has one [`Check`], which uses the public API of the engine and returns what the
//! engine returned; the comparison with the case's `expect` comes after it. A [`Runner`] is a table of checks by kind. Checks
//! that need a selector language are supplied by the caller; without them, their cases are
//! [`Verdict::Unsupported`] and never skipped silently.

mod agree;
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
