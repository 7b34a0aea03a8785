//! Lints Responses: every call has a later output, and every reasoning item is followed by its
//! result.

use contextree_json::Value;

use super::finding::Severity;
use super::openai::{self, Breakpoints};
use super::pairing::Pairing;
use super::pass::{AnyPass, Facts, Pass, Resumable};
use super::report::{Place, Report, at, list, text, within};
use crate::Slot;

/// Item types other than messages, function calls and their outputs.
const KNOWN: [&str; 25] = [
    "additional_tools",
    "apply_patch_call",
    "apply_patch_call_output",
    "code_interpreter_call",
    "compaction",
    "compaction_trigger",
    "computer_call",
    "computer_call_output",
    "configuration_update",
    "file_search_call",
    "image_generation_call",
    "item_reference",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
    "shell_call",
    "shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
];

/// The state of a pass over the items.
#[derive(Clone)]
struct Items {
    pairing: Pairing,
    breakpoints: Breakpoints,
    /// Items whose rule depends on what follows them.
    held: Vec<Held>,
    tools: Vec<String>,
}

/// An item whose rule depends on what follows it.
#[derive(Clone)]
struct Held {
    place: Place,
    index: usize,
    /// A reasoning item must be followed by what the model made of it; otherwise, a
    /// `compaction_trigger` by nothing.
    is_reasoning: bool,
}

/// Lints everything but the conversation.
pub(super) fn lint(report: &mut Report, request: &Value, facts: &Facts, items: usize) {
    openai::tools(report, request);
    openai::choice(report, request, facts);
    let has = |name: &str| request.get(name).is_some_and(|it| !it.is_null());
    if has("previous_response_id") && has("conversation") {
        let message = "`previous_response_id` and `conversation` exclude each other";
        report.whole("settings_conflict", message);
    }
    if has("messages") {
        report.whole_warning("settings_conflict", "`messages` is not a field of Responses");
    }
    if request.get("instructions").is_some_and(|it| !it.is_null() && it.as_str().is_none()) {
        report.whole("content_type", "`instructions` must be a string");
    }
    let is_text = request.get("input").is_some_and(|it| it.as_str().is_some());
    if items == 0 && !is_text && !remembers(request) && !has("prompt") {
        report.whole("no_messages", "the request has no messages");
    }
}

pub(super) fn passes(report: impl Fn() -> Report, request: &Value) -> Vec<Box<dyn AnyPass>> {
    let items = Items {
        pairing: Pairing::with_reuse(remembers(request)),
        breakpoints: Breakpoints::default(),
        held: Vec::new(),
        tools: Vec::new(),
    };
    vec![Box::new(Resumable::new(items, report()))]
}

/// Returns whether the provider stores the beginning of the conversation.
fn remembers(request: &Value) -> bool {
    let has = |name: &str| request.get(name).is_some_and(|it| !it.is_null());
    has("previous_response_id") || has("conversation")
}

/// Returns the type of an item; messages and references may omit it.
fn kind_of(item: &Value) -> &str {
    let bare = if item.get("role").is_none() && text(item, "id").is_some() {
        "item_reference"
    } else {
        "message"
    };
    text(item, "type").unwrap_or(bare)
}

impl Pass for Items {
    fn message(&mut self, report: &mut Report, item: &Value, index: usize) {
        let slot = at(index);
        let kind = kind_of(item);
        self.follow(report, Some(item));
        if kind == "item_reference" {
            // The referenced item may be a call.
            self.pairing.elsewhere = true;
            return;
        }
        if let Some(id) = text(item, "id")
            && !report.ids.insert(id)
        {
            report.error("duplicate_item_id", slot, format!("two items have the id `{id}`"));
        }
        match kind {
            "function_call" | "custom_tool_call" => self.call(report, item, kind, slot),
            "function_call_output" | "custom_tool_call_output" => {
                self.output(report, item, kind, index);
            }
            "reasoning" => self.reasoning(report, item, index),
            "message" => self.said(report, item, index),
            "compaction_trigger" => self.hold(report, index, false),
            "additional_tools" => self.tools.extend(openai::additional_tools(item)),
            _ => self.other(report, item, kind, slot),
        }
    }

