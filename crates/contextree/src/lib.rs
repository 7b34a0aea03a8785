//! The context engine for LLM agents: what the model sees, kept as a deterministic, versioned tree.
//!
//! This crate is for programs that call models and want to know, store and control what each call is sent. It is the only crate
//! to depend on; the others are its parts. The steps:
//!
//! 1. [`open`] a [`Store`]: a SQLite file, a PostgreSQL database, or memory. Each context in it has a name.
//! 2. A [`Session`] reads one context and changes it in durable steps. Add [`user`] messages, [`tool_result`]s, [`document`]s with a
//!    ttl to the turn in progress ([`Place::head`]).
//! 3. *Begin* a model call (`calls`): what a commit would expire and prune is previewed, and you get the exact bytes of the request.
//!    Send them with your own client.
//! 4. *Complete* it with the response. That is the commit: one immutable [`Snapshot`] of what was sent, and the answer becomes the
//!    first content of the next cycle. There is nothing else to commit.
//! 5. Ask the past: [`Session::select`](Session#method.select), [`Session::diff`](Session#method.diff), forks.
//!
#![cfg_attr(feature = "providers", doc = "```")]
#![cfg_attr(not(feature = "providers"), doc = "```ignore")]
//! use contextree::calls::{Request, sent};
//! use contextree::provider::Provider;
//! use contextree::{ContextSettings, Error, Place, SnapshotAddress};
//! use contextree::{document, system, tool_result, user};
//!
//! // `agent.db` would be a file.
//! let store = contextree::open("memory:")?;
//! let mut session = store.create("weather", &ContextSettings::default())?;
//! session.update(|context| {
//!     context.add(Place::system(), system("You are a weather bot."))?;
//!     context.add(Place::head(), user("Will it rain in Oslo?"))?;
//!     // A document with ttl 1 is seen by exactly one call.
//!     context.add(Place::at("^ah", 1), document("Stations: Oslo, Bergen", 1))?;
//!     Ok::<_, Error>(())
//! })?;
//!
//! // The first call. `call.bytes` is the request; the response is what your client returns.
//! let request = Request::new(Provider::OpenAiChat, "gpt-5");
//! let call = request.begin(&mut session)?;
//! let response = br#"{"id":"r1","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"call-1",
//!     "type":"function","function":{"name":"forecast","arguments":"{\"city\":\"Oslo\"}"}}]}}]}"#;
//! let answer = call.complete(&mut session, response)?;
//! assert_eq!(answer.tool_calls[0].name, "forecast");
//!
//! // The second call has the result of the tool, and no longer the document.
//! session.update(|context| Ok::<_, Error>(context.add(Place::head(), tool_result("call-1", "rain from 14:00"))?))?;
//! let second = request.begin(&mut session)?;
//! assert!(!String::from_utf8_lossy(&second.bytes).contains("Stations"));
//! second.complete(&mut session, br#"{"id":"r2","choices":[{"message":{"role":"assistant","content":"Yes."}}]}"#)?;
//!
//! // Every snapshot is a request that was sent, and can be rendered and compared again.
//! assert_eq!(sent(&session, SnapshotAddress::Cycle(1))?.bytes, call.bytes);
//! let diff = session.diff(SnapshotAddress::Cycle(1), SnapshotAddress::Cycle(2))?;
//! assert_eq!(diff.removed.len(), 1);
//! assert!(session.select("@c1 .block[kind='document']")?.nodes().is_some());
//! # Ok::<(), Error>(())
//! ```
//!
//! # Errors
//!
//! The functions of this crate return [`Error`]. Methods of its parts ([`Store`], [`Session`], [`Context`]) return the error type of the part,
//! and each of these converts into [`Error`] with `?`: in a function that returns `Result<_, Error>`, there is nothing to do. With `anyhow`,
//! `map_err(Error::from)` keeps the code. [`Code`] lists all stable codes.
//!
//! # Features
//!
//! | feature | default | what |
//! |---|---|---|
//! | `sqlite` | yes | stores in a SQLite file |
//! | `postgres` | | stores in a PostgreSQL database |
//! | `providers` | yes | `provider`: render and lint requests, read answers |
//! | `import` | | `import`: requests and agent logs, read into contexts |
//! | `tokens` | | `tokens`, `budget`, `cache`: token counts, budgets, prompt-cache reports |
//! | `serde_json` | | `From` between [`json::Value`] and `serde_json::Value` |
//!
//! # Modules
//!
//! The names that most programs need are here. Everything else is in a module, by the part it comes from: [`store`], [`engine`],
//! [`selector`], [`query`], [`tree`], [`canon`] (formats and hashes), [`json`], and those of the features.
//!
//! The rules of all operations are in `docs/operations.md`, the formats in `docs/format.md`.

