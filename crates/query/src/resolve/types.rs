//! The resolved selector: no relative time, no alias, no name that depends on an edition.

use contextree_selector::{DepthSet, Edition, Flag, Mode, Order, Root, Span};
use contextree_tree::{Class, Vocabulary};

use crate::compare::{Test, Typing};

/// A selector whose time is a list of existing snapshots and whose names are unambiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSelector {
    /// The canonical text of the selector.
    pub canonical: String,
    /// The trees that are read.
    pub at: At,
    /// The query on each of them.
    pub query: Query,
}

/// The trees that a selector reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The working state.
    Working,
    /// The snapshot at this position of the timeline.
    Snapshot(usize),
    /// Every snapshot, newest first.
    Every(Vec<usize>),
    /// A range of snapshots, to be compared pairwise.
    Range(ResolvedRange),
}

/// A range of snapshots that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRange {
    /// Their positions, newest first.
    pub positions: Vec<usize>,
    /// Whether labels name cycles instead of counting back from the present.
    pub by_cycle: bool,
    /// Whether the range extended beyond the existing snapshots.
    pub clipped: bool,
}

/// The query on one tree, and the processing of its matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Where matches come from.
    pub body: Body,
    /// Conditions that every match must also satisfy.
    pub keep: Vec<Condition>,
    /// The order of the matches.
    pub arrangement: Arrangement,
    /// Only the first match of each key (id for nodes without one).
    pub unique: bool,
    /// The page: how many to skip and how many to take.
    pub page: Option<(usize, usize)>,
    /// Only the first.
    pub first: bool,
    /// What a range reports.
    pub mode: Mode,
    /// Which of two turns with the same stamps is the newer one.
    pub recency: Recency,
    /// What the selector names and a tree may not have.
    pub mentions: Vec<Mention>,
}

/// Something that a selector names: worth a warning if the selector matches nothing because no node
/// has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// What is named.
    pub kind: MentionKind,
    /// Where, in bytes of the text.
    pub span: Span,
}

/// What a selector names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// A type that is not a class, `.custom:note`, or a class with a kind.
    Type(Box<str>),
    /// An attribute that is not a header of the specification.
    Attribute(Box<str>),
    /// A role, kind, key or tag.
    Value(Named, Box<str>),
    /// `seg` as the first hop, which asks the root and so matches nothing (ER-176).
    TurnHopFirst,
}

/// A header whose values are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// `role`.
    Role,
    /// `kind`.
    Kind,
    /// `key`.
    Key,
    /// A tag.
    Tag,
}

impl Named {
    /// Returns the header's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Kind => "kind",
            Self::Key => "key",
            Self::Tag => "tag",
        }
    }
}

/// The order of matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Parents before children, siblings in canonical order.
    Document,
    /// Newest first, for the nodes of one key (ER-088).
    SameKey,
    /// By `@order`.
    Ordered(Order),
}

/// How turns that tie on all stamps are ordered by age (switch S6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recency {
    /// The larger id is newer: depth is the reverse of document order.
    LargerId,
    /// The smaller id is newer.
    SmallerId,
}

impl Recency {
    /// Returns the rule of an edition.
    #[must_use]
    pub fn of(edition: Edition) -> Self {
        match edition {
            Edition::V0_1 | Edition::V0_2 => Self::LargerId,
            Edition::V0_3 => Self::SmallerId,
        }
    }
}

/// Where matches come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The union of chains.
    Chains(Vec<Chain>),
    /// The end of a path.
    Path(Vec<Hop>),
    /// The regions.
    Regions,
    /// Everything below the end of the stages; below the root if there are none.
    Below(Vec<Vec<Hop>>),
    /// Every node, including the root.
    Tree,
}

/// Steps from ancestors to descendants; the nodes of the last one are the matches. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The position of its nodes relative to those of the previous step.
    pub relation: Relation,
    /// Whether the step is a part of a turn instead of nodes: `:pre` in `^ah :pre .cb` (ER-082).
    pub is_zone: bool,
    /// The conditions on its nodes.
    pub compound: Compound,
}

/// The position of a step's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Anywhere below; after a zone also the zone's own child.
    Descendant,
    /// Directly below.
    Child,
}

