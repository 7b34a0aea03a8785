//! The beginning that two lists have in common.

use std::sync::Arc;

use super::{Children, Items, Run};
use crate::row::RowNumber;

/// A piece of a list.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Run(&'a Arc<Run>),
    Row(RowNumber),
}

impl Children {
    /// Returns how many rows at the beginning of both lists are the same. Rows from `bound` on are not compared by their numbers.
    ///
    /// Runs that the lists share are not visited, so the cost follows what differs. A shared run has the same rows in both lists,
    /// whatever their numbers: a change below a row replaces the runs around it.
    pub(crate) fn common(&self, other: &Children, bound: RowNumber) -> usize {
        let (mut here, mut there) = (pieces(self), pieces(other));
        let mut common = 0;
        while let (Some(left), Some(right)) = (here.pop(), there.pop()) {
            match (left, right) {
                (Piece::Run(left), Piece::Run(right)) if Arc::ptr_eq(left, right) => {
                    common += left.count as usize;
                }
                (Piece::Row(left), Piece::Row(right)) if left == right && left < bound => {
                    common += 1;
                }
                (Piece::Row(_), Piece::Row(_)) => break,
                // The larger one is split, until both are rows or one run.
                (left, right) => {
                    let is_first = count(left) >= count(right);
                    let is_second = count(right) >= count(left);
                    put(left, &mut here, is_first);
                    put(right, &mut there, is_second);
                }
            }
        }
        common
    }
}

/// Returns the pieces of a list, the first one last.
fn pieces(children: &Children) -> Vec<Piece<'_>> {
    match children {
        Children::Few { len, rows } => {
            rows[..usize::from(*len)].iter().rev().map(|row| Piece::Row(*row)).collect()
        }
        Children::Some(run) => vec![Piece::Run(run)],
        Children::Many(list) => list.levels.iter().map(Piece::Run).collect(),
    }
}

fn count(piece: Piece<'_>) -> u32 {
    match piece {
        Piece::Run(run) => run.count,
        Piece::Row(_) => 0,
    }
}

/// Puts a piece back, or what it consists of, the first one last.
fn put<'a>(piece: Piece<'a>, pieces: &mut Vec<Piece<'a>>, is_split: bool) {
    match piece {
        Piece::Run(run) if is_split => match &run.items {
            Items::Rows(rows) => pieces.extend(rows.iter().rev().map(|it| Piece::Row(it.row))),
            Items::Runs(runs) => {
                pieces.extend(runs.iter().rev().map(|child| Piece::Run(&child.run)));
            }
        },
        piece => pieces.push(piece),
    }
}
