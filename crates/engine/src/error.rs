//! The engine's errors, with a stable code, a location and a hint.

use contextree_query::QueryError;

/// Why an operation was rejected. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// The node cannot be put there, or not with these headers.
    #[error("{}: `{at}`", .reason.message())]
    InvalidPlacement {
        /// The rule.
        reason: Reason,
        /// The affected node or name.
        at: String,
    },
    /// The node or place belongs to a sealed turn.
    #[error("`{node}` is sealed")]
    Sealed {
        /// The node.
        node: String,
    },
    /// The header cannot change after the node is created.
    #[error("`{header}` of `{node}` cannot be changed")]
    Immutable {
        /// The node.
        node: String,
        /// The header.
        header: String,
    },
    /// The working tree has no such node.
    #[error("no node `{node}` in the working tree")]
    NodeNotFound {
        /// The id.
        node: String,
    },
    /// The node is part of the request of a running call.
    #[error("`{node}` is part of the request of `{attempt}`, which is running")]
    AttemptRunning {
        /// The node.
        node: String,
        /// The attempt of the call.
        attempt: String,
    },
    /// A limit would be exceeded.
    #[error("`{at}` would exceed the limit `{limit}` of {value}")]
    Limit {
        /// The limit: `max_depth`, `max_nodes` …
        limit: &'static str,
        /// Its value.
        value: u64,
        /// The affected node.
        at: String,
    },
}

/// The placement rule that was violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is explained by its message, and in docs/operations.md")]
pub enum Reason {
    AttributeNotNamespaced,
    ChildrenUnderBlock,
    ContentOnContainer,
    CoreLifecycle,
    Cycle,
    DuplicateId,
    ExtraRegion,
    FixedNode,
    GroupAtCore,
    InvalidHeader,
    NegativeTtl,
    NotATurn,
    PositionNotExpressible,
    PositionOutOfRange,
    RemovableBlock,
    ReservedName,
    SecondCore,
    TurnOutsideSequence,
    TypeNotNamespaced,
    UnknownParent,
}

impl Reason {
    /// Returns the stable name, in snake case.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.texts().0
    }

    fn message(self) -> &'static str {
        self.texts().1
    }

    fn hint(self) -> &'static str {
        self.texts().2
    }

    /// Returns the name, the message and the hint.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Reason::AttributeNotNamespaced => (
                "attribute_not_namespaced",
                "a custom attribute has no namespace",
                "start the name with `data_` or `content_`, or use `namespace:name`",
            ),
            Reason::ChildrenUnderBlock => (
                "children_under_block",
                "a block cannot have children",
                "add a container (`cont`) instead, or add next to the block",
            ),
            Reason::ContentOnContainer => (
                "content_on_container",
                "a container cannot have content of its own",
                "add a block inside it",
            ),
            Reason::CoreLifecycle => (
                "core_lifecycle",
                "the core of a turn cannot have a ttl or be removable",
                "set these on the blocks inside, or on a group at another offset",
            ),
            Reason::Cycle => {
                ("cycle", "a node cannot be moved below itself", "choose a parent outside of it")
            }
            Reason::DuplicateId => (
                "duplicate_id",
                "the id is already used in the working tree or in the last snapshot",
                "choose another id, or omit it to have one generated",
            ),
            Reason::ExtraRegion => (
                "extra_region",
                "the root cannot have children other than the three regions",
                "add to `^sys` or to `^ah`",
            ),
            Reason::FixedNode => (
                "fixed_node",
                "the root and the regions cannot be changed",
                "name a node inside a region",
            ),
            Reason::GroupAtCore => (
                "group_at_core",
                "offset 0 is reserved for the core",
                "choose a negative or positive offset",
            ),
            Reason::InvalidHeader => (
                "invalid_header",
                "a header has a value of the wrong type",
                "key, provenance, mime and encoding are strings; tags is a list of strings",
            ),
            Reason::NegativeTtl => (
                "negative_ttl",
                "a ttl cannot be negative",
                "a ttl of 0 expires at the next commit; omit it to keep the node",
            ),
            Reason::NotATurn => {
                ("not_a_turn", "not a turn", "name a turn or `^ah`; only a commit creates turns")
            }
            Reason::PositionNotExpressible => (
                "position_not_expressible",
                "no offset exists for this position between sealed siblings",
                "add at the start or the end, or give an offset",
            ),
            Reason::PositionOutOfRange => (
                "position_out_of_range",
                "no child has this number",
                "children are counted from 1; use `start` or `end`",
            ),
            Reason::RemovableBlock => (
                "removable_block",
                "only containers can be removable",
                "give a block a ttl instead",
            ),
            Reason::ReservedName => (
                "reserved_name",
                "the name is reserved",
                "set the header of that name, or choose another name",
            ),
            Reason::SecondCore => (
                "second_core",
                "the turn already has a core",
                "add to the core, or choose a negative or positive offset",
            ),
            Reason::TurnOutsideSequence => (
                "turn_outside_sequence",
                "turns can only be in `^seq`, and only a commit adds them",
                "add to `^ah` and commit",
            ),
            Reason::TypeNotNamespaced => (
                "type_not_namespaced",
                "a custom type has no namespace",
                "write `cb:name` or `custom:name`",
            ),
            Reason::UnknownParent => (
                "unknown_parent",
                "the parent is not in the working tree",
                "use the id of a node, `^sys` or `^ah`",
            ),
        }
    }
}

