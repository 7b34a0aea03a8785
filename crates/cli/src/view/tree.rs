//! A tree, drawn: one line per node, with what decides its life beside it.

use contextree::{Class, NodeRef};

use super::node;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, count, one_line, size};

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Columns of a line.
    pub(crate) width: Option<usize>,
    /// The newest turns to draw; the others are counted.
    pub(crate) turns: Option<usize>,
    /// Contents below their nodes, whole.
    pub(crate) full: bool,
    /// The time, for ages.
    pub(crate) now: i64,
}

/// Draws nodes with everything below them. The root itself is not drawn.
pub(crate) fn draw(nodes: &[NodeRef<'_>], options: &Options) -> String {
    let mut drawing = Drawing { rows: Vec::new(), options: *options };
    for node in nodes {
        if node.class() == Class::Root {
            for region in node.children() {
                drawing.node(region, "", "");
            }
        } else {
            drawing.node(*node, "", "");
        }
    }
    drawing.render()
}

struct Drawing {
    rows: Vec<Row>,
    options: Options,
}

/// A line of the table, and what stands below it.
struct Row {
    cells: Vec<String>,
    below: Vec<String>,
}

impl Drawing {
    /// `first` stands before the node itself, `rest` before everything below it. Trees have a limited depth.
    fn node(&mut self, node: NodeRef<'_>, first: &str, rest: &str) {
        let is_fixed = matches!(node.class(), Class::Root | Class::Region);
        let name = match is_fixed {
            true => paint(style::TITLE, node.node_type()),
            false => paint(style::ID, one_line(node.id())),
        };
        let left = format!("{}{name}", paint(style::DIM, first));
        let is_block = node.class() == Class::Block;
        let text = match is_block {
            true if self.options.full => String::new(),
            true => node::preview(node),
            false => self.summary(node),
        };
        let below =
            if self.options.full && is_block { self.content(node, rest) } else { Vec::new() };
        let cells = vec![
            left,
            node::special_type(node),
            node::speaker(node),
            node.kind().map(one_line).unwrap_or_default(),
            node::offset(node),
            node::ttl(node),
            node::marks(node),
            node::bytes(node),
            text,
        ];
        self.rows.push(Row { cells, below });
        self.children(node, rest);
    }

    fn children(&mut self, node: NodeRef<'_>, rest: &str) {
        let all = node.child_count();
        let is_sequence = node.node_type() == "^seq";
        let skip = match self.options.turns {
            Some(turns) if is_sequence => all.saturating_sub(turns),
            _ => 0,
        };
        if skip > 0 {
            let mut cells = vec![String::new(); 9];
            cells[0] = paint(style::DIM, "├─ …");
            cells[8] = format!("{}; without --turns all are drawn", count(skip, "older turn"));
            self.rows.push(Row { cells, below: Vec::new() });
        }
        for (index, child) in node.children().enumerate().skip(skip) {
            let (branch, line) =
                if index + 1 == all { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.node(child, &format!("{rest}{branch}"), &format!("{rest}{line}"));
        }
    }

    /// What a region or a turn has in it.
    fn summary(&self, node: NodeRef<'_>) -> String {
        match (node.class(), node.node_type()) {
            (Class::Region, "^seq") => count(node.child_count(), "turn"),
            (Class::Region, _) => {
                let blocks = node.subtree().filter(|(_, node)| node.class() == Class::Block);
                let (number, bytes) = blocks.fold((0, 0), |(number, bytes), (_, block)| {
                    (number + 1, bytes + block.content().byte_len() as u64)
                });
                if number == 0 {
                    String::new()
                } else {
                    format!("{}, {}", count(number, "block"), size(bytes))
                }
            }
            (Class::Turn, _) => {
                let depth = node::depth(node).unwrap_or_default();
                format!("depth {depth}, {}", ago(node.created_at_ns(), self.options.now))
            }
            _ => String::new(),
        }
    }

    fn content(&self, node: NodeRef<'_>, rest: &str) -> Vec<String> {
        let value = match node.content() {
            contextree::Content::Text(text) => text.to_string(),
            _ => node::preview(node),
        };
        value
            .lines()
            .map(|line| {
                format!("{}   {}", paint(style::DIM, rest), one_line(line)).trim_end().to_owned()
            })
            .collect()
    }

    fn render(self) -> String {
        let titles = ["node", "type", "role", "kind", "offset", "ttl", "marks", "size", "text"];
        let mut table = Table::new(&titles).right(4).right(5).right(7);
        let below: Vec<Vec<String>> = self.rows.iter().map(|row| row.below.clone()).collect();
        for row in self.rows {
            table.row(row.cells);
        }
        let lines = table.render(self.options.width);
        let mut out = String::new();
        for (index, line) in lines.lines().enumerate() {
            out.push_str(line);
            out.push('\n');
            for line in
                index.checked_sub(1).and_then(|index| below.get(index)).into_iter().flatten()
            {
                out.push_str(line);
                out.push('\n');
            }
        }
        out
    }
}
