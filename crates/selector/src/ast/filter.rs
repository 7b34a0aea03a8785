//! Filters: conditions on attributes, in all their notations.

use super::Value;
use crate::{Edition, Span};

/// A condition on one attribute: `[ttl<=1]`, `(ttl<=1)`, `{ ttl<=1 }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The attribute.
    pub name: AttrName,
    /// The condition on its value.
    pub test: Test,
    /// The span of the name.
    pub name_span: Span,
    /// The span of the condition, without brackets.
    pub span: Span,
}

impl Filter {
    /// Returns the key if the filter is an equality on the `key` header, `[key='K']`. Such a filter
    /// in the last compound or in the property block orders the result newest first (ER-091).
    pub fn key_equality(&self) -> Option<&str> {
        match (&self.name, &self.test) {
            (AttrName::Key, Test::Compare(Op::Eq, Value::Text(key))) => Some(key),
            _ => None,
        }
    }
}

/// An attribute name, by how its value is found.
///
/// Names of the second group are headers with rules of their own from edition 0.2 on; in edition
/// 0.1 they are ordinary names and parsed as [`AttrName::Other`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrName {
    /// `id`.
    Id,
    /// `nodeType`, the exact stored value.
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
    /// `cycle`.
    Cycle,
    /// `created_at_ns`.
    CreatedAtNs,
    /// `created_at_iso`.
    CreatedAtIso,
    /// `creation_index`.
    CreationIndex,
    /// `key`, the logical handle. Edition 0.2.
    Key,
    /// `tag`: equality is membership in the node's tags. Edition 0.2.
    Tag,
    /// `type`: the derived class word, not a stored header. Edition 0.2.
    Type,
    /// A facet derived from the snapshot. Edition 0.2.
    Facet(Facet),
    /// Any other header, by its name.
    Other(Box<str>),
}

impl AttrName {
    /// Returns the meaning of `name` in `edition`.
    pub fn new(name: &str, edition: Edition) -> Self {
        match name {
            "id" => return Self::Id,
            "nodeType" => return Self::NodeType,
            "role" => return Self::Role,
            "kind" => return Self::Kind,
            "offset" => return Self::Offset,
            "ttl" => return Self::Ttl,
            "priority" => return Self::Priority,
            "cycle" => return Self::Cycle,
            "created_at_ns" => return Self::CreatedAtNs,
            "created_at_iso" => return Self::CreatedAtIso,
            "creation_index" => return Self::CreationIndex,
            _ => {}
        }
        if edition >= Edition::V0_2 {
            match name {
                "key" => return Self::Key,
                "tag" => return Self::Tag,
                "type" => return Self::Type,
                "born_turn" => return Self::Facet(Facet::BornTurn),
                "age" => return Self::Facet(Facet::Age),
                "depth" => return Self::Facet(Facet::Depth),
                "sdepth" => return Self::Facet(Facet::Sdepth),
                _ => {}
            }
        }
        Self::Other(name.into())
    }

    /// Returns the name as it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Id => "id",
            Self::NodeType => "nodeType",
            Self::Role => "role",
            Self::Kind => "kind",
            Self::Offset => "offset",
            Self::Ttl => "ttl",
            Self::Priority => "priority",
            Self::Cycle => "cycle",
            Self::CreatedAtNs => "created_at_ns",
            Self::CreatedAtIso => "created_at_iso",
            Self::CreationIndex => "creation_index",
            Self::Key => "key",
            Self::Tag => "tag",
            Self::Type => "type",
            Self::Facet(facet) => facet.as_str(),
            Self::Other(name) => name,
        }
    }
}

/// A value derived from a snapshot; it does not exist in the working state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facet {
    /// `born_turn`, the cycle the node was created in.
    BornTurn,
    /// `age`, the cycles since then at the snapshot.
    Age,
    /// `depth`, the containing depth: -1, 0, 1, …
    Depth,
    /// `sdepth`, edges from the root.
    Sdepth,
}

impl Facet {
    /// Returns the facet's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BornTurn => "born_turn",
            Self::Age => "age",
            Self::Depth => "depth",
            Self::Sdepth => "sdepth",
        }
    }
}

/// The condition on an attribute's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// `[a]`: the value is present and not null.
    Present,
    /// `[a<=1]`.
    Compare(Op, Value),
    /// `[a=[x,y]]`: the value equals one of these, at least one. Edition 0.3.
    OneOf(Vec<Value>),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `=`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `~`: substring of a text, member of a list. Edition 0.3.
    Contains,
}

impl Op {
    /// Returns the operator's text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Contains => "~",
        }
    }
}

/// A tag that a result must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The tag's name; any text, although `+tag` can only express identifiers.
    pub name: Box<str>,
    /// Its span in the text.
    pub span: Span,
}

/// One condition of the bracket after a body, `(d0, *:block) [ ttl>0, ephemeral ]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behavior {
    /// The condition.
    pub kind: BehaviorKind,
    /// Its span in the text.
    pub span: Span,
}

/// The conditions in a behavior bracket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehaviorKind {
    /// `ttl>0`, evaluated like a filter in `{…}`.
    Filter(Filter),
    /// `ephemeral`. Edition 0.3; in earlier editions, a bare name is a presence test.
    Flag(Flag),
}

/// A flag of the behavior bracket. A header of the same name decides; without one, `ttl` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// `ephemeral`: `ttl` is a number.
    Ephemeral,
    /// `sticky`: `ttl` is null.
    Sticky,
}

impl Flag {
    /// Returns the flag's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral",
            Self::Sticky => "sticky",
        }
    }
}
