//! Conditions of the hot loop, prepared for one tree: names as symbols, and a hint for skipping
//! subtrees.

use contextree_selector::Op;
use contextree_tree::{Class, Hint, Names, NodeRef, Symbol, TreeRef};

use super::condition::Env;
use super::spot::Spot;
use crate::compare::{Exact, Literal, Test};
use crate::resolve::{Attr, Column, Condition};

/// Conditions on nodes of one tree.
#[derive(Debug)]
pub(crate) struct Scan<'c> {
    class: Option<Class>,
    node_type: Option<Symbol>,
    role: Option<Symbol>,
    kind: Option<Symbol>,
    others: Vec<&'c Condition>,
    hint: Hint,
}

impl<'c> Scan<'c> {
    /// Prepares conditions; returns `None` if no node can satisfy them.
    pub(crate) fn new(
        conditions: impl Iterator<Item = &'c Condition>,
        tree: TreeRef<'_>,
    ) -> Option<Self> {
        let mut scan = Scan {
            class: None,
            node_type: None,
            role: None,
            kind: None,
            others: Vec::new(),
            hint: Hint::default(),
        };
        for condition in conditions {
            match condition {
                Condition::Any => {}
                Condition::Class(class) if scan.class.is_none() => scan.class = Some(*class),
                Condition::Symbol(column, text) => {
                    // The empty text has no symbol and is left to the slow comparison.
                    let symbol = match tree.symbol(text) {
                        None if text.is_empty() => {
                            scan.others.push(condition);
                            continue;
                        }
                        found => found?,
                    };
                    scan.hint = scan.hint.with_symbol(symbol);
                    let slot = match column {
                        Column::NodeType => &mut scan.node_type,
                        Column::Role => &mut scan.role,
                        Column::Kind => &mut scan.kind,
                    };
                    if slot.replace(symbol).is_some_and(|before| before != symbol) {
                        return None;
                    }
                }
                Condition::Key(_) => {
                    scan.hint = scan.hint.with_key();
                    scan.others.push(condition);
                }
                Condition::Attr(Attr::Ttl, test) => {
                    if let Some(most) = most_ttl(test) {
                        scan.hint = scan.hint.with_ttl_at_most(most, tree);
                    }
                    scan.others.push(condition);
                }
                _ => scan.others.push(condition),
            }
        }
        Some(scan)
    }

    /// Returns the hint for skipping subtrees.
    pub(crate) fn hint(&self) -> Hint {
        self.hint
    }

    /// Returns the names that a node must have.
    pub(crate) fn names(&self) -> Names {
        let mut names = Names::default();
        if let Some(class) = self.class {
            names = names.with_class(class);
        }
        if let Some(symbol) = self.node_type {
            names = names.with_type(symbol);
        }
        if let Some(symbol) = self.role {
            names = names.with_role(symbol);
        }
        if let Some(symbol) = self.kind {
            names = names.with_kind(symbol);
        }
        names
    }

    /// Returns whether the names are the only conditions.
    pub(crate) fn is_names_only(&self) -> bool {
        self.others.is_empty()
    }

    /// Returns how many conditions there are besides the names.
    pub(crate) fn other_count(&self) -> usize {
        self.others.len()
    }

    /// Returns whether a node that has the names satisfies the other conditions, none of which
    /// depends on its position.
    #[inline]
    pub(crate) fn others_hold(&self, node: NodeRef<'_>, env: &Env<'_>) -> bool {
        let spot = Spot::anywhere(node);
        self.others.iter().all(|condition| condition.holds(&spot, env))
    }

    /// Returns whether a node satisfies the conditions; not for elided cores.
    #[inline]
    pub(crate) fn holds(&self, spot: &Spot<'_>, env: &Env<'_>) -> bool {
        self.names_hold(spot.node) && self.others.iter().all(|condition| condition.holds(spot, env))
    }

    /// Returns whether a node has the names.
    #[inline]
    pub(crate) fn names_hold(&self, node: NodeRef<'_>) -> bool {
        self.class.is_none_or(|class| node.class() == class)
            && (self.role.is_none() || node.role_symbol() == self.role)
            && (self.kind.is_none() || node.kind_symbol() == self.kind)
            && self.node_type.is_none_or(|symbol| node.type_symbol() == symbol)
    }
}

/// Returns the largest ttl that satisfies a test, if there is one.
fn most_ttl(test: &Test) -> Option<u32> {
    match test {
        Test::Compare(Op::Eq | Op::Le | Op::Lt, Literal::Number(Exact::Int(most), _)) => {
            Some(u32::try_from((*most).max(0)).unwrap_or(u32::MAX))
        }
        _ => None,
    }
}
