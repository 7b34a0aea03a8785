//! Positions: paths of hops, `(d0, cont[offset=0], *:block)`.

use super::{ClassWord, Filter};
use crate::Span;

/// A path into the tree; its results are the nodes that the last hop reaches. Edition 0.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// At least one hop.
    pub hops: Vec<Hop>,
    /// Its span in the text, including parentheses.
    pub span: Span,
}

/// One hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The target.
    pub kind: HopKind,
    /// Conditions on the nodes reached, from `[…]`, `{…}` or `.kind`; all must hold.
    pub filters: Vec<Filter>,
    /// Its span in the text.
    pub span: Span,
}

/// The target of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopKind {
    /// `d1` or `depth(1)`: the container at this depth.
    Depth(i64),
    /// `seg` or `mt`: stays on the container that was reached, as a filter.
    Segment(ClassWord),
    /// `cont`, `mc`, `*:block`, `1`, `1:block`: children, of this class and at this offset if
    /// given. At least one of the two is.
    Child {
        /// The class, as spelled.
        class: Option<ClassWord>,
        /// The offset. Edition 0.3.
        offset: Option<i64>,
    },
    /// `? { … }`: children that satisfy the filters, of which there is at least one. Two such hops
    /// are never adjacent. Edition 0.3.
    Step,
}

/// The scope of a deep search, `within(d1, d3) ?? { … }`. Edition 0.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// At least one hop, as written; use [`stages`](Self::stages) to evaluate them.
    pub hops: Vec<Hop>,
    /// Its span in the text, without `??`.
    pub span: Span,
}

impl Within {
    /// Returns the path of the scope. Each stage is a union: adjacent `dN` hops form one stage with
    /// several members, every other hop is its own stage (ER-063).
    pub fn stages(&self) -> impl Iterator<Item = &[Hop]> {
        let is_depth = |hop: &Hop| matches!(hop.kind, HopKind::Depth(_));
        self.hops.chunk_by(move |left, right| is_depth(left) && is_depth(right))
    }
}

/// The target of a write: a position and a cue, `(d0, cont[offset=0], end)`. Edition 0.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// The parent.
    pub position: Position,
    /// The place among its children; `None` if the text names only the parent.
    pub cue: Option<Cue>,
    /// The span of the cue; empty, before the closing parenthesis, if there is none.
    pub cue_span: Span,
}

/// A place among the children of the target. Children are counted from 1; a number that does not
/// exist, including 0, is valid here and rejected by the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// A trailing comma: before the first child.
    Start,
    /// `end`: after the last child.
    End,
    /// `+N`: after child N.
    After(u64),
    /// `-N`: before child N.
    Before(u64),
}
