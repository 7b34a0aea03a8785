//! Why the engine refused, with a stable code, a place and a hint.

use std::fmt;

use contextree_query::QueryError;

/// Why an operation was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpError {
    /// The node cannot be put there, or not with these headers.
    InvalidPlacement {
        /// Which rule.
        reason: Reason,
        /// The node or name at fault.
        at: String,
    },
    /// The node, or the place, belongs to the sealed past.
    Sealed {
        /// The node.
        node: String,
    },
    /// The header is fixed when the node is created.
    Immutable {
        /// The node.
        node: String,
        /// The header.
        header: String,
    },
    /// No such node is in the working tree.
    NodeNotFound {
        /// The id.
        node: String,
    },
    /// The node is part of the request of a running call.
    AttemptRunning {
        /// The node.
        node: String,
        /// The attempt of the call.
        attempt: String,
    },
    /// A limit would be passed.
    Limit {
        /// Which limit: `max_depth`, `max_nodes` …
        limit: &'static str,
        /// Its value.
        value: u64,
        /// The node at fault.
        at: String,
    },
}

/// Which rule of placement was broken.
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
    /// Returns the stable word, in snake case.
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

    /// The word, what is wrong, and what to do about it.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Reason::AttributeNotNamespaced => (
                "attribute_not_namespaced",
                "a custom attribute has no namespace",
                "begin its name with `data_` or `content_`, or write `namespace:name`",
            ),
            Reason::ChildrenUnderBlock => (
                "children_under_block",
                "a block cannot have children",
                "put a container (`cont`) there, or add beside the block",
            ),
            Reason::ContentOnContainer => (
                "content_on_container",
                "a container cannot have content of its own",
                "add a block inside it",
            ),
            Reason::CoreLifecycle => (
                "core_lifecycle",
                "the core of a turn can have neither a ttl nor `removable`",
                "give them to the blocks inside, or to a group at another offset",
            ),
            Reason::Cycle => {
                ("cycle", "a node cannot be moved below itself", "choose a parent outside of it")
            }
            Reason::DuplicateId => (
                "duplicate_id",
                "the id is taken, in the working tree or in the last snapshot",
                "choose another id, or give none to have one made",
            ),
            Reason::ExtraRegion => (
                "extra_region",
                "under the root stand the three regions and nothing else",
                "add to `^sys` or to `^ah`",
            ),
            Reason::FixedNode => (
                "fixed_node",
                "the root and the regions stay as they are",
                "name a node inside a region",
            ),
            Reason::GroupAtCore => (
                "group_at_core",
                "a group cannot stand at offset 0, where the core is",
                "choose an offset below or above 0",
            ),
            Reason::InvalidHeader => (
                "invalid_header",
                "a header has a value of the wrong type",
                "texts for key, provenance, mime and encoding; a list of texts for tags",
            ),
            Reason::NegativeTtl => (
                "negative_ttl",
                "a ttl cannot be negative",
                "0 expires at the next commit, no ttl never",
            ),
            Reason::NotATurn => (
                "not_a_turn",
                "this is no turn, or not a place where only turns stand",
                "name a turn or `^ah`; turns arise only by commit",
            ),
            Reason::PositionNotExpressible => (
                "position_not_expressible",
                "no offset leads to this position between sealed siblings",
                "add at the start or at the end, or with an offset",
            ),
            Reason::PositionOutOfRange => (
                "position_out_of_range",
                "there is no child with this number",
                "children are counted from 1; use `start` or `end`",
            ),
            Reason::RemovableBlock => {
                ("removable_block", "only containers are removable", "give a block a ttl instead")
            }
            Reason::ReservedName => (
                "reserved_name",
                "the name is reserved",
                "use the header of that name, or another name",
            ),
            Reason::SecondCore => (
                "second_core",
                "the turn has a core already",
                "add to the core, or choose an offset below or above 0",
            ),
            Reason::TurnOutsideSequence => (
                "turn_outside_sequence",
                "turns stand under `^seq` and get there only by commit",
                "add to `^ah` and commit",
            ),
            Reason::TypeNotNamespaced => (
                "type_not_namespaced",
                "a type of one's own needs a namespace",
                "write `cb:name` or `custom:name`",
            ),
            Reason::UnknownParent => (
                "unknown_parent",
                "the parent is not in the working tree",
                "name a node by its id, or `^sys` or `^ah`",
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

    /// Returns the finer reason; empty where the code says it all.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            OpError::InvalidPlacement { reason, .. } => reason.word(),
            OpError::Limit { limit, .. } => limit,
            _ => "",
        }
    }

    /// Returns the id or name at fault.
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

    /// Returns what to do instead.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            OpError::InvalidPlacement { reason, .. } => reason.hint(),
            OpError::Sealed { .. } => {
                "the past is not changed: add a new node, for example post-context of that turn"
            }
            OpError::Immutable { .. } => "add a new node with the value you want",
            OpError::NodeNotFound { .. } => {
                "it may have expired, or never existed; look at the tree"
            }
            OpError::AttemptRunning { .. } => {
                "cancel the attempt first, or add a new node: it becomes part of the next request"
            }
            OpError::Limit { .. } => "limits are set when the context is opened",
        }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpError::InvalidPlacement { reason, at } => {
                write!(formatter, "{}: `{at}`", reason.message())
            }
            OpError::Sealed { node } => write!(formatter, "`{node}` is sealed"),
            OpError::Immutable { node, header } => {
                write!(formatter, "`{header}` of `{node}` is fixed since its creation")
            }
            OpError::NodeNotFound { node } => {
                write!(formatter, "there is no node `{node}` in the working tree")
            }
            OpError::AttemptRunning { node, attempt } => {
                write!(
                    formatter,
                    "`{node}` is part of the request of `{attempt}`, which is running"
                )
            }
            OpError::Limit { limit, value, at } => {
                write!(formatter, "`{at}` would pass the limit `{limit}` of {value}")
            }
        }
    }
}

