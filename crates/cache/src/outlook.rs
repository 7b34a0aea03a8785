//! What is known about the next request.

use std::collections::BTreeSet;

use contextree_tree::{Class, Hint, Region, TreeRef};

use crate::prompt::Prompt;
use crate::rendered::{Rendered, common_prefix};

/// How far a request will last, in spans from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// What hardly ever changes: tools and system text.
    pub fixed: usize,
    /// What stands before the first node that has a ttl.
    pub lasting: usize,
    /// What stands before the first node that goes with the next commit, because its ttl has run out.
    pub staying: usize,
    /// What the longest entry covers that is in the cache already.
    pub known: usize,
}

impl Outlook {
    /// Returns what the tree of a request says about it. `last` is the request before, if there was one; its end counts as an entry.
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

    /// The same, by somebody who knows where the first of some nodes is.
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

/// Returns the blocks that go with one of the next commits: those with a ttl of at most so many, and all below them.
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
