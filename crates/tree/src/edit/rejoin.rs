//! Bringing what a fork did back to the line that it left.

use std::sync::Arc;

use super::Draft;
use crate::row::NodeKey;
use crate::tree::Tree;
use crate::view::Base;

impl Draft {
    /// Makes this draft, and the newest tree of its branch, part of the line that the branch left. Returns the tree; it has the same nodes.
    ///
    /// `line` is the draft that this one was forked from; nothing may have been frozen there since, and it may not be used afterwards. Without
    /// this, forks of forks would make reading slower with every one that is kept. The cost is that of what was frozen since the fork.
    pub fn rejoin(&mut self, line: &Draft, newest: &Tree) -> Tree {
        let (fork, space) = (&self.base.space, &line.base.space);
        let first = line.base.rows;
        // A tree that was built anew shares nothing with the line, so that there is nothing to be brought back.
        if !fork.same_names(space) || fork.own().start != first || Arc::ptr_eq(fork, space) {
            return newest.clone();
        }
        let own = space.own();
        for number in first.up_to(self.base.rows) {
            let mut row = fork.row(number).clone();
            let node = row.node;
            space.note_key(&mut row, number);
            own.append(number, row);
            if node != NodeKey::NONE {
                own.publish(node, number);
            }
        }
        own.note_spans(first, self.base.rows);
        let tree = newest.move_to(space);
        self.base = Base { space: Arc::clone(space), ..self.base.clone() };
        self.hint = None;
        tree
    }
}
