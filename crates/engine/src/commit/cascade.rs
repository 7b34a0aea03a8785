//! Removes removable containers that have become empty.

use super::{Progress, Surroundings};
use crate::refs::References;
use crate::work::Work;

impl Work<'_> {
    /// Removes empty removable containers, children before parents, until no further one may be
    /// removed.
    pub(super) fn cascade(&mut self, around: &Surroundings<'_>, progress: &mut Progress) {
        loop {
            let view = self.draft.view();
            let empty = view.empty_removable();
            if empty.is_empty() {
                return;
            }
            let references = References::of(view, around.handles);
            let free = empty.into_iter().find(|node| {
                references.holder(node.id(), |referrer| referrer == node.id()).is_none()
            });
            let Some(node) = free else { return };
            let (key, id) = (node.key_of(), node.id().to_owned());
            self.draft.remove(key);
            progress.cascaded.push(id);
        }
    }
}
