//! Lints settings and tools: numeric ranges, settings that are incompatible with thinking, and
//! schemas.

use contextree_json::Value;

use super::super::pass::Facts;
use super::super::report::{Report, list, text};
use super::field;
use crate::{List, Slot};

/// The minimum thinking budget in tokens.
const LEAST_BUDGET: u64 = 1024;

pub(super) fn lint(report: &mut Report, request: &Value, facts: &Facts) {
    numbers(report, request);
    thinking(report, request);
    tools(report, request);
    tool_choice(report, request);
    if facts.has_calls && list(request, "tools").is_empty() {
        // The API accepts this; some proxies do not.
        let message = "the conversation has tool calls, but no tool is defined";
        report.whole_warning("tools_missing", message);
    }
}

fn numbers(report: &mut Report, request: &Value) {
    // Zero is allowed: it warms the cache.
    if field(request, "max_tokens").is_some_and(|it| it.as_u64().is_none()) {
        report.whole("setting", "`max_tokens` must be a whole number");
    }
    // "stop_sequences: each stop sequence must contain non-whitespace"
    let blank = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
    if list(request, "stop_sequences").iter().any(blank) {
        report.whole("setting", "a stop sequence cannot be only whitespace");
    }
    for name in ["temperature", "top_p"] {
        let outside = |it: &Value| it.as_f64().is_none_or(|number| !(0.0..=1.0).contains(&number));
        if field(request, name).is_some_and(outside) {
            report.whole("setting", &format!("`{name}` must be between 0 and 1"));
        }
    }
}

/// "Thinking isn't compatible with temperature or top_k modifications as well as forced tool use"
/// (the guide to extended thinking). With adaptive thinking, only some models refuse it.
fn thinking(report: &mut Report, request: &Value) {
    let Some(thinking) = field(request, "thinking") else { return };
    let adaptive = match text(thinking, "type") {
        Some("enabled") => false,
        Some("adaptive") => true,
        _ => return,
    };
    let mut refuse = |message: &str| match adaptive {
        true => report.whole_warning("thinking_settings", message),
        false => report.whole("thinking_settings", message),
    };
    if field(request, "temperature").is_some_and(|it| it.as_f64() != Some(1.0)) {
        refuse("with thinking enabled, `temperature` must be 1");
    }
    if field(request, "top_k").is_some() {
        refuse("with thinking enabled, `top_k` is not allowed");
    }
    let choice = field(request, "tool_choice").and_then(|it| text(it, "type"));
    if matches!(choice, Some("any" | "tool")) {
        refuse("with thinking enabled, a tool cannot be forced");
    }
    if !adaptive {
        budget(report, request, thinking);
    }
}

fn budget(report: &mut Report, request: &Value, thinking: &Value) {
    let Some(budget) = field(thinking, "budget_tokens").and_then(Value::as_u64) else {
        report.whole("thinking_budget", "enabled thinking needs `budget_tokens`");
        return;
    };
    if budget < LEAST_BUDGET {
        report.whole("thinking_budget", "`budget_tokens` must be at least 1024");
    }
    // "`max_tokens` must be greater than `thinking.budget_tokens`"; interleaved thinking, enabled
    // by a header, may exceed it.
    let most = field(request, "max_tokens").and_then(Value::as_u64);
    if most.is_some_and(|most| most <= budget) {
        let message = "`budget_tokens` must be less than `max_tokens`";
        match list(request, "tools") {
            [] => report.whole("thinking_budget", message),
            _ => report.whole_warning("thinking_budget", message),
        }
    }
}

fn tools(report: &mut Report, request: &Value) {
    let tools = list(request, "tools");
    let deferred = |tool: &Value| tool.get("defer_loading").and_then(Value::as_bool) == Some(true);
    for (index, tool) in tools.iter().enumerate() {
        let slot = Slot { list: List::Tools, index: index as u32, inner: None };
        if matches!(field(tool, "type").map(Value::as_str), None | Some(Some("custom"))) {
            function(report, tool, slot);
        }
        if deferred(tool) && field(tool, "cache_control").is_some() {
            let message = "a tool with deferred loading cannot have a breakpoint";
            report.error("defer_loading", slot, message);
        }
    }
    // "At least one tool must be non-deferred" (the guide to tool search).
    if !tools.is_empty() && tools.iter().all(deferred) {
        report.whole("defer_loading", "at least one tool must not have deferred loading");
    }
}

/// "tools.0.custom.input_schema.type: Input should be 'object'"
fn function(report: &mut Report, tool: &Value, slot: Slot) {
    if field(tool, "name").and_then(Value::as_str).is_none() {
        report.error("tool_name", slot, "the tool has no name");
    }
    let schema = field(tool, "input_schema").filter(|it| it.as_object().is_some());
    if schema.and_then(|schema| text(schema, "type")) != Some("object") {
        report.error("tool_schema", slot, "`input_schema` must be a schema of type `object`");
    }
    // "input_schema does not support oneOf, allOf, or anyOf at the top level"
    let choice = |name: &&&str| schema.is_some_and(|schema| field(schema, name).is_some());
    if let Some(name) = ["oneOf", "allOf", "anyOf"].iter().find(choice) {
        report.error("tool_schema", slot, format!("`input_schema` has `{name}` at the top level"));
    }
}

/// Lints `tool_choice`: "tool_choice may only be specified while providing tools", and a named tool
/// must be defined.
fn tool_choice(report: &mut Report, request: &Value) {
    let Some(choice) = field(request, "tool_choice") else { return };
    let tools = list(request, "tools");
    if tools.is_empty() {
        if field(request, "mcp_servers").is_none() {
            report.whole("tool_choice", "`tool_choice` is set, but no tool is defined");
        }
        return;
    }
    if text(choice, "type") == Some("tool") {
        let name = text(choice, "name").unwrap_or_default();
        // Toolsets do not list the tools they contain.
        let sets = tools.iter().any(|tool| text(tool, "name").is_none());
        if !sets && !tools.iter().any(|tool| text(tool, "name") == Some(name)) {
            report
                .whole("tool_choice", &format!("`tool_choice` names the undefined tool `{name}`"));
        }
    }
}
