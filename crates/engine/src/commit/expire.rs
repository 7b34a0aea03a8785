//! Step 1: removes nodes whose ttl has expired, unless something still refers to them.

use std::collections::BTreeSet;

use contextree_tree::{NodeKey, Place};

use super::{Progress, Surroundings};
use crate::refs::References;
use crate::report::{Deferred, Holder};
use crate::work::Work;

/// A node whose ttl has expired.
struct Due {
    key: NodeKey,
    place: Place,
    id: String,
    /// The node and its subtree, in document order.
    subtree: Vec<String>,
    /// What keeps it, if anything.
    held: Option<(String, Holder)>,
}

impl Work<'_> {
    pub(super) fn expire(&mut self, around: &Surroundings<'_>, progress: &mut Progress) {
        let view = self.draft.view();
        let mut due: Vec<Due> = view
            .due()
            .into_iter()
            .map(|contextree_tree::Due { node, place }| Due {
                key: node.key_of(),
                place,
                id: node.id().to_owned(),
                subtree: node.subtree().map(|(_, node)| node.id().to_owned()).collect(),
                held: None,
            })
            .collect();
        if due.is_empty() {
            return;
        }
        defer_held(&mut due, &References::of(view, around.handles));
        let is_due: BTreeSet<&str> = due.iter().map(|due| due.id.as_str()).collect();
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        for due in due.iter().filter(|due| due.held.is_none()) {
            // The topmost node of a subtree is first in document order and lists all of it.
            progress.along.extend(
                due.subtree
                    .iter()
                    .filter(|id| gone.insert(id) && !is_due.contains(id.as_str()))
                    .cloned(),
            );
        }
        // Before any other change, because the places refer to the tree as it is.
        self.draft.remove_all(due.iter().filter(|due| due.held.is_none()).map(|due| &due.place));
        let next = self.cycle().next();
        for due in due {
            match due.held {
                Some((held, by)) => {
                    // Its ttl remains 0: it expires at the next commit, unless it is still held.
                    self.draft.set_expires(due.key, Some(next));
                    progress.deferred.push(Deferred { id: due.id, held, by });
                }
                None => progress.expired.push(due.id),
            }
        }
    }
}

/// Marks the expired nodes that must be kept.
///
/// Starts with all expired nodes removed and keeps each one that a remaining node refers to, until
/// nothing changes. Nodes that refer only to each other are therefore removed together; the reverse
/// order would keep such cycles forever.
fn defer_held(due: &mut [Due], references: &References<'_>) {
    loop {
        let going: BTreeSet<&str> = due
            .iter()
            .filter(|due| due.held.is_none())
            .flat_map(|due| due.subtree.iter().map(String::as_str))
            .collect();
        let held: Vec<(usize, (String, Holder))> = due
            .iter()
            .enumerate()
            .filter(|(_, due)| due.held.is_none())
            .filter_map(|(index, due)| {
                let holder = due.subtree.iter().find_map(|id| {
                    let by = references.holder(id, |referrer| going.contains(referrer))?;
                    Some((id.clone(), by))
                })?;
                Some((index, holder))
            })
            .collect();
        if held.is_empty() {
            return;
        }
        for (index, holder) in held {
            due[index].held = Some(holder);
        }
    }
}
