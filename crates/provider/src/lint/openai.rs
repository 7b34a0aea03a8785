//! Lints what both OpenAI APIs share: tools, tool choice, cache breakpoints, and tool calls.

use contextree_json::Value;

use super::pass::Facts;
use super::report::{Report, list, text, tool_at};
use crate::render::wire::{fits_call_id, fits_name};
use crate::{Provider, Slot};

/// The maximum number of tools in a request, and of breakpoints that take effect.
const TOOLS: usize = 128;
const BREAKPOINTS: usize = 4;

/// Lints tool definitions.
pub(super) fn tools(report: &mut Report, request: &Value) {
    let tools = list(request, "tools");
    if tools.len() > TOOLS {
        let message = format!("{} tools; at most {TOOLS} are allowed", tools.len());
        report.error("tool_count", tool_at(TOOLS), message);
    }
    let is_chat = report.provider == Provider::OpenAiChat;
    if is_chat && request.get("tools").and_then(Value::as_array).is_some_and(<[Value]>::is_empty) {
        report.whole("empty_list", "`tools` is empty; leave it out");
    }
    for (index, tool) in tools.iter().enumerate() {
        let slot = tool_at(index);
        let kind = text(tool, "type").unwrap_or_default();
        let inner = match (kind, is_chat) {
            ("function" | "custom", true) => tool.get(kind),
            ("function" | "custom", false) => Some(tool),
            ("", _) => {
                report.error("tool_definition", slot, "the tool has no `type`");
                continue;
            }
            _ => continue,
        };
        if inner.and_then(|inner| text(inner, "name")).is_none() {
            let place = if is_chat { format!("`{kind}.name`") } else { "`name`".to_owned() };
            report.error("tool_definition", slot, format!("the tool has no {place}"));
        }
        let schema = inner.and_then(|inner| inner.get("parameters"));
        let is_object = schema.is_none_or(|schema| match schema {
            Value::Null => !is_chat,
            Value::Object(_) => text(schema, "type").is_none_or(|kind| kind == "object"),
            _ => false,
        });
        if kind == "function" && !is_object {
            report.error("tool_definition", slot, "`parameters` must be a schema of type `object`");
        }
    }
}

/// Returns the name of a tool definition, or of the tool that a choice names.
fn named(tool: &Value, is_chat: bool) -> Option<String> {
    let kind = text(tool, "type").filter(|kind| matches!(*kind, "function" | "custom"))?;
    let holder = if is_chat { tool.get(kind)? } else { tool };
    text(holder, "name").map(str::to_owned)
}

/// Returns the names of tools that an item of the conversation defines.
pub(super) fn additional_tools(item: &Value) -> impl Iterator<Item = String> {
    list(item, "tools").iter().filter_map(|tool| named(tool, false))
}

/// Lints `tool_choice`: a named tool must be defined.
pub(super) fn choice(report: &mut Report, request: &Value, facts: &Facts) {
    let Some(choice) = request.get("tool_choice").filter(|it| !it.is_null()) else { return };
    let is_chat = report.provider == Provider::OpenAiChat;
    let named = |tool: &Value| named(tool, is_chat);
    let mut defined: Vec<String> = list(request, "tools").iter().filter_map(named).collect();
    defined.extend(facts.tools.iter().cloned());
    // A stored prompt or server-side state may define more tools.
    let elsewhere = ["prompt", "previous_response_id", "conversation"];
    if !is_chat && elsewhere.iter().any(|name| request.get(name).is_some_and(|it| !it.is_null())) {
        return;
    }
    if is_chat && list(request, "tools").is_empty() && choice.as_str() != Some("none") {
        report.whole("tool_choice", "`tool_choice` is set, but no tool is defined");
        return;
    }
    let allowed = choice.get("allowed_tools").unwrap_or(choice);
    for name in list(allowed, "tools").iter().chain([choice]).filter_map(named) {
        if !defined.contains(&name) {
            report
                .whole("tool_choice", &format!("`tool_choice` names the undefined tool `{name}`"));
        }
    }
}

/// Counts cache breakpoints and lints their values.
#[derive(Clone, Default)]
pub(super) struct Breakpoints {
    count: usize,
}

impl Breakpoints {
    pub(super) fn part(&mut self, report: &mut Report, part: &Value, slot: Slot) {
        let breakpoint = part.get("prompt_cache_breakpoint").filter(|it| !it.is_null());
        let Some(breakpoint) = breakpoint else { return };
        if text(breakpoint, "mode") != Some("explicit") {
            report.error("cache_breakpoints", slot, "the mode of a breakpoint must be `explicit`");
        }
        self.count += 1;
        if self.count == BREAKPOINTS + 1 {
            let message = format!("only the last {BREAKPOINTS} cache breakpoints take effect");
            report.warning("cache_breakpoints", slot, message);
        }
    }
}

/// Lints the id and the name of a tool call.
pub(super) fn call(report: &mut Report, id: Option<&str>, name: Option<&str>, slot: Slot) {
    match id {
        None => report.error("call_id", slot, "the tool call has no id"),
        Some(id) if !fits_call_id(id, report.provider) => {
            report.error("call_id", slot, format!("the tool call id `{id}` is too long"));
        }
        Some(_) => {}
    }
    match name {
        None => report.error("tool_name", slot, "the tool call has no name"),
        Some(name) if !fits_name(name, report.provider) => {
            report.error("tool_name", slot, format!("`{name}` is not a valid tool name"));
        }
        Some(_) => {}
    }
}

/// Lints the detail level of an image.
pub(super) fn detail(report: &mut Report, holder: &Value, slot: Slot) {
    if let Some(detail) = holder.get("detail").filter(|it| !it.is_null())
        && !matches!(detail.as_str(), Some("auto" | "low" | "high" | "original"))
    {
        report.error("part_data", slot, "`detail` must be `auto`, `low`, `high` or `original`");
    }
}
