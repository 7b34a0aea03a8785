//! Predicts how much of a request the next one will share.

use std::collections::BTreeSet;

use contextree_tree::{Class, Hint, Region, TreeRef};

use crate::prompt::Prompt;
use crate::rendered::{Rendered, common_prefix};

/// How many spans, from the beginning of a request, will persist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// The spans that rarely change: tools and system text.
    pub fixed: usize,
    /// The spans before the first node with a ttl.
    pub lasting: usize,
    /// The spans before the first node that the next commit removes because its ttl runs out.
    pub staying: usize,
    /// The spans of the longest entry in the cache.
    pub known: usize,
}

impl Outlook {
    /// Derives the outlook from the tree of a request. `last` is the previous request, if any; its
    /// end counts as an entry.
    #[must_use]
    pub fn of(prompt: &Prompt<'_>, tree: TreeRef<'_>, last: Option<&Prompt<'_>>) -> Self {
        let rendered = prompt.rendered();
        let first_of = |ids: &BTreeSet<&str>| {
            rendered.spans().iter().position(|span| ids.contains(&*span.node))
        };
        let known = last.map_or(0, |last| {
            let common = common_prefix(rendered.bytes(), last.rendered().bytes());
            rendered.span_from(common).min(last.rendered().spans().len())
        });
        Outlook { known, ..Self::with(rendered, tree, first_of) }
    }

    /// Like [`Outlook::of`], but with a function that finds the first span of some nodes.
    pub(crate) fn with(
        rendered: &Rendered<'_>,
        tree: TreeRef<'_>,
        first_of: impl Fn(&BTreeSet<&str>) -> Option<usize>,
    ) -> Self {
        let all = rendered.spans().len();
        let is_system =
            |id: &str| tree.get(id).is_some_and(|node| node.region() == Some(Region::Sys));
        let before = |ttl: u32| {
            let mortal = mortal(tree, ttl);
            if mortal.is_empty() { all } else { first_of(&mortal).unwrap_or(all) }
        };
        Outlook {
            fixed: rendered.spans().iter().take_while(|span| is_system(&span.node)).count(),
            lasting: before(u32::MAX),
            staying: before(0),
            known: 0,
        }
    }
}

/// Returns the blocks that expire within `ttl` commits, with their descendants.
fn mortal(tree: TreeRef<'_>, ttl: u32) -> BTreeSet<&str> {
    let due = tree
        .nodes_with(Hint::default().with_ttl_at_most(ttl, tree))
        .map(|(_, node)| node)
        .filter(|node| node.ttl().is_some_and(|own| own <= ttl));
    due.flat_map(|node| node.subtree().map(|(_, node)| node))
        .filter(|node| node.class() == Class::Block)
        .map(|node| node.id())
        .collect()
}
