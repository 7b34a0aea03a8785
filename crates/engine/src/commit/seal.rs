//! Step 4: turns the head into a turn.

use contextree_tree::{NodeData, Region};

use crate::clock::IdRole;
use crate::place::core_of;
use crate::work::Work;

impl Work<'_> {
    /// Seals the head; returns the id of the turn, and of the core if one had to be created.
    pub(super) fn seal(&mut self) -> (String, Option<String>) {
        let head = self.draft.view().region(Region::Head);
        let core = core_of(head).is_none().then(|| self.create_core().1);
        let stamp = self.stamp();
        let id = self.make_id(IdRole::Turn, stamp.index);
        let mut data = NodeData::new(&id, self.settings.vocabulary.turn());
        stamp.put(&mut data, self.cycle());
        let view = self.draft.view();
        let sequence = view.region(Region::Seq).key_of();
        let head = view.region(Region::Head).key_of();
        let turn = self.draft.insert(sequence, data);
        // The children keep their ids; the region keeps its own and is empty again.
        self.draft.adopt(head, turn);
        (id, core)
    }
}
