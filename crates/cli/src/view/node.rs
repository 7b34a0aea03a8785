//! One node: its cells in a table.

use contextree::json::{Number, Value};
use contextree_app::wire::{Node, NodeClass};

use crate::output::style::{self, paint};
use crate::output::text::{one_line, size};

/// Returns the content on one line; of a tool call `name(arguments)`, of a result `name → content`.
pub(crate) fn preview(node: &Node) -> String {
    let content = match node.content() {
        None => String::new(),
        Some(Value::String(text)) => one_line(text),
        Some(value) => String::from_utf8_lossy(&value.to_canonical()).into_owned(),
    };
    match (&node.derived.tool, node.kind()) {
        (None, _) => content,
        (Some(tool), Some("result")) => format!("{} → {content}", one_line(tool)),
        (Some(tool), _) => format!("{}({content})", one_line(tool)),
    }
}

/// Returns the type, if it adds something to the class.
pub(crate) fn special_type(node: &Node) -> String {
    match node.node_type() {
        "mt" | "mc" | "cb" | "seg" | "cont" | "block" => String::new(),
        other if other.starts_with('^') => String::new(),
        other => other.to_owned(),
    }
}

/// Returns the role.
pub(crate) fn speaker(node: &Node) -> String {
    node.role().map_or_else(String::new, |role| paint(style::role(role), role))
}

/// Returns the offset with its sign; empty for 0.
pub(crate) fn offset(node: &Node) -> String {
    match node.offset() {
        Some(offset) if !is_zero(offset) => {
            let text = text(offset);
            if text.starts_with('-') { text } else { format!("+{text}") }
        }
        _ => String::new(),
    }
}

fn is_zero(number: &Number) -> bool {
    number.compare(&Number::from_i64(0)).is_eq()
}

fn text(number: &Number) -> String {
    String::from_utf8_lossy(&Value::Number(number.clone()).to_canonical()).into_owned()
}

/// Returns the ttl; one that is due is marked.
pub(crate) fn ttl(node: &Node) -> String {
    match node.ttl() {
        None => String::new(),
        Some(0) => paint(style::DUE, "0 due"),
        Some(ttl) => paint(style::TTL, ttl),
    }
}

/// Returns the size of the content of a block.
pub(crate) fn bytes(node: &Node) -> String {
    match node.derived.class {
        NodeClass::Block => paint(style::DIM, size(node.derived.bytes)),
        _ => String::new(),
    }
}

/// Returns key, tags, pin and priority, as far as there are any.
pub(crate) fn marks(node: &Node) -> String {
    let mut marks = Vec::new();
    if node.is_pinned() {
        marks.push("pinned".to_owned());
    }
    if node.is_removable() {
        marks.push("removable".to_owned());
    }
    if let Some(key) = node.key() {
        marks.push(format!("#{}", one_line(key)));
    }
    marks.extend(node.tags().map(|tag| format!("+{}", one_line(tag))));
    if let Some(priority) = node.priority().filter(|priority| !is_zero(priority)) {
        marks.push(format!("priority {}", text(priority)));
    }
    if marks.is_empty() { String::new() } else { paint(style::MARK, marks.join(" ")) }
}
