//! What changed between two states, drawn.

use contextree::diff::Diff;
use contextree::{Class, NodeRef};
use contextree_json::Value;
use similar::{ChangeTag, TextDiff};

use super::node;
use crate::output::style::{self, paint};
use crate::output::text::{count, cut, one_line, size};
use crate::source::State;

/// Draws a diff: a line of sums, then what came, what went and what changed.
pub(crate) fn draw(diff: &Diff, older: &State, newer: &State, width: Option<usize>) -> String {
    let mut out = sums(diff, older, newer);
    let mut line = |mark: &str, style, node: NodeRef<'_>, why: &str| {
        let mut text = format!("{} {}", paint(style, mark), paint(style::ID, one_line(node.id())));
        let mut add = |cell: String| {
            if !cell.is_empty() {
                text.push_str("  ");
                text.push_str(&cell);
            }
        };
        add(place(node));
        add(node::speaker(node));
        add(node.ttl().map_or_else(String::new, |ttl| paint(style::TTL, format!("ttl {ttl}"))));
        add(node::bytes(node));
        add(paint(style::DIM, why).replace("\u{1b}[2m\u{1b}[0m", ""));
        let used = crate::output::text::columns(&text) + 2;
        let room = width.map(|width| width.saturating_sub(used).max(8));
        let preview = cut(&node::preview(node), room);
        if !preview.is_empty() {
            text.push_str(&format!("  {preview}"));
        }
        out.push_str(&text);
        out.push('\n');
    };
    for node in diff.added.iter().filter_map(|id| newer.tree().get(id)) {
        line("+", style::ADDED, node, "");
    }
    for node in diff.removed.iter().filter_map(|id| older.tree().get(id)) {
        line("-", style::REMOVED, node, reason(node, older, newer));
    }
    for changed in &diff.changed {
        let sides = (older.tree().get(&changed.id), newer.tree().get(&changed.id));
        if let (Some(before), Some(after)) = sides {
            out.push_str(&change(before, after, &changed.fields));
        }
    }
    out
}

/// `@c1 → @c2   +3 −1 ~1   content 120 B → 140 B`, and how much of the thread's beginning is as it was.
fn sums(diff: &Diff, older: &State, newer: &State) -> String {
    let bytes = |state: &State| -> u64 {
        let blocks = state.tree().nodes().filter(|(_, node)| node.class() == Class::Block);
        blocks.map(|(_, block)| block.content().byte_len() as u64).sum()
    };
    let (before, after) = (contextree::thread(older.tree()), contextree::thread(newer.tree()));
    let common = before.iter().zip(&after).take_while(|(left, right)| left == right).count();
    let percent = if before.is_empty() { 100 } else { common * 100 / before.len() };
    let part = |style, mark: char, number: usize| paint(style, format!("{mark}{number}"));
    format!(
        "{} → {}   {} {} {}   content {} → {}   {}\n",
        paint(style::TITLE, &older.label),
        paint(style::TITLE, &newer.label),
        part(style::ADDED, '+', diff.added.len()),
        part(style::REMOVED, '-', diff.removed.len()),
        part(style::CHANGED, '~', diff.changed.len()),
        size(bytes(older)),
        size(bytes(newer)),
        paint(
            style::DIM,
            format!("{percent} % of the thread's bytes stay ({common} of {})", before.len())
        ),
    )
}

/// The region, and for sealed turns the turn.
fn place(node: NodeRef<'_>) -> String {
    let region = node::region(node).map_or("", contextree::Region::word);
    let turn = node.ancestors().find(|above| above.class() == Class::Turn);
    match turn {
        Some(turn) => paint(style::DIM, format!("{region} {}", one_line(turn.id()))),
        None => paint(style::DIM, region),
    }
}

/// Why a node went, as far as the two states tell.
fn reason(node: NodeRef<'_>, older: &State, newer: &State) -> &'static str {
    let next = older.cycle().is_some_and(|cycle| newer.cycle() == Some(cycle + 1));
    if next && node.ttl() == Some(0) { "(its ttl ran out)" } else { "" }
}

fn change(before: NodeRef<'_>, after: NodeRef<'_>, fields: &[String]) -> String {
    let mut text =
        format!("{} {}", paint(style::CHANGED, "~"), paint(style::ID, one_line(after.id())));
    let mut content = String::new();
    for field in fields {
        if field == "content_hash" {
            content = content_change(before, after);
            if content.is_empty() {
                text.push_str("  content_hash");
            }
            continue;
        }
        let value = |node: NodeRef<'_>| match field.as_str() {
            "parent" => node.parent_id().map(Value::from),
            name => node.header(name),
        };
        let shown = |value: Option<Value>| match value {
            None => "none".to_owned(),
            Some(Value::Null) => "never".to_owned(),
            Some(Value::String(text)) => cut(&one_line(&text), Some(40)),
            Some(other) => cut(&String::from_utf8_lossy(&other.to_canonical()), Some(40)),
        };
        text.push_str(&format!("  {field} {} → {}", shown(value(before)), shown(value(after))));
    }
    text.push('\n');
    text + &content
}

/// The lines that differ. Both sides have lines of their own, so that nothing is lost without colour.
fn content_change(before: NodeRef<'_>, after: NodeRef<'_>) -> String {
    let text = |node: NodeRef<'_>| match node.content() {
        contextree::Content::Text(text) => text.to_string(),
        _ => node::preview(node),
    };
    let (before, after) = (text(before), text(after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut out = String::new();
    for group in diff.grouped_ops(3) {
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let (mark, style) = match change.tag() {
                ChangeTag::Delete => ("-", style::REMOVED),
                ChangeTag::Insert => ("+", style::ADDED),
                ChangeTag::Equal => (" ", style::DIM),
            };
            let line = one_line(change.value().trim_end_matches(['\n', '\r']));
            out.push_str(&format!("    {}\n", paint(style, format!("{mark} {line}"))));
        }
    }
    out
}

/// Returns the sums in words: `2 nodes came, 1 went, 3 changed`.
pub(crate) fn words(diff: &Diff) -> String {
    match (diff.added.len(), diff.removed.len(), diff.changed.len()) {
        (0, 0, 0) => "nothing changed".to_owned(),
        (added, removed, changed) => {
            format!("{} came, {removed} went, {changed} changed", count(added, "node"))
        }
    }
}
