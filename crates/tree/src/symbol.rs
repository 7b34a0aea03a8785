//! Types, roles and kinds as numbers, compared without their text.

use crate::node::NodeRef;
use crate::row::{NO_SYMBOL, NodeKey, RowNumber};
use crate::view::TreeRef;
use crate::walk::Preorder;

/// The number of a type, a role or a kind, valid in all trees of a context and its forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

impl Symbol {
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// Tells a walk which subtrees to skip, because nothing in them can match.
///
/// It is only a hint. A walk that follows it visits every node that matches, its ancestors, and
/// some that do not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    pub(crate) marks: u32,
    pub(crate) expires_by: u32,
}

impl Default for Hint {
    /// Returns a hint that excludes nothing.
    fn default() -> Self {
        Hint { marks: 0, expires_by: u32::MAX }
    }
}

impl Hint {
    /// Restricts the walk to subtrees with a node of this type, role or kind.
    #[must_use]
    pub fn with_symbol(self, symbol: Symbol) -> Self {
        Hint { marks: self.marks | crate::list::Summary::of_symbol(symbol.0), ..self }
    }

    /// Restricts the walk to subtrees with a node that has a key.
    pub fn with_key(self) -> Self {
        Hint { marks: self.marks | crate::list::Summary::KEY, ..self }
    }

    /// Restricts the walk to subtrees with a node whose ttl is at most this many commits in `tree`.
    #[must_use]
    pub fn with_ttl_at_most(self, ttl: u32, tree: TreeRef<'_>) -> Self {
        let last = tree.next_cycle().plus(ttl).get().min(u32::MAX - 1);
        Hint { expires_by: self.expires_by.min(last), ..self }
    }
}

impl<'a> TreeRef<'a> {
    /// Returns the number of a type, a role or a kind; `None` if no node of this context ever had
    /// it.
    #[must_use]
    pub fn symbol(self, text: &str) -> Option<Symbol> {
        self.base.space.symbols.find(text).map(Symbol)
    }

    /// Returns the text of a symbol.
    #[must_use]
    pub fn symbol_text(self, symbol: Symbol) -> &'a str {
        self.base.space.symbols.name(symbol.0)
    }

    /// Returns all nodes in subtrees that a hint does not exclude, parents before children,
    /// siblings in canonical order.
    #[must_use]
    pub fn nodes_with(self, hint: Hint) -> Preorder<'a> {
        Preorder::with_hint(self.root(), hint)
    }

    /// Returns the [version](NodeRef::version) of the only node with a key; `None` if there are none
    /// or several, or if its row has to be read to know.
    #[must_use]
    pub fn sole_version_with_key(self, key: &str) -> Option<RowNumber> {
        if self.overlay.is_some() {
            return None;
        }
        let space = &self.base.space;
        space.sole_keyed(space.symbols.find(key)?, self.base.rows)
    }

    /// Returns the nodes that have a key, in document order, using the index.
    pub fn with_key(self, key: &str) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let symbol = self.base.space.symbols.find(key);
        // Nearly always there is one, and no list is needed.
        let (mut first, mut others) = (None, Vec::new());
        let mut add = |node: NodeKey| match first {
            None => first = Some(node),
            Some(known) if known == node => {}
            Some(_) => others.push(node),
        };
        if let Some(symbol) = symbol {
            self.base.space.each_keyed(symbol, &mut add);
        }
        if let Some(overlay) = self.overlay {
            overlay.keyed().for_each(add);
        }
        others.sort_unstable();
        others.dedup();
        // The text is compared only if the row is too new to have a symbol.
        let has_key = |node: &NodeRef<'a>| match node.row.key {
            NO_SYMBOL => node.key() == Some(key),
            known => Some(known) == symbol,
        };
        let keyed = |node| self.find(node).filter(has_key);
        let mut first = first.and_then(keyed);
        let mut others: Vec<_> = others.into_iter().filter_map(keyed).collect();
        if !others.is_empty() {
            others.extend(first.take());
            others.sort_by_cached_key(|node| node.place());
        }
        first.into_iter().chain(others)
    }
}

impl<'a> NodeRef<'a> {
    /// Returns the type as a number.
    #[must_use]
    #[inline]
    pub fn type_symbol(self) -> Symbol {
        Symbol(self.row.node_type)
    }

    /// Returns the role as a number.
    #[must_use]
    #[inline]
    pub fn role_symbol(self) -> Option<Symbol> {
        (self.row.role != NO_SYMBOL).then_some(Symbol(self.row.role))
    }

    /// Returns the kind as a number.
    #[must_use]
    #[inline]
    pub fn kind_symbol(self) -> Option<Symbol> {
        (self.row.kind != NO_SYMBOL).then_some(Symbol(self.row.kind))
    }

    /// Returns the node and its subtree, except what a hint excludes.
    #[must_use]
    pub fn subtree_with(self, hint: Hint) -> Preorder<'a> {
        Preorder::with_hint(self, hint)
    }
}