/// Conditions on one node, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    /// The parts.
    pub parts: Vec<Part>,
    /// The key whose nodes picks choose among, instead of siblings.
    pub key: Option<Box<str>>,
}

impl Compound {
    /// Returns the conditions, without picks.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> + Clone {
        self.parts.iter().filter_map(|part| match part {
            Part::Test(condition) => Some(condition),
            Part::Pick(_) => None,
        })
    }

    /// Returns whether the match of a node depends on other nodes.
    pub fn has_picks(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Pick(_)))
    }

    /// Returns whether an elided core can match this compound (ER-001).
    pub fn accepts_core(&self) -> bool {
        self.conditions().any(|condition| *condition == Condition::Class(Class::Container))
    }
}

/// One part of a compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A condition on the node.
    Test(Condition),
    /// A choice among the nodes that satisfy the parts to the left.
    Pick(Pick),
}

/// The node that a pick chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The first.
    First,
    /// The last.
    Last,
    /// The n-th, from 1.
    Nth(u64),
}

/// One hop of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The target.
    pub kind: HopKind,
    /// Conditions on the nodes reached.
    pub tests: Vec<Condition>,
}

/// The target of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopKind {
    /// To the container at a depth.
    Depth(i64),
    /// No target: the node reached must be a turn, the head or the system region.
    Turn,
    /// Children, of this class and at this offset if given.
    Child(Option<Class>, Option<i64>),
}

/// A condition on one node, its ancestors and the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Any node.
    Any,
    /// One of the fixed containers.
    Fixed(Root),
    /// A node of this class.
    Class(Class),
    /// A turn, or the head or system region, which count as turns for depths (ER-085).
    TurnLike,
    /// A text column equals this text. A separate condition for the hot loop, which can compare
    /// symbols.
    Symbol(Column, Box<str>),
    /// The node with this id.
    Id(Box<str>),
    /// Nodes with this key.
    Key(Box<str>),
    /// The sign of the offset: `:pre`, `:core`, `:post`.
    Side(i64),
    /// The depth is in the set.
    Depth(DepthOf, DepthSet),
    /// An attribute satisfies a test.
    Attr(Attr, Test),
    /// The node carries the tag.
    Tag(Box<str>),
    /// A flag of the behavior bracket.
    Flag(Flag),
}

/// A text column of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// `nodeType`.
    NodeType,
    /// `role`.
    Role,
    /// `kind`.
    Kind,
}

/// Whose depth is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthOf {
    /// Sealed turns only (edition 0.1).
    SealedTurn,
    /// The containers on the depth axis: turns, the head (0), the system region (−1).
    Container,
    /// Any node, by the container it is or is in.
    Containing,
}

/// An attribute, by how its value is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attr {
    /// `id`.
    Id,
    /// `nodeType`.
    NodeType,
    /// `role`.
    Role,
    /// `kind`.
    Kind,
    /// `offset`.
    Offset,
    /// `ttl`.
    Ttl,
    /// `priority`.
    Priority,
    /// `cycle`, and the facet `born_turn`.
    Cycle,
    /// `created_at_ns`.
    CreatedAtNs,
    /// `created_at_iso`.
    CreatedAtIso,
    /// `creation_index`.
    CreationIndex,
    /// `key`.
    Key,
    /// The tags.
    Tags,
    /// The class name, in one of the vocabularies.
    ClassWord(Vocabulary),
    /// The facet `age`.
    Age,
    /// The facet `depth`.
    Depth,
    /// The facet `sdepth`.
    Sdepth,
    /// Any other header.
    Header(Box<str>),
}

impl Attr {
    /// Returns how values of the attribute are compared.
    pub fn typing(&self) -> Typing {
        match self {
            Self::Offset
            | Self::Ttl
            | Self::Priority
            | Self::Cycle
            | Self::CreatedAtNs
            | Self::CreationIndex
            | Self::Age
            | Self::Depth
            | Self::Sdepth => Typing::Number,
            Self::Id
            | Self::NodeType
            | Self::Role
            | Self::Kind
            | Self::CreatedAtIso
            | Self::Key
            | Self::Tags
            | Self::ClassWord(_) => Typing::Text,
            Self::Header(_) => Typing::Free,
        }
    }
}
