//! Step 1: nodes whose ttl ran out go, unless something still refers to them.

use std::collections::BTreeSet;

use contextree_tree::{NodeKey, Place};

use super::{Progress, Surroundings};
use crate::refs::References;
use crate::report::{Deferred, Holder};
use crate::work::Work;

/// A node whose ttl ran out.
struct Due {
    key: NodeKey,
    place: Place,
    id: String,
    /// The node and everything below it, in document order.
    subtree: Vec<String>,
    /// What keeps it, if something does.
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
            // A subtree is listed by its topmost node, which comes first in document order.
            progress.along.extend(
                due.subtree
                    .iter()
                    .filter(|id| gone.insert(id) && !is_due.contains(id.as_str()))
                    .cloned(),
            );
        }
        // First, because the places are those of the tree as it is.
        self.draft.remove_all(due.iter().filter(|due| due.held.is_none()).map(|due| &due.place));
        let next = self.cycle() + 1;
        for due in due {
            match due.held {
                Some((held, by)) => {
                    // Its ttl stays 0: it is due again at the next commit.
                    self.draft.set_expires(due.key, Some(next));
                    progress.deferred.push(Deferred { id: due.id, held, by });
                }
                None => progress.expired.push(due.id),
            }
        }
    }
}

/// Finds the due nodes that must stay.
///
/// All are assumed to go; each that something staying refers to is put back, until nothing changes. Nodes that only refer to each
/// other therefore go together.
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