#[cfg(feature = "tokens")]
mod budgets;
#[cfg(feature = "providers")]
pub mod calls;
mod error;
mod nodes;
mod open;

// Open a store, and its contexts.
pub use contextree_store::{
    ContextRow, ContextSettings, Reader, Session, Store, StoreError, StoreOptions,
};
pub use open::{open, open_with};

// Write: operations and commits.
pub use contextree_engine::{
    CommitError, CommitOptions, CommitReport, Context, ContextOptions, Edit, NewNode, Op, OpError,
    Outcome, Place, WriteError, Zone,
};
pub use nodes::{assistant, document, image, system, tool, tool_call, tool_result, user};

// Budgets and policies.
#[cfg(feature = "tokens")]
pub use budgets::{budget_of, set_budget, with_budgets};
pub use contextree_engine::{Clear, Holder, Limit, MeasureName, Policy, Summary};

// Model calls.
pub use contextree_engine::{Attempt, AttemptStart, AttemptStatus, CallOutcome};

// Read: snapshots, selectors, diffs, nodes.
pub use contextree_canon::thread::thread;
pub use contextree_canon::{DocumentError, Hash, Profile, content_hash};
pub use contextree_engine::{HistoryError, Snapshot, SnapshotAddress, SnapshotError, Working};
pub use contextree_query::{Answer, SelectOptions, Selection};
pub use contextree_selector::{Edition, parse};
pub use contextree_tree::{
    Class, Content, Cycle, NodeRef, Region, Tree, TreeRef, Vocabulary, diff,
};

// Times and ids from outside.
pub use contextree_engine::{Clock, IdSource, LogicalClock};
pub use contextree_store::SystemClock;

// Errors.
pub use error::{Code, Error, Kind, Location, Result};

// Everything else, by part.
pub use contextree_canon as canon;
pub use contextree_engine as engine;
pub use contextree_json as json;
pub use contextree_query as query;
pub use contextree_selector as selector;
pub use contextree_store as store;
pub use contextree_tree as tree;

#[cfg(feature = "tokens")]
pub use contextree_budget as budget;
#[cfg(feature = "tokens")]
pub use contextree_cache as cache;
#[cfg(feature = "import")]
pub use contextree_import as import;
#[cfg(feature = "providers")]
pub use contextree_provider as provider;
#[cfg(feature = "postgres")]
pub use contextree_store_postgres as postgres;
#[cfg(feature = "tokens")]
pub use contextree_tokens as tokens;
#[cfg(feature = "serde_json")]
pub use serde_json;

/// The examples of the README run as tests.
#[cfg(all(doctest, feature = "tokens"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the page run as tests.
#[cfg(all(doctest, feature = "tokens"))]
#[doc = include_str!("../../../docs/loop.md")]
struct Loop;

/// The examples of the page run as tests.
#[cfg(all(doctest, feature = "tokens"))]
#[doc = include_str!("../../../docs/tutorial.md")]
struct Tutorial;

/// The examples of the page run as tests.
#[cfg(all(doctest, feature = "tokens"))]
#[doc = include_str!("../../../docs/tokens.md")]
struct Tokens;

/// The examples of the page run as tests.
#[cfg(all(doctest, feature = "tokens"))]
#[doc = include_str!("../../../docs/cache.md")]
struct Cache;
