//! Small tables: columns that line up, the last one cut to the width of the terminal.

use super::style::{self, paint};
use super::text::{columns, cut};

/// A table. Cells may have styles; the last column is plain, because it is the one that is cut.
#[derive(Debug, Default)]
pub(crate) struct Table {
    title: Vec<String>,
    rows: Vec<Vec<String>>,
    right: Vec<usize>,
}

impl Table {
    /// Returns a table with these titles.
    pub(crate) fn new(title: &[&str]) -> Self {
        let title = title.iter().map(|cell| (*cell).to_owned()).collect();
        Table { title, ..Table::default() }
    }

    /// Sets a column flush right, as numbers are.
    #[must_use]
    pub(crate) fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Returns the table as text, every line with its line break. Columns that are empty everywhere are left out.
    pub(crate) fn render(&self, width: Option<usize>) -> String {
        let count = self.title.len();
        let used: Vec<bool> =
            (0..count).map(|column| self.rows.iter().any(|row| !row[column].is_empty())).collect();
        let widths: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().map(|row| columns(&row[column]));
                cells.chain([columns(&self.title[column])]).max().unwrap_or(0)
            })
            .collect();
        let mut out = String::new();
        let title = self.title.iter().map(|cell| paint(style::DIM, cell)).collect();
        for (index, row) in std::iter::once(&title).chain(&self.rows).enumerate() {
            let mut line = String::new();
            let mut at = 0;
            for column in (0..count).filter(|column| used[*column]) {
                let cell = &row[column];
                if column + 1 == count && index > 0 {
                    line.push_str(&cut(cell, width.map(|width| width.saturating_sub(at).max(8))));
                    continue;
                }
                let gap = " ".repeat(widths[column].saturating_sub(columns(cell)));
                match self.right.contains(&column) {
                    true => line.push_str(&format!("{gap}{cell}  ")),
                    false => line.push_str(&format!("{cell}{gap}  ")),
                }
                at += widths[column] + 2;
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}
