//! What changed between two states, drawn.

use std::collections::BTreeMap;

use contextree::json::Value;
use contextree_app::command::diff::{DiffDetail, DiffResponse, StateName, ThreadPosition};
use contextree_app::command::status::Pending;
use contextree_app::wire::Node;
use similar::{ChangeTag, TextDiff};

use super::node;
use crate::output::style::{self, paint};
use crate::output::text::{columns, count, cut, one_line, size, wrap};

/// Draws a diff: a line of sums, then added, removed and changed nodes.
pub(crate) fn draw(
    response: &DiffResponse,
    detail: &DiffDetail,
    causes: &BTreeMap<String, String>,
    width: Option<usize>,
) -> String {
    let mut out = wrap(sums(response, detail).trim_end(), width);
    out.push('\n');
    let mut line = |mark: &str, style, node: &Node, why: &str| {
        let why = if why.is_empty() { String::new() } else { paint(style::DIM, why) };
        let cells = [
            format!("{} {}", paint(style, mark), paint(style::ID, one_line(node.id()))),
            place(node),
            node::speaker(node),
            node.ttl().map_or_else(String::new, |ttl| paint(style::TTL, format!("ttl {ttl}"))),
            node::bytes(node),
            position(detail, node.id(), mark),
            why,
        ];
        out.push_str(&fitting(cells, &node::preview(node), width));
        out.push('\n');
    };
    let moved_to = |id: &str| response.moved.iter().find(|moved| moved.from == id);
    let moved_from = |id: &str| response.moved.iter().find(|moved| moved.to == id);
    for node in &detail.added {
        let why = moved_from(node.id()).map(|moved| format!("(moved from {})", moved.from));
        line("+", style::ADDED, node, why.as_deref().unwrap_or_default());
    }
    for node in &detail.removed {
        let cause = causes.get(node.id()).map(|cause| format!("({cause})"));
        let moved = || moved_to(node.id()).map(|moved| format!("(moved to {})", moved.to));
        let why = cause.or_else(moved);
        line("-", style::REMOVED, node, why.as_deref().unwrap_or(reason(node, response)));
    }
    for changed in &detail.changed {
        out.push_str(&change(&changed.before, &changed.after, &changed.fields, width));
    }
    out
}

/// Two of the cells of a line.
const SIZE: usize = 4;
const POSITION: usize = 5;

/// How many columns of a preview are worth more than the size and the position of its node.
const PREVIEW: usize = 12;

/// Returns the cells of a line with as much of the preview as fits. Where the line is too narrow, the position and then the size make
/// room.
fn fitting(mut cells: [String; 7], preview: &str, width: Option<usize>) -> String {
    let join = |cells: &[String]| {
        let shown: Vec<&str> =
            cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        shown.join("  ")
    };
    let mut text = join(&cells);
    if let Some(width) = width {
        let wanted = if preview.is_empty() { 0 } else { 2 + columns(preview).min(PREVIEW) };
        for least in [POSITION, SIZE] {
            if columns(&text) + wanted > width {
                cells[least].clear();
                text = join(&cells);
            }
        }
    }
    let room = width.map(|width| width.saturating_sub(columns(&text) + 2));
    match preview.is_empty() || room.is_some_and(|room| room < 2) {
        true => text,
        false => format!("{text}  {}", cut(preview, room)),
    }
}

/// `@c1 → @c2   +3 −1 ~1   content 120 B → 140 B`, and how much of the thread's beginning is as it was.
fn sums(response: &DiffResponse, detail: &DiffDetail) -> String {
    let (all, shared) = (detail.thread_bytes, detail.thread_bytes_shared);
    let percent = (shared * 100).checked_div(all).unwrap_or(100);
    // The closing bracket of the older thread is never part of what a longer one begins with.
    let stays = match shared + 1 >= all {
        true => "the thread only grew".to_owned(),
        false => format!("{percent} % of the thread's bytes stay ({shared} of {all})"),
    };
    let part = |style, mark: char, number: usize| paint(style, format!("{mark}{number}"));
    let diff = &response.diff;
    format!(
        "{} → {}   {} {} {}   content {} → {}   {}\n",
        paint(style::TITLE, name(&response.older)),
        paint(style::TITLE, name(&response.newer)),
        part(style::ADDED, '+', diff.added.len()),
        part(style::REMOVED, '-', diff.removed.len()),
        part(style::CHANGED, '~', diff.changed.len()),
        size(detail.bytes_before),
        size(detail.bytes_after),
        paint(style::DIM, stays),
    )
}

