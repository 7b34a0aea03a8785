//! Reads many rows one after another.

use crate::row::{Row, RowNumber};
use crate::store::Page;
use crate::view::TreeRef;

/// Reads rows of a tree. Rows of one turn are adjacent, so the page of the last row is cached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    tree: TreeRef<'a>,
    page: Page<'a>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(tree: TreeRef<'a>) -> Self {
        Rows { tree, page: Page::EMPTY }
    }

    #[inline]
    pub(crate) fn row(&mut self, number: RowNumber) -> &'a Row {
        if let Some(row) = self.page.row(number)
            && number < self.tree.base.rows
        {
            return row;
        }
        if number < self.tree.base.rows
            && let Some(page) = self.tree.base.space.page(number)
        {
            self.page = page;
        }
        self.tree.row(number)
    }
}