impl std::error::Error for OpError {}

/// Why a batch was refused. Nothing of it was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchError {
    /// Which operation, from 0.
    pub index: usize,
    /// Why.
    pub error: OpError,
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "operation {} of the batch: {}", self.index + 1, self.error)
    }
}

impl std::error::Error for BatchError {}

/// Why a commit failed. Nothing was changed, and the same number is used by the next try.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommitError {
    /// The compaction returned an operation that is refused.
    Compaction(BatchError),
    /// A limit counts in a measure that the context does not have.
    UnknownMeasure(
        /// Its name.
        String,
    ),
    /// What a policy excludes is no selector, or one that says when.
    Exclude {
        /// The selector.
        selector: String,
        /// What is wrong with it.
        error: QueryError,
    },
    /// The preview is of another state than the present one.
    StalePreview,
    /// A call is running: completing it makes the commit.
    AttemptRunning {
        /// The attempt of the call.
        attempt: String,
    },
    /// The context has as many commits as can be counted.
    TooManyCommits,
}

impl CommitError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            CommitError::Compaction(batch) => batch.error.code(),
            CommitError::UnknownMeasure(_) => "E_UNKNOWN_MEASURE",
            CommitError::Exclude { error, .. } => error.code(),
            CommitError::StalePreview => "E_CONFLICT",
            CommitError::AttemptRunning { .. } => "E_ATTEMPT_RUNNING",
            CommitError::TooManyCommits => "E_LIMIT",
        }
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Compaction(error) => {
                write!(formatter, "the compaction was refused: {error}")
            }
            CommitError::UnknownMeasure(name) => {
                write!(
                    formatter,
                    "the policy counts in `{name}`, which this context cannot measure"
                )
            }
            CommitError::Exclude { selector, error } => {
                write!(formatter, "the policy excludes `{selector}`: {error}")
            }
            CommitError::StalePreview => {
                formatter.write_str("the context was changed since the preview")
            }
            CommitError::AttemptRunning { attempt } => {
                write!(formatter, "`{attempt}` is running: complete or cancel it first")
            }
            CommitError::TooManyCommits => formatter.write_str("no further commit can be counted"),
        }
    }
}

impl std::error::Error for CommitError {}
