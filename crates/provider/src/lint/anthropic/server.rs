//! Lints server-side tool calls: each has a result, in the same or in a later assistant message.

use contextree_json::Value;

use super::super::report::{Report, text, within};
use super::content_of;
use crate::Slot;

struct Call<'a> {
    id: &'a str,
    name: &'a str,
    message: usize,
    slot: Slot,
}

pub(super) fn lint(report: &mut Report, messages: &[Value]) {
    let mut open: Vec<Call<'_>> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        if text(message, "role") != Some("assistant") {
            continue;
        }
        for (inner, block) in content_of(message).iter().enumerate() {
            let slot = within(index, "content", inner);
            let kind = text(block, "type").unwrap_or_default();
            if matches!(kind, "server_tool_use" | "mcp_tool_use") {
                let id = text(block, "id").unwrap_or_default();
                let name = text(block, "name").unwrap_or_default();
                seen.insert(id);
                open.push(Call { id, name, message: index, slot });
            } else if kind.ends_with("_tool_result") {
                let id = text(block, "tool_use_id").unwrap_or_default();
                // "unexpected `tool_use_id` found in `web_search_tool_result` blocks",
                // anthropics/claude-code#80439
                if !seen.contains(id) {
                    let message = format!("no tool call `{id}` precedes this result");
                    report.error("orphan_result", slot, message);
                }
                open.retain(|call| call.id != id);
            }
        }
    }
    unanswered(report, messages, &open);
}

/// Reports server-side calls without results. A message that the API paused is sent back as it is,
/// so its calls have no results yet; neither have calls next to client-side tool calls.
fn unanswered(report: &mut Report, messages: &[Value], open: &[Call<'_>]) {
    let last = messages.iter().rposition(|it| text(it, "role") == Some("assistant"));
    for call in open {
        let blocks = content_of(&messages[call.message]);
        let waits = blocks.iter().any(|block| text(block, "type") == Some("tool_use"));
        let interrupted = call.message + 1 == messages.len() || waits;
        if last == Some(call.message) && interrupted {
            continue;
        }
        let message = format!("the tool call `{}` has no result after it", call.id);
        // "`web_search` tool use with id `…` was found without a corresponding
        // `web_search_tool_result` block"
        match call.name {
            "web_search" | "web_fetch" => report.error("missing_result", call.slot, message),
            _ => report.warning("missing_result", call.slot, message),
        }
    }
}
