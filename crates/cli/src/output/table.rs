//! Small tables: columns that line up, the last one cut to the width of the terminal.

use super::style::{self, paint};
use super::text::{columns, cut};

/// A table. Cells may have styles; the last column is plain, because it is the one that is cut.
#[derive(Debug, Default)]
pub(crate) struct Table {
    title: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Lines across all columns, each before the row with this index.
    headings: Vec<(usize, String)>,
    right: Vec<usize>,
    /// Columns that may be left out on a narrow terminal, the first one first.
    spare: Vec<usize>,
}

/// The columns that the last cell keeps at least before others are left out.
const ROOM: usize = 16;

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

    /// Sets the columns that may be left out where the line is too narrow, the first one first.
    #[must_use]
    pub(crate) fn spare(mut self, columns: &[usize]) -> Self {
        self.spare = columns.to_vec();
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a line across all columns, cut to the width of the terminal.
    pub(crate) fn heading(&mut self, text: String) {
        self.headings.push((self.rows.len(), text));
    }

    /// Returns the table as text, every line with its line break. Columns that are empty everywhere are left out.
    pub(crate) fn render(&self, width: Option<usize>) -> String {
        let count = self.title.len();
        let mut used: Vec<bool> = (0..count)
            .map(|column| self.rows.iter().any(|row| columns(&row[column]) > 0))
            .collect();
        let widths: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().map(|row| columns(&row[column]));
                cells.chain([columns(&self.title[column])]).max().unwrap_or(0)
            })
            .collect();
        let fixed = |used: &[bool]| -> usize {
            (0..count - 1).filter(|column| used[*column]).map(|column| widths[column] + 2).sum()
        };
        let room = widths.last().map_or(ROOM, |last| ROOM.min(*last));
        for column in &self.spare {
            if width.is_some_and(|width| fixed(&used) + room > width) {
                used[*column] = false;
            }
        }
        // What is left may still be too wide: ids are cut then.
        let widest = match width {
            Some(width) if fixed(&used) > width.saturating_sub(8) => {
                let others = fixed(&used) - widths[0];
                Some(width.saturating_sub(8 + others).max(8))
            }
            _ => None,
        };
        let mut widths = widths;
        if let Some(widest) = widest {
            widths[0] = widths[0].min(widest);
        }
        let mut out = String::new();
        let dimmed = |cell: &String| match cell.is_empty() {
            true => String::new(),
            false => paint(style::DIM, cell),
        };
        let title = self.title.iter().map(dimmed).collect();
        for (index, row) in std::iter::once(&title).chain(&self.rows).enumerate() {
            let is_before = |(row, _): &&(usize, String)| row + 1 == index;
            for (_, heading) in self.headings.iter().filter(is_before) {
                out.push_str(&cut(heading, width));
                out.push('\n');
            }
            let mut line = String::new();
            let mut at = 0;
            for column in (0..count).filter(|column| used[*column]) {
                let cut_cell;
                let mut cell = &row[column];
                if column == 0 && columns(cell) > widths[0] {
                    cut_cell = cut(&anstream::adapter::strip_str(cell).to_string(), widest);
                    cell = &cut_cell;
                }
                if column + 1 == count && index > 0 {
                    let room = width.map(|width| width.saturating_sub(at).max(1));
                    // Styles take no columns; what is cut loses them.
                    match room.is_some_and(|room| columns(cell) > room) {
                        true => {
                            let plain = anstream::adapter::strip_str(cell).to_string();
                            line.push_str(&cut(&plain, room));
                        }
                        false => line.push_str(cell),
                    }
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