/// Returns the name of a state, with its context if two are compared.
pub(crate) fn name(state: &StateName) -> String {
    match (&state.context, state.cycle) {
        (Some(context), Some(_)) => format!("{context}{}", state.label),
        (Some(context), None) => context.clone(),
        (None, _) => state.label.clone(),
    }
}

/// Returns where an added or removed block is in its thread, `[12]`.
fn position(detail: &DiffDetail, id: &str, mark: &str) -> String {
    let is_meant = |at: &&ThreadPosition| {
        at.id == id && if mark == "+" { at.after.is_some() } else { at.before.is_some() }
    };
    let found = detail.positions.iter().find(is_meant);
    let at = found.and_then(|at| if mark == "+" { at.after } else { at.before });
    at.map_or_else(String::new, |at| paint(style::DIM, format!("[{at}]")))
}

/// Returns the region, and for sealed turns the turn.
fn place(node: &Node) -> String {
    let region = node.derived.region.as_deref().unwrap_or_default();
    match node.turn() {
        Some(turn) => paint(style::DIM, format!("{region} {}", one_line(turn))),
        None => paint(style::DIM, region),
    }
}

/// Returns why a node was removed, as far as the two states show it.
fn reason(node: &Node, response: &DiffResponse) -> &'static str {
    let (older, newer) = (response.older.cycle, response.newer.cycle);
    let next = older.is_some_and(|cycle| newer == Some(cycle + 1));
    if next && node.ttl() == Some(0) { "(expired)" } else { "" }
}

fn change(before: &Node, after: &Node, fields: &[String], width: Option<usize>) -> String {
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
        let value = |node: &Node| match field.as_str() {
            "parent" => node.derived.parent.as_deref().map(Value::from),
            name => node.fields.get(name).cloned(),
        };
        let shown = |value: Option<Value>| match value {
            None => "none".to_owned(),
            Some(Value::Null) => "never".to_owned(),
            Some(Value::String(text)) => cut(&one_line(&text), Some(40)),
            Some(other) => cut(&String::from_utf8_lossy(&other.to_canonical()), Some(40)),
        };
        text.push_str(&format!("  {field} {} → {}", shown(value(before)), shown(value(after))));
    }
    format!("{}\n{content}", wrap(&text, width))
}

/// The lines that differ. Both sides have lines of their own, so that nothing is lost without colour.
fn content_change(before: &Node, after: &Node) -> String {
    let text = |node: &Node| match node.content() {
        Some(Value::String(text)) => text.to_string(),
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

/// Returns the sums in words: `2 nodes added, 1 removed, 3 changed`.
pub(crate) fn words(pending: Pending) -> String {
    match (pending.added, pending.removed, pending.changed) {
        (0, 0, 0) => "nothing changed".to_owned(),
        (added, removed, changed) => {
            format!("{} added, {removed} removed, {changed} changed", count(added, "node"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn narrow_line_keeps_the_beginning_of_the_text_instead_of_position_and_size() {
        let line = |width: Option<usize>, preview: &str| {
            let cells = ["+ block:252.1", "^seq seg:252", "assistant", "", "418 B", "[192]", ""];
            fitting(cells.map(str::to_owned), preview, width)
        };
        let text = "Most of these are comments.";
        assert_eq!(
            line(None, text),
            "+ block:252.1  ^seq seg:252  assistant  418 B  [192]  Most of these are comments."
        );
        assert_eq!(
            line(Some(60), text),
            "+ block:252.1  ^seq seg:252  assistant  418 B  Most of thes…"
        );
        assert_eq!(line(Some(55), text), "+ block:252.1  ^seq seg:252  assistant  Most of these …");
        assert_eq!(
            line(Some(60), "Yes."),
            "+ block:252.1  ^seq seg:252  assistant  418 B  [192]  Yes."
        );
        assert_eq!(line(Some(60), ""), "+ block:252.1  ^seq seg:252  assistant  418 B  [192]");
        assert_eq!(line(Some(20), text), "+ block:252.1  ^seq seg:252  assistant");
    }
}