impl OpError {
    pub(crate) fn placement(reason: Reason, at: &str) -> Self {
        OpError::InvalidPlacement { reason, at: at.to_owned() }
    }

    pub(crate) fn sealed(node: &str) -> Self {
        OpError::Sealed { node: node.to_owned() }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            OpError::InvalidPlacement { .. } => "E_INVALID_PLACEMENT",
            OpError::Sealed { .. } => "E_SEALED",
            OpError::Immutable { .. } => "E_IMMUTABLE",
            OpError::NodeNotFound { .. } => "E_NODE_NOT_FOUND",
            OpError::AttemptRunning { .. } => "E_ATTEMPT_RUNNING",
            OpError::Limit { .. } => "E_LIMIT",
        }
    }

    /// Returns the detailed reason; empty if the code is sufficient.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            OpError::InvalidPlacement { reason, .. } => reason.word(),
            OpError::Limit { limit, .. } => limit,
            _ => "",
        }
    }

    /// Returns the affected id or name.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            OpError::InvalidPlacement { at, .. } | OpError::Limit { at, .. } => at,
            OpError::Sealed { node }
            | OpError::Immutable { node, .. }
            | OpError::NodeNotFound { node }
            | OpError::AttemptRunning { node, .. } => node,
        }
    }

    /// Returns a hint.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            OpError::InvalidPlacement { reason, .. } => reason.hint(),
            OpError::Sealed { .. } => {
                "sealed turns cannot change; add a new node, for example as post-context of the turn"
            }
            OpError::Immutable { .. } => "add a new node with the value you want",
            OpError::NodeNotFound { .. } => {
                "it may have expired or never existed; list the nodes of the tree"
            }
            OpError::AttemptRunning { .. } => {
                "cancel the attempt first, or add a new node: it becomes part of the next request"
            }
            OpError::Limit { .. } => "limits are options for opening a context",
        }
    }
}

/// Why a batch was rejected. None of it was applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {} of the batch: {error}", .index + 1)]
pub struct BatchError {
    /// The index of the operation, from 0.
    pub index: usize,
    /// The reason.
    #[source]
    pub error: OpError,
}

/// Why a commit failed. Nothing was changed, and the next try has the same number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The compaction returned an operation that is not allowed.
    #[error("compaction failed: {0}")]
    Compaction(#[source] BatchError),
    /// A node that was to be dropped does not exist, or may not be removed.
    #[error("cannot drop a node: {0}")]
    Drop(#[source] Box<OpError>),
    /// A limit uses a measure that the context does not have.
    #[error("unknown measure `{0}` in the policy")]
    UnknownMeasure(
        /// Its name.
        String,
    ),
    /// A selector of the policy is invalid, contains a time prefix, or is too much work.
    #[error("{}", of_policy(list, selector, error))]
    Selector {
        /// `exclude` or `removable`.
        list: &'static str,
        /// The selector.
        selector: String,
        /// The problem.
        #[source]
        error: QueryError,
    },
    /// The context was changed since the preview.
    #[error("the context was changed since the preview")]
    StalePreview,
    /// The summary is of other nodes than those that the commit prunes.
    #[error("the summary is of {given} nodes, but the commit prunes others ({pruned})")]
    StaleSummary {
        /// The number of nodes that were summarized.
        given: usize,
        /// The number of nodes that the commit prunes.
        pruned: usize,
    },
    /// With the summary, a limit of the policy is exceeded again.
    #[error("the summary is too long: it measures {size}, and only {free} is free")]
    SummaryTooLong {
        /// Its size, in the measure of the limit.
        size: u64,
        /// What is left below the limit.
        free: u64,
    },
    /// A call is running: completing it makes the commit.
    #[error("the call `{attempt}` is running: completing it makes the commit")]
    AttemptRunning {
        /// The attempt of the call.
        attempt: String,
    },
    /// The number of commits is exhausted.
    #[error("the context has the maximum number of commits")]
    TooManyCommits,
}

impl CommitError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            CommitError::Compaction(batch) => batch.error.code(),
            CommitError::Drop(error) => error.code(),
            CommitError::UnknownMeasure(_) => "E_UNKNOWN_MEASURE",
            CommitError::Selector { error, .. } => error.code(),
            CommitError::StalePreview => "E_CONFLICT",
            CommitError::StaleSummary { .. } => "E_SUMMARY_STALE",
            CommitError::SummaryTooLong { .. } => "E_SUMMARY_TOO_LONG",
            CommitError::AttemptRunning { .. } => "E_ATTEMPT_RUNNING",
            CommitError::TooManyCommits => "E_LIMIT",
        }
    }
}

fn of_policy(list: &str, selector: &str, error: &QueryError) -> String {
    match error {
        QueryError::Limit { .. } => format!("`{list}` of the policy: {error}"),
        _ => format!("invalid selector `{selector}` in `{list}` of the policy: {error}"),
    }
}