    fn end(mut self, report: &mut Report, _request: &Value) {
        self.follow(report, None);
        self.pairing.close(report);
    }

    fn note(&self, facts: &mut Facts) {
        facts.tools.extend(self.tools.iter().cloned());
    }
}

impl Items {
    fn hold(&mut self, report: &Report, index: usize, is_reasoning: bool) {
        self.held.push(Held { place: report.place(), index, is_reasoning });
    }

    /// Lints the items that were held, now that it is known what follows them.
    fn follow(&mut self, report: &mut Report, next: Option<&Value>) {
        // More reasoning may follow, as long as something else follows in the end.
        let is_reasoning = next.is_some_and(|next| text(next, "type") == Some("reasoning"));
        let is_of_model = next.is_some_and(is_of_model);
        for number in (0..self.held.len()).rev() {
            let Held { place, index, is_reasoning: reasons } = self.held[number];
            if reasons && is_reasoning {
                continue;
            }
            self.held.remove(number);
            let (code, message) = match reasons {
                true if is_of_model => continue,
                true => ("reasoning_alone", "nothing follows the reasoning item"),
                false if next.is_none() => continue,
                false => ("item_place", "`compaction_trigger` must be the last item"),
            };
            report.confirm(place, code, Severity::Error, at(index), message);
        }
    }

    fn reasoning(&mut self, report: &mut Report, item: &Value, index: usize) {
        self.hold(report, index, true);
        if text(item, "id").is_none() {
            let message = "the reasoning item has no id; the SDK types require one";
            report.warning("reasoning_id", at(index), message);
        }
        if item.get("summary").and_then(Value::as_array).is_none() {
            report.error("reasoning_summary", at(index), "`summary` must be a list");
        }
    }

    fn call(&mut self, report: &mut Report, item: &Value, kind: &str, slot: Slot) {
        let is_function = kind == "function_call";
        let field = if is_function { "arguments" } else { "input" };
        if text(item, field).is_none() {
            report.error("arguments", slot, format!("`{field}` must be a string"));
        }
        openai::call(report, text(item, "call_id"), text(item, "name"), slot);
        let answer = if is_function { "function_call_output" } else { "custom_tool_call_output" };
        let may_wait = item.get("async").and_then(Value::as_bool) == Some(true);
        if let Some(id) = text(item, "call_id") {
            self.pairing.call_for(report, id, slot, Some(answer), may_wait);
        }
    }

    fn output(&mut self, report: &mut Report, item: &Value, kind: &str, index: usize) {
        // Without an id, other fields identify what it answers.
        if let Some(id) = text(item, "call_id") {
            self.pairing.result_as(report, id, at(index), Some(kind));
        }
        let empty = match item.get("output") {
            Some(Value::String(_)) => false,
            Some(Value::Array(parts)) => parts.is_empty(),
            _ => true,
        };
        if empty {
            report.error("empty_content", at(index), "`output` is missing");
        }
        for (inner, part) in list(item, "output").iter().enumerate() {
            self.part(report, part, within(index, "output", inner), "user");
        }
    }

