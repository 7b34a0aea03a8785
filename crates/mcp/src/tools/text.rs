//! How answers read: one entry per node, call or context.

use contextree_app::wire::{ContextRow, Node};
use contextree_json::Value;

use crate::page::boundary;

/// How much of a content is shown unless the whole is asked for.
const EXCERPT: usize = 160;

/// Returns a context as one line.
pub(crate) fn context_line(row: &ContextRow) -> String {
    let snapshots = row.snapshots;
    match &row.head {
        Some(head) => format!("{}  {snapshots} snapshots, newest @c{}", row.name, head.cycle),
        None => format!("{}  no snapshot yet", row.name),
    }
}

/// Returns a node as one entry: its line, and its content or the beginning of it.
pub(super) fn node(node: &Node, full: bool) -> String {
    let mut line = node.id().to_owned();
    let mut add = |word: &str| {
        line.push(' ');
        line.push_str(word);
    };
    add(node.role().unwrap_or(node.node_type()));
    if let Some(kind) = node.kind().filter(|kind| *kind != "text") {
        add(kind);
    }
    if let Some(tool) = &node.derived.tool {
        add(tool);
    }
    if let Some(key) = node.key() {
        add(&format!("#{key}"));
    }
    for tag in node.tags() {
        add(&format!("+{tag}"));
    }
    if let Some(ttl) = node.ttl() {
        add(&format!("ttl={ttl}"));
    }
    if node.derived.pinned.unwrap_or(node.is_pinned()) {
        add("pinned");
    }
    let Some(content) = node.content() else { return line };
    let text = match content {
        Value::String(text) => text.to_string(),
        other => String::from_utf8_lossy(&other.to_canonical()).into_owned(),
    };
    add(&format!("{} B:", node.derived.bytes));
    line.push_str(if full { "\n" } else { " " });
    line.push_str(&if full { text } else { excerpt(&text) });
    line
}

/// Returns the beginning of a text on one line.
fn excerpt(text: &str) -> String {
    let beginning = &text[..boundary(text, 4 * EXCERPT)];
    let line = beginning.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if beginning.len() < text.len() => format!("{line}…"),
        None => line,
    }
}

/// Returns a share as a percentage.
pub(super) fn percent(part: u64, of: u64) -> String {
    match of {
        0 => "0 %".to_owned(),
        of => format!("{} %", u128::from(part) * 100 / u128::from(of)),
    }
}
