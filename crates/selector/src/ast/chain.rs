//! Chains: compounds joined by combinators, `^seq .mt:depth(1) > .cb[role='user']`.

use super::{DepthSet, Filter, OneOrMore};
use crate::Span;

/// A chain of steps. Its results are the nodes that match the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// At least one step. The first one's combinator is [`Combinator::Descendant`] and has no
    /// meaning: the first compound may match anywhere in the addressed tree.
    pub steps: Vec<Step>,
    /// Its span in the text.
    pub span: Span,
}

/// A compound and how it relates to the step before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The position of this step's nodes relative to the previous step's.
    pub combinator: Combinator,
    /// The conditions on this step's nodes.
    pub compound: Compound,
}

/// How two steps are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combinator {
    /// `A B`: B anywhere below A.
    Descendant,
    /// `A > B`: B directly below A.
    Child,
}

/// Conditions on one node, `.cb#x[ttl>1]:first`, applied from left to right (the order matters only
/// for `:first`, `:last` and `:nth`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    /// The parts in written order. A root, `depth(…)` or `*` can only be first; at most one part is
    /// a type, at most one an id or key.
    pub parts: OneOrMore<Part>,
    /// Its span in the text.
    pub span: Span,
}

impl Compound {
    /// Returns the key if the compound has a key equality, `#K` or `[key='K']`. Its `:first`,
    /// `:last` and `:nth` then count all nodes of that key (ER-084), and as the last compound it
    /// orders the result newest first (ER-091).
    pub fn key_equality(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match &part.kind {
            PartKind::Key(key) => Some(&**key),
            PartKind::Attr(filter) => filter.key_equality(),
            _ => None,
        })
    }

    /// Returns whether the compound is a zone: offset pseudo-classes only, as in `^ah :pre .cb`. As
    /// its own step, a zone names the part of a turn that contains its nodes, instead of nodes on
    /// the path (ER-082).
    pub fn is_zone(&self) -> bool {
        self.parts.iter().all(|part| {
            matches!(part.kind, PartKind::Pseudo(Pseudo::Pre | Pseudo::Core | Pseudo::Post))
        })
    }
}

/// One condition of a compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The condition.
    pub kind: PartKind,
    /// Its span in the text.
    pub span: Span,
}

/// The conditions a compound is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// `^seq`: the region's container.
    Root(Root),
    /// `depth(0)`: the containers at these depths. Edition 0.2.
    Depth(DepthSet),
    /// `*`: any node.
    Any,
    /// `.cb`.
    Type(TypeTest),
    /// `#x` in editions 0.1 and 0.2: the node with this id.
    Id(Box<str>),
    /// `#x` in edition 0.3: nodes with this `key`, never an id.
    Key(Box<str>),
    /// `[role='user']`, also from a group `(role='user')`.
    Attr(Filter),
    /// `:first`.
    Pseudo(Pseudo),
}

/// A root: one of the three regions, or the container of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// `^sys`, the system region.
    Sys,
    /// `^seq`, the sequence of sealed turns.
    Seq,
    /// `^ah`, the active head.
    Ah,
    /// `^root`, the root container.
    Root,
}

impl Root {
    /// Returns the root's text, `^seq`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sys => "^sys",
            Self::Seq => "^seq",
            Self::Ah => "^ah",
            Self::Root => "^root",
        }
    }
}

/// What a type token tests; the edition has been taken into account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeTest {
    /// `.cb`, `.block`: every node of the class, whichever spelling its `nodeType` has.
    Class(ClassWord),
    /// `.cb:summary` from edition 0.2 on: `nodeType` is exactly the word, `kind` is the rest.
    ClassKind {
        /// The word before the first colon.
        word: ClassWord,
        /// The rest after the colon.
        kind: Box<str>,
    },
    /// `nodeType` is exactly this text: `.tool_call` and `.custom:note` in every edition,
    /// `.cb:summary` in edition 0.1.
    NodeType(Box<str>),
}

/// The canonical class of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A turn, `mt` or `seg`.
    Turn,
    /// A container, `mc` or `cont`.
    Container,
    /// A block, `cb` or `block`; also every type whose prefix is not a class word.
    Block,
}

/// A class as spelled. All six words are valid in every edition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClassWord {
    /// `mt`, a turn.
    Mt,
    /// `mc`, a container.
    Mc,
    /// `cb`, a block.
    Cb,
    /// `seg`, a turn.
    Seg,
    /// `cont`, a container.
    Cont,
    /// `block`, a block.
    Block,
}

impl ClassWord {
    /// Returns the class word that equals `text`.
    pub fn from_text(text: &str) -> Option<Self> {
        Some(match text {
            "mt" => Self::Mt,
            "mc" => Self::Mc,
            "cb" => Self::Cb,
            "seg" => Self::Seg,
            "cont" => Self::Cont,
            "block" => Self::Block,
            _ => return None,
        })
    }

    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mt => "mt",
            Self::Mc => "mc",
            Self::Cb => "cb",
            Self::Seg => "seg",
            Self::Cont => "cont",
            Self::Block => "block",
        }
    }

    /// Returns the class of the word.
    pub const fn class(self) -> Class {
        match self {
            Self::Mt | Self::Seg => Class::Turn,
            Self::Mc | Self::Cont => Class::Container,
            Self::Cb | Self::Block => Class::Block,
        }
    }
}

/// A pseudo-class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pseudo {
    /// `:pre`, offset below 0.
    Pre,
    /// `:core`, offset 0.
    Core,
    /// `:post`, offset above 0.
    Post,
    /// `:first` among the siblings that satisfy the parts to the left.
    First,
    /// `:last` among them.
    Last,
    /// `:nth(n)` among them; n counts from 1.
    Nth(u64),
    /// `:depth(…)`.
    Depth(DepthSet),
}