    /// Lints provider-specific items: those that the client executes need an output.
    fn other(&mut self, report: &mut Report, item: &Value, kind: &str, slot: Slot) {
        let id = text(item, "call_id");
        match (kind, id) {
            ("computer_call", Some(id)) => {
                self.pairing.call_for(report, id, slot, Some("computer_call_output"), false);
            }
            ("apply_patch_call", Some(id)) => {
                self.pairing.call_for(report, id, slot, Some("apply_patch_call_output"), false);
            }
            ("shell_call", Some(id)) => {
                // In a container of the provider, the provider supplies the output.
                let place = item.get("environment").and_then(|it| text(it, "type"));
                let hosted = place.is_some_and(|place| place != "local");
                self.pairing.call_for(report, id, slot, Some("shell_call_output"), hosted);
            }
            ("local_shell_call" | "tool_search_call" | "program", Some(id)) => {
                self.pairing.call_for(report, id, slot, None, true);
            }
            (
                "computer_call_output"
                | "apply_patch_call_output"
                | "shell_call_output"
                | "tool_search_output"
                | "program_output",
                Some(id),
            ) => self.pairing.result_as(report, id, slot, Some(kind)),
            ("computer_call" | "apply_patch_call" | "shell_call", None) => {
                report.error("call_id", slot, "the tool call has no id");
            }
            ("mcp_approval_request", _) => {
                if let Some(id) = text(item, "id") {
                    report.approvals.insert(id);
                }
            }
            ("mcp_approval_response", _) => {
                let asked = text(item, "approval_request_id").unwrap_or_default();
                if !report.approvals.contains(asked) && !self.pairing.elsewhere {
                    let message = format!("no open approval request `{asked}` for this response");
                    report.error("orphan_result", slot, message);
                }
            }
            (kind, _) if !KNOWN.contains(&kind) => {
                report.warning("item_type", slot, format!("unknown item type `{kind}`"));
            }
            _ => {}
        }
    }

    fn said(&mut self, report: &mut Report, item: &Value, index: usize) {
        let role = text(item, "role").unwrap_or_default();
        if !matches!(role, "user" | "assistant" | "system" | "developer") {
            report.error("unknown_role", at(index), format!("unknown role `{role}`"));
        }
        let empty = match item.get("content") {
            Some(Value::String(_)) => false,
            Some(Value::Array(parts)) => parts.is_empty(),
            _ => true,
        };
        if empty {
            report.error("empty_content", at(index), "the message has no content");
        }
        for (inner, part) in list(item, "content").iter().enumerate() {
            self.part(report, part, within(index, "content", inner), role);
        }
        if item.get("tool_calls").is_some() {
            let message = "tool calls are separate items; `tool_calls` belongs to Chat Completions";
            report.warning("item_type", at(index), message);
        }
    }

    fn part(&mut self, report: &mut Report, part: &Value, slot: Slot, role: &str) {
        self.breakpoints.part(report, part, slot);
        let has = |names: &[&str]| names.iter().any(|name| text(part, name).is_some());
        let kind = text(part, "type").unwrap_or_default();
        let there = match kind {
            "input_text" | "output_text" => has(&["text"]),
            "refusal" => has(&["refusal"]),
            "input_image" => {
                openai::detail(report, part, slot);
                has(&["image_url", "file_id"])
            }
            "input_file" => has(&["file_data", "file_id", "file_url"]),
            "text" | "image_url" | "file" | "" => {
                let message =
                    format!("`{kind}` is a content part of Chat Completions, not of Responses");
                report.error("content_type", slot, message);
                true
            }
            _ => {
                report.warning("content_type", slot, format!("unknown content part `{kind}`"));
                true
            }
        };
        if !there {
            report.error("part_data", slot, "the part lacks the data that its type requires");
        }
        let of_model = matches!(kind, "output_text" | "refusal");
        if of_model && role != "assistant" {
            report.error(
                "content_type",
                slot,
                format!("only an assistant message can contain `{kind}`"),
            );
        } else if kind.starts_with("input_") && role == "assistant" {
            let message = format!("an assistant message contains `output_text`, not `{kind}`");
            report.warning("content_type", slot, message);
        }
    }
}

fn is_of_model(item: &Value) -> bool {
    match kind_of(item) {
        "message" => text(item, "role") == Some("assistant"),
        kind => !kind.ends_with("_output") && !kind.ends_with("_response"),
    }
}
