//! Controls: how the list of matches is processed, `@order=bfs @limit=5`.

use crate::{Span, Spanned};

/// The controls of a selector; each at most once. They apply in the order `order`, `unique`, window
/// (`limit` and `page`), `first`, regardless of their written order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// `@mode=latest`: what a range compares. Edition 0.2; never for the working state.
    pub mode: Option<Spanned<Mode>>,
    /// `@p=2`: the page of `@limit` matches, counted from 1. Edition 0.3, like all below.
    pub page: Option<Spanned<u64>>,
    /// `@limit=50`.
    pub limit: Option<Spanned<u64>>,
    /// `@order=bfs`.
    pub order: Option<Spanned<Order>>,
    /// `@first`.
    pub first: Option<Span>,
    /// `@unique`.
    pub unique: Option<Span>,
}

impl Controls {
    /// Returns whether there are no controls.
    pub fn is_empty(&self) -> bool {
        self.mode.is_none()
            && self.page.is_none()
            && self.limit.is_none()
            && self.order.is_none()
            && self.first.is_none()
            && self.unique.is_none()
    }
}

/// What a range compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `union`: each snapshot's matches, pairwise.
    Union,
    /// `latest`: like `union`, but only nodes that match in the newest snapshot.
    Latest,
    /// `reduce`: the newest against the oldest, in one step.
    Reduce,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Union, Self::Latest, Self::Reduce];

    /// Returns the mode's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Union => "union",
            Self::Latest => "latest",
            Self::Reduce => "reduce",
        }
    }
}

/// The order of matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `pre`: document order.
    Pre,
    /// `post`: children before their parent.
    Post,
    /// `bfs`: level by level.
    Bfs,
    /// `path`: by path, which is document order.
    Path,
    /// `turn:asc,pre`: oldest turn first.
    TurnAsc,
    /// `turn:desc,pre`: newest turn first.
    TurnDesc,
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 6] =
        [Self::Pre, Self::Post, Self::Bfs, Self::Path, Self::TurnAsc, Self::TurnDesc];

    /// Returns the order's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pre => "pre",
            Self::Post => "post",
            Self::Bfs => "bfs",
            Self::Path => "path",
            Self::TurnAsc => "turn:asc,pre",
            Self::TurnDesc => "turn:desc,pre",
        }
    }
}
