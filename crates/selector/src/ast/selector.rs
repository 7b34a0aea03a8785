//! The complete selector.

use super::{Behavior, Chain, Controls, Filter, OneOrMore, Position, Tag, Time, TimeKind, Within};
use crate::{Edition, Span};

/// A parsed selector: `@time body { filters } [ behavior ] +tags @controls`.
///
/// The result is what [`body`](Self::body) matches, restricted to nodes that satisfy all `filters`,
/// `tags` and `behavior`, then processed by `controls` (order → unique → window → first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The edition in which the text was parsed; it also determines how the tree is printed.
    pub edition: Edition,
    /// The snapshot prefix. `None` means `@t0` in edition 0.1 and the working state afterwards.
    pub time: Option<Time>,
    /// What to match.
    pub body: Body,
    /// Filters of the property blocks after the body, all of which must hold. For [`Body::Step`],
    /// [`Body::Deep`] and [`Body::Tree`] these are the conditions of the search itself.
    pub filters: Vec<Filter>,
    /// Tags that a result must have, all of them: sorted, each once. From both `+tag` and `{
    /// tag='x' }`.
    pub tags: Vec<Tag>,
    /// Conditions of the bracket after the body, all of which must hold.
    pub behavior: Vec<Behavior>,
    /// How the list of matches is processed.
    pub controls: Controls,
    /// The selector without surrounding whitespace.
    pub span: Span,
}

impl Selector {
    /// Returns whether the selector addresses a range of snapshots, so that selecting returns
    /// differences instead of ids.
    pub fn is_range(&self) -> bool {
        matches!(self.time, Some(Time { kind: TimeKind::Range(_), .. }))
    }

    /// Returns whether the selector reads the working state: no snapshot prefix, edition 0.2 or
    /// later.
    pub fn reads_working_state(&self) -> bool {
        self.time.is_none() && self.edition >= Edition::V0_2
    }
}

/// What a selector matches, before filters and controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// `A B > C, D`: the union of chains.
    Chains(OneOrMore<Chain>),
    /// `(d0, cont[offset=0], *:block)` or the shorthand `d1`. Edition 0.2.
    Position(Position),
    /// `? { … }`: the children of the root container. Edition 0.3.
    Step,
    /// `?? { … }`, `within(…) ?? { … }` or `+tag`: the descendants of the scope, or of the tree's
    /// root if there is no scope. Edition 0.3.
    Deep(Option<Within>),
    /// `{ … }` at the beginning: every node of the tree, including the root. Edition 0.3.
    Tree,
}
