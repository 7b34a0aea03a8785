//! Selectors over space and time: the query language of PACT on trees and histories.
//!
//! The steps, each in the module of its name:
//!
//! 1. `contextree_selector` parses text into a syntax tree.
//! 2. [`resolve`](fn@resolve): times become positions in a [`Timeline`], names become conditions.
//!    After this there is no relative time, no alias and no edition; see [`resolved`].
//! 3. [`plan`](fn@plan): decides what is looked up and what is scanned.
//! 4. [`evaluate`](fn@evaluate): a plan and a tree give nodes in result order; [`find_matches`]
//!    does not fetch them.
//!
//! [`select`](fn@select) runs all steps. A range returns a [`RangeDiff`] instead of nodes, and
//! [`explain`](fn@explain) describes what would be done.
//!
//! ```
//! use contextree_query::{Moment, QueryError, SelectOptions, Timeline, select};
//! use contextree_selector::Edition;
//! use contextree_tree::{Builder, Cycle, NodeData, Region, Tree, TreeRef};
//!
//! /// One snapshot and nothing else.
//! struct Single(Tree);
//!
//! impl Timeline for Single {
//!     type Error = QueryError;
//!
//!     fn snapshot_count(&self) -> usize {
//!         1
//!     }
//!     fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, QueryError> {
//!         Ok((position == 0).then(|| Moment { cycle: Cycle::FIRST, tree: self.0.view() }))
//!     }
//!     fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
//!         Ok(None)
//!     }
//! }
//!
//! let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
//! let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
//! let mut builder = Builder::new(node("root", "^root"), regions).expect("four ids");
//! let head = builder.region(Region::Head);
//! builder.push(head, node("hello", "block")).expect("a new id");
//! let timeline = Single(builder.finish(Cycle(2)));
//!
//! let answer = select("@t0 ^ah .block", Edition::V0_3, &timeline, &SelectOptions::default())?;
//! assert_eq!(answer.nodes().expect("no range").ids(), ["hello"]);
//!
//! let error = select("@t-7 ^ah", Edition::V0_3, &timeline, &SelectOptions::default()).unwrap_err();
//! assert_eq!(error.code(), "E_SNAPSHOT_NOT_FOUND");
//! # Ok::<(), contextree_query::QueryError>(())
//! ```
//!
//! The crate only reads borrowed trees: no IO, no clock, no mutation.

mod compare;
mod depth;
mod error;
mod evaluate;
mod explain;
mod matches;
mod meter;
mod plan;
mod range;
mod resolve;
mod select;
mod selection;
mod suspect;
mod timeline;
mod view;

/// The types of a resolved selector: conditions without time, aliases or editions.
pub mod resolved {
    pub use crate::compare::{Decimal, Exact, Literal, Test, Typing};
    pub use crate::resolve::{
        Arrangement, At, Attr, Body, Chain, Column, Compound, Condition, DepthOf, Hop, HopKind,
        Mention, MentionKind, Named, Part, Pick, Query, Recency, Relation, ResolvedRange, Step,
        lower,
    };
}

pub use error::{QueryError, ResolveError, ResolveErrorKind, Warning, WarningKind};
#[doc(hidden)]
pub use evaluate::find_everywhere;
pub use evaluate::{evaluate, evaluate_within, find_matches, find_matches_within};
pub use explain::{
    ExplainedStep, Explanation, SyntaxNode, explain, explain_parsed, explain_within,
};
pub use matches::Matches;
pub use meter::{Interrupt, QueryLimits};
pub use plan::{Plan, plan};
pub use range::{
    ChangedNode, ContentBody, ContentDiff, ContentMode, DiffBlock, FieldDelta, Hunk, HunkKind,
    Limits, Locality, Materialize, PatchOp, RangeDiff, RangeError, RangeOptions, SnapshotKind,
    SnapshotRef, Stats, UnknownContentMode, diff_selected, json_patch, locality,
};
pub use resolve::{ResolvedSelector, resolve, resolve_on_tree};
pub use select::{Answer, SelectOptions, select, select_parsed};
pub use selection::Selection;
pub use timeline::{Moment, Timeline};
pub use view::{Coordinate, NodeView, depth_of};
