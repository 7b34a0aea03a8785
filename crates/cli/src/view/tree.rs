//! A tree, drawn: one line per node, with what decides how long it stays.

use std::collections::BTreeMap;

use contextree::json::Value;
use contextree_app::wire::{Node, NodeClass};

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

/// Draws nodes with everything below them, in document order. The root itself is not drawn.
pub(crate) fn draw(nodes: &[Node], options: &Options) -> String {
    let mut children: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    let mut tops = Vec::new();
    for node in nodes {
        // In document order a parent precedes its children.
        match node.derived.parent.as_deref().and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(node),
            None => tops.push(node),
        }
        children.insert(node.id(), Vec::new());
    }
    let mut drawing = Drawing { rows: Vec::new(), children, options: *options };
    for node in tops {
        if node.derived.class == NodeClass::Root {
            for region in drawing.children(node) {
                drawing.node(region, "", "");
            }
        } else {
            drawing.node(node, "", "");
        }
    }
    drawing.render()
}

struct Drawing<'n> {
    rows: Vec<Row>,
    children: BTreeMap<&'n str, Vec<&'n Node>>,
    options: Options,
}

/// A line of the table, and the lines below it.
struct Row {
    cells: Vec<String>,
    below: Vec<String>,
}

impl<'n> Drawing<'n> {
    fn children(&self, node: &Node) -> Vec<&'n Node> {
        self.children.get(node.id()).cloned().unwrap_or_default()
    }

    /// `first` precedes the node itself, `rest` everything below it. Trees have a limited depth.
    fn node(&mut self, node: &'n Node, first: &str, rest: &str) {
        let is_fixed = matches!(node.derived.class, NodeClass::Root | NodeClass::Region);
        let name = match is_fixed {
            true => paint(style::TITLE, node.node_type()),
            false => paint(style::ID, one_line(node.id())),
        };
        let left = format!("{}{name}", paint(style::DIM, first));
        let is_block = node.derived.class == NodeClass::Block;
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
        self.below(node, rest);
    }

    fn below(&mut self, node: &'n Node, rest: &str) {
        let children = self.children(node);
        let all = children.len();
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
        let mut index = skip;
        while index < all {
            // Pruning leaves turns without a block; a run of them is one line.
            let empty = match is_sequence {
                true => children[index..].iter().take_while(|turn| self.is_empty(turn)).count(),
                false => 0,
            };
            let next = index + empty.max(1);
            let (branch, line) =
                if next == all { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            match empty {
                0 => {
                    self.node(
                        children[index],
                        &format!("{rest}{branch}"),
                        &format!("{rest}{line}"),
                    );
                }
                number => {
                    let (first, last) = (children[index].id(), children[next - 1].id());
                    let name = if number == 1 {
                        one_line(first)
                    } else {
                        format!("{} … {}", one_line(first), one_line(last))
                    };
                    let mut cells = vec![String::new(); 9];
                    cells[0] = paint(style::DIM, format!("{rest}{branch}{name}"));
                    cells[8] = count(number, "empty turn");
                    self.rows.push(Row { cells, below: Vec::new() });
                }
            }
            index = next;
        }
    }

    /// Returns whether there is no block below a turn.
    fn is_empty(&self, turn: &Node) -> bool {
        turn.derived.class == NodeClass::Turn && self.blocks(turn).0 == 0
    }

    /// Describes what is in a region or a turn.
    fn summary(&self, node: &Node) -> String {
        match (node.derived.class, node.node_type()) {
            (NodeClass::Region, "^seq") => count(self.children(node).len(), "turn"),
            (NodeClass::Region, _) => match self.blocks(node) {
                (0, _) => String::new(),
                (number, bytes) => format!("{}, {}", count(number, "block"), size(bytes)),
            },
            (NodeClass::Turn, _) => {
                let depth = node.derived.depth.unwrap_or_default();
                format!("depth {depth}, {}", ago(node.created_at_ns(), self.options.now))
            }
            _ => String::new(),
        }
    }

    /// Returns the number of blocks below a node, and the bytes of their contents.
    fn blocks(&self, node: &Node) -> (usize, u64) {
        self.children(node).into_iter().fold((0, 0), |(number, bytes), child| {
            let (below, bytes_below) = self.blocks(child);
            match child.derived.class {
                NodeClass::Block => (number + below + 1, bytes + bytes_below + child.derived.bytes),
                _ => (number + below, bytes + bytes_below),
            }
        })
    }

    fn content(&self, node: &Node, rest: &str) -> Vec<String> {
        let value = match node.content() {
            Some(Value::String(text)) if node.derived.tool.is_none() => text.to_string(),
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
        let mut table = Table::new(&titles).right(4).right(5).right(7).spare(&[7, 1, 6, 3, 4]);
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
