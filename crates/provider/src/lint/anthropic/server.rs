//! Lints server-side tool calls: each has a result, in the same or in a later assistant message.

use contextree_json::Value;

use super::super::pass::Pass;
use super::super::report::{Report, text, within};
use super::content_of;
use crate::Slot;

/// A call without a result so far.
#[derive(Clone)]
struct Call {
    id: Box<str>,
    message: usize,
    slot: Slot,
    /// Whether the API refuses the call without its result.
    is_strict: bool,
    /// Whether there are client-side tool calls next to it.
    waits: bool,
}

/// The state of a pass over the messages.
#[derive(Clone, Default)]
pub(super) struct Calls {
    open: Vec<Call>,
    /// The last assistant message.
    assistant: Option<usize>,
    messages: usize,
}

impl Pass for Calls {
    fn message(&mut self, report: &mut Report, message: &Value, index: usize) {
        self.messages = index + 1;
        if text(message, "role") != Some("assistant") {
            return;
        }
        self.assistant = Some(index);
        let blocks = content_of(message);
        let waits = blocks.iter().any(|block| text(block, "type") == Some("tool_use"));
        for (inner, block) in blocks.iter().enumerate() {
            let slot = within(index, "content", inner);
            let kind = text(block, "type").unwrap_or_default();
            if matches!(kind, "server_tool_use" | "mcp_tool_use") {
                let id = text(block, "id").unwrap_or_default();
                report.ids.insert(id);
                // "`web_search` tool use with id `…` was found without a corresponding
                // `web_search_tool_result` block"
                let is_strict = matches!(text(block, "name"), Some("web_search" | "web_fetch"));
                self.open.push(Call { id: id.into(), message: index, slot, is_strict, waits });
            } else if kind.ends_with("_tool_result") {
                let id = text(block, "tool_use_id").unwrap_or_default();
                // "unexpected `tool_use_id` found in `web_search_tool_result` blocks",
                // anthropics/claude-code#80439
                if !report.ids.contains(id) {
                    let message = format!("no tool call `{id}` precedes this result");
                    report.error("orphan_result", slot, message);
                }
                self.open.retain(|call| *call.id != *id);
            }
        }
    }

    /// Reports calls without results. A message that the API paused is sent back as it is, so its
    /// calls have no results yet; neither have calls next to client-side tool calls.
    fn end(self, report: &mut Report, _request: &Value) {
        for call in self.open {
            let is_interrupted = call.message + 1 == self.messages || call.waits;
            if self.assistant == Some(call.message) && is_interrupted {
                continue;
            }
            let message = format!("the tool call `{}` has no result after it", call.id);
            match call.is_strict {
                true => report.error("missing_result", call.slot, message),
                false => report.warning("missing_result", call.slot, message),
            }
        }
    }
}
