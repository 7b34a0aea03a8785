//! The selector as a whole.

use super::{Behavior, Chain, Controls, Filter, OneOrMore, Position, Tag, Time, TimeKind, Within};
use crate::{Edition, Span};

/// A parsed selector: `@time body { filters } [ behavior ] +tags @controls`.
///
/// The result is what [`body`](Self::body) finds, kept where all `filters`, `tags` and `behavior` hold,
/// then passed through `controls` (order → unique → window → first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The edition the text was read in; it also governs how the tree is printed.
    pub edition: Edition,
    /// The snapshot prefix. `None` means `@t0` in edition 0.1 and the working state afterwards.
    pub time: Option<Time>,
    /// What is looked for.
    pub body: Body,
    /// Filters of the property blocks behind the body, all of which must hold. For [`Body::Step`],
    /// [`Body::Deep`] and [`Body::Tree`] these are the search's own conditions.
    pub filters: Vec<Filter>,
    /// Tags a result must carry, all of them: sorted, each once. `+tag` and `{ tag='x' }` both end here.
    pub tags: Vec<Tag>,
    /// Conditions of the bracket behind the body, all of which must hold.
    pub behavior: Vec<Behavior>,
    /// What happens to the list of matches.
    pub controls: Controls,
    /// The selector without surrounding blanks.
    pub span: Span,
}

impl Selector {
    /// Returns true if the selector addresses a range of snapshots, so that selecting answers with
    /// differences instead of ids.
    pub fn is_range(&self) -> bool {
        matches!(self.time, Some(Time { kind: TimeKind::Range(_), .. }))
    }

    /// Returns true if the selector reads the working state: no snapshot prefix, edition 0.2 or later.
    pub fn reads_working_state(&self) -> bool {
        self.time.is_none() && self.edition >= Edition::V0_2
    }
}

/// What a selector looks for, before filters and controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// `A B > C, D`: the union of chains.
    Chains(OneOrMore<Chain>),
    /// `(d0, cont[offset=0], *:block)` or the shorthand `d1`. Edition 0.2.
    Position(Position),
    /// `? { … }`: the children of the root container. Edition 0.3.
    Step,
    /// `?? { … }`, `within(…) ?? { … }` or `+tag`: the descendants of the scope; of the addressed
    /// tree's root when there is no scope. Edition 0.3.
    Deep(Option<Within>),
    /// `{ … }` at the beginning: every node of the addressed tree, the root included. Edition 0.3.
    Tree,
}
