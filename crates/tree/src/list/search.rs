//! Finds a position in a child list by canonical order.

use std::cmp::Ordering;

use super::{Children, Items, Run};
use crate::row::RowNumber;

impl Children {
    /// Binary search like that of a slice: returns the position of the row for which `order` is
    /// equal, or where it would be inserted.
    ///
    /// `order` compares a row of the list with what is sought.
    pub(crate) fn search(
        &self,
        mut order: impl FnMut(RowNumber) -> Ordering,
    ) -> Result<usize, usize> {
        match self {
            Children::Few { len, rows } => {
                rows[..usize::from(*len)].binary_search_by(|row| order(*row))
            }
            Children::Some(run) => search_run(run, 0, &mut order),
            Children::Many(list) => {
                // Most searches are for the newest row, or for the position after it.
                if let Some(last) = self.last() {
                    match order(last) {
                        Ordering::Less => return Err(list.len()),
                        Ordering::Equal => return Ok(list.len() - 1),
                        Ordering::Greater => {}
                    }
                }
                let mut before = 0;
                for run in list.levels.iter().rev() {
                    match run.last() {
                        Some(last) if order(last) != Ordering::Less => {
                            return search_run(run, before, &mut order);
                        }
                        _ => before += run.count as usize,
                    }
                }
                Err(before)
            }
        }
    }
}

fn search_run(
    mut run: &Run,
    mut before: usize,
    order: &mut impl FnMut(RowNumber) -> Ordering,
) -> Result<usize, usize> {
    loop {
        match &run.items {
            Items::Rows(rows) => {
                return rows
                    .binary_search_by(|entry| order(entry.row))
                    .map(|at| before + at)
                    .map_err(|at| before + at);
            }
            Items::Runs(runs) => {
                let (at, rows) = runs.partition_point(|child| order(child.last) == Ordering::Less);
                before += rows;
                match runs.get(at) {
                    Some(next) => run = &next.run,
                    None => return Err(before),
                }
            }
        }
    }
}
