//! Applies an operation.

use super::add::Added;
use super::{Op, Outcome};
use crate::error::OpError;
use crate::work::Work;

impl Work<'_> {
    /// Applies one operation. On an error nothing has changed.
    pub(crate) fn apply(&mut self, op: Op) -> Result<Outcome, OpError> {
        self.check_running(&op)?;
        let done = match op {
            Op::Add { place, node } => self.add(&place, node.into()).map(Added::outcome),
            Op::Edit { node, edit } => self.edit(&node, edit),
            Op::Remove { node } => self.remove(&node),
            Op::Move { node, place } => self.move_node(&node, &place),
            Op::SetPriority { node, priority, policy } => {
                self.set_priority(&node, priority, &policy)
            }
            Op::Pin { node } => self.set_pinned(&node, true),
            Op::Unpin { node } => self.set_pinned(&node, false),
        };
        done.map_err(|error| self.explain(error))
    }
}
