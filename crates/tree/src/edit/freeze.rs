//! Turns the working state into a snapshot.

use super::{Draft, Overlay};
use crate::class::Class;
use crate::cycle::Cycle;
use crate::row::{Row, flag};
use crate::tree::Tree;

impl Draft {
    /// Appends all changes to the log and returns the current tree.
    ///
    /// The draft continues from that tree, and the next commit gets the next number. The cost is
    /// proportional to the change. Only rows that differ are written, so the rows between two trees
    /// of a branch are exactly what changed between them.
    pub fn freeze(&mut self) -> Tree {
        self.undo = Vec::new();
        drop(self.take_changed());
        let overlay = std::mem::take(&mut self.overlay);
        let Overlay { rows, index, .. } = overlay;
        let own = self.base.space.own();
        let mut next = self.base.rows;
        for mut row in rows {
            self.base.space.note_key(&mut row, next);
            own.append(next, row);
            next = next.plus(1);
        }
        own.note_spans(self.base.rows, next);
        let mut tombstones = Vec::new();
        for (node, entry) in &index {
            match entry {
                Some(number) => own.publish(*node, *number),
                None => tombstones.push(*node),
            }
        }
        for node in tombstones {
            let Some(before) = self.base.space.find_version(node, self.base.rows) else { continue };
            let mut row = Row::new(node, 0, Class::Block);
            self.follow(&mut row, before);
            row.set(flag::DEAD, true);
            own.append(next, row);
            own.publish(node, next);
            next = next.plus(1);
        }
        self.base.rows = next;
        self.base.next_cycle = Cycle(self.base.next_cycle.0 + 1);
        Tree::new(self.base.clone())
    }
}
