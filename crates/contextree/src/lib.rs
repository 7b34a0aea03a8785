//! Contextree: the memory that an agent's model sees, kept as a deterministic, versioned tree.
//!
//! ```
//! use contextree::{Context, NewNode, Place, SnapshotAddress};
//!
//! let mut context = Context::new();
//! context.add(Place::system(), NewNode::text("You are a weather bot.").role("system"))?;
//!
//! // First turn: the question, and a document that survives one commit.
//! context.add(Place::head(), NewNode::text("Will it rain in Oslo?").role("user"))?;
//! context.add(Place::at("^ah", 1), NewNode::text("Forecast: rain").role("tool").ttl(1))?;
//! context.commit()?;
//!
//! // Second turn. The forecast expires with it.
//! context.add(Place::head(), NewNode::text("And tomorrow?").role("user"))?;
//! let report = context.commit()?;
//! assert_eq!(report.expired, ["block:1.3"]);
//!
//! // What changed, and what the model saw before: nothing is ever lost.
//! let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0))?;
//! assert_eq!(diff.removed, ["block:1.3"]);
//! let before = context.snapshot(SnapshotAddress::Cycle(1))?;
//! assert!(String::from_utf8(before.thread())?.contains("Forecast: rain"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with [`Context`]. The rules of all operations are in `docs/operations.md`, the formats in `docs/format.md`.

pub use contextree_canon::thread::{
    ThreadRenderer, blocks, default_role, thread, thread_of_turn, thread_positions,
};
pub use contextree_canon::{
    DocumentError, Hash, InvalidContent, Issue, Limits, Profile, SPEC_VERSION, content_hash,
    content_hash_of_bytes, content_hash_of_document, hashed_text, node_digest, order_siblings,
    reference_bytes_of_document,
};
pub use contextree_engine::{
    Attempt, AttemptError, AttemptStart, AttemptStatus, BatchError, Clock, CommitError,
    CommitOptions, CommitReport, Compaction, Context, ContextOptions, Cue, Deferred, DiffError,
    Edit, FlatLogError, HistoryError, Holder, IdRequest, IdRole, IdSource, Limit, Liveness,
    LivenessProbe, LogicalClock, Measure, MeasureName, NewNode, Op, OpError, Operation, Outcome,
    Place, Policy, PolicyError, PreparedNode, Preview, Pruned, ReadableIds, Reason, Reference,
    Snapshot, SnapshotAddress, SnapshotError, Unmet, Warning, WriteError, Writer, Zone,
    prune_order,
};
pub use contextree_json as json;
pub use contextree_query as query;
pub use contextree_query::{Answer, Explanation, QueryError, RangeDiff, SelectOptions, Selection};
pub use contextree_selector::Edition;
pub use contextree_tree::diff;
pub use contextree_tree::{
    Body, Class, Content, Header, Log, NodeKey, NodeRef, Region, Scalar, Tree, TreeRef, Vocabulary,
};

pub use contextree_canon as canon;
pub use contextree_engine as engine;
pub use contextree_selector as selector;
pub use contextree_selector::parse;
pub use contextree_store as store;
pub use contextree_store::{
    ContextRow, ContextSettings, ReadError, Session, Store, StoreError, StoreOptions,
};
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

mod clock;
mod open;

pub use clock::SystemClock;
pub use open::{open, open_with};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
