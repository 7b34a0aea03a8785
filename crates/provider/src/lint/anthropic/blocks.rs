//! Blocks: who may say them, and what they have to have.

use contextree_json::Value;

use super::super::report::{Report, list, text};
use super::field;
use crate::{List, Slot};

/// The types there are, the beta's included.
const TYPES: [&str; 24] = [
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "compaction",
    "container_upload",
    "document",
    "fallback",
    "image",
    "mcp_tool_listing",
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "text",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_addition",
    "tool_removal",
    "tool_result",
    "tool_search_tool_result",
    "tool_use",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// The types that a result can have within, besides media and text.
const NESTED: [&str; 4] = ["browser_state", "search_result", "text", "tool_reference"];

/// Looks at the system text.
pub(super) fn system(report: &mut Report, request: &Value) {
    for (index, block) in list(request, "system").iter().enumerate() {
        let slot = Slot { list: List::System, index: index as u32, inner: None };
        match text(block, "type") {
            Some("text") => said(report, block, slot, true),
            _ => report.error("content_type", slot, "system text is text"),
        }
    }
}

/// Looks at a block of a message.
pub(super) fn block(report: &mut Report, role: &str, block: &Value, slot: Slot) {
    let Some(kind) = text(block, "type") else {
        // "messages.0.content.0.type: Field required"
        report.error("block_type", slot, "the block has no type");
        return;
    };
    if !TYPES.contains(&kind) {
        report.warning("block_type", slot, format!("`{kind}` is no type of a block"));
    }
    if let Some(message) = refused(role, kind) {
        report.error("content_type", slot, message);
    }
    match kind {
        "text" => said(report, block, slot, false),
        "thinking" if text(block, "signature").is_none_or(str::is_empty) => {
            report.error("thinking_signature", slot, "the thinking has no signature");
        }
        "redacted_thinking" if text(block, "data").is_none_or(str::is_empty) => {
            report.error("thinking_signature", slot, "the redacted thinking has no data");
        }
        "tool_use" if role == "assistant" => call(report, block, slot),
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
            let empty = field(block, "content").is_none_or(|it| {
                it.as_str().is_some_and(str::is_empty) || it.as_array().is_some_and(<[_]>::is_empty)
            });
            if failed && empty {
                report.warning("empty_content", slot, "the error says nothing");
            }
            for inner in list(block, "content") {
                nested(report, inner, slot);
            }
        }
        "image" | "document" => media(report, block, slot),
        _ => {}
    }
}

/// Returns why somebody cannot say something.
fn refused(role: &str, kind: &str) -> Option<&'static str> {
    match (role, kind) {
        ("user", "tool_use" | "thinking" | "redacted_thinking") => {
            Some("only the model can say this")
        }
        ("user", "server_tool_use" | "mcp_tool_use") => Some("only the model can say this"),
        ("assistant", "tool_result") => Some("only the user can answer a call"),
        ("assistant", "image" | "document" | "search_result") => {
            Some("only the user can show this")
        }
        ("system", "text" | "tool_addition" | "tool_removal") => None,
        ("system", kind) if TYPES.contains(&kind) => Some("system text is text"),
        _ => None,
    }
}

/// A text says something: "text content blocks must be non-empty", "… must contain non-whitespace text". Of white space, only those
/// of messages are known to be refused.
fn said(report: &mut Report, block: &Value, slot: Slot, aside: bool) {
    let said = text(block, "text").unwrap_or_default();
    if said.is_empty() || (said.trim().is_empty() && !aside) {
        report.error("empty_content", slot, "the text is empty");
    } else if said.trim().is_empty() {
        report.warning("empty_content", slot, "the text is white space");
    }
}

/// "String should match pattern '^[a-zA-Z0-9_-]+$'" is what the API says of ids and of names; nothing is known of a longest id.
fn call(report: &mut Report, block: &Value, slot: Slot) {
    let fits = |text: &str| {
        let fits = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it);
        !text.is_empty() && text.chars().all(fits)
    };
    let id = text(block, "id").unwrap_or_default();
    if !fits(id) {
        report.error("call_id", slot, format!("`{id}` is no id of a call"));
    } else if id.len() > 64 {
        report.warning("call_id", slot, format!("`{id}` is longer than 64 letters"));
    }
    let name = text(block, "name").unwrap_or_default();
    if !fits(name) {
        report.error("tool_name", slot, format!("`{name}` is no name of a tool"));
    } else if name.len() > 128 {
        report.warning("tool_name", slot, format!("`{name}` is longer than 128 letters"));
    }
    if block.get("input").and_then(Value::as_object).is_none() {
        report.error("arguments", slot, "`input` is an object");
    }
}

/// Looks at a part of a result.
fn nested(report: &mut Report, block: &Value, slot: Slot) {
    match text(block, "type") {
        None => report.error("block_type", slot, "a part of the result has no type"),
        Some("text") => said(report, block, slot, true),
        Some("image" | "document") => media(report, block, slot),
        Some(kind) if NESTED.contains(&kind) => {}
        Some(kind) if TYPES.contains(&kind) => {
            report.error("content_type", slot, format!("a result cannot have `{kind}` in it"));
        }
        Some(kind) => {
            report.warning("block_type", slot, format!("`{kind}` is no type of a part"));
        }
    }
}

/// An image or a document is of a type that is read, has data, or an address that can be fetched.
fn media(report: &mut Report, block: &Value, slot: Slot) {
    let is_image = text(block, "type") == Some("image");
    let Some(source) = field(block, "source") else {
        report.error("media", slot, "there is no `source`");
        return;
    };
    let mime = text(source, "media_type").unwrap_or_default();
    let known = match (is_image, text(source, "type")) {
        (true, _) => &["image/png", "image/jpeg", "image/gif", "image/webp"][..],
        (false, Some("text")) => &["text/plain"],
        (false, _) => &["application/pdf"],
    };
    match text(source, "type") {
        Some("base64" | "text") if !known.contains(&mime) => {
            report.error("media", slot, format!("`{mime}` is not read"));
        }
        Some("base64" | "text") if text(source, "data").is_none_or(str::is_empty) => {
            report.error("media", slot, "there is no data");
        }
        Some("url") => {
            let url = text(source, "url").unwrap_or_default();
            if !(url.starts_with("https://") || url.starts_with("http://")) {
                report.error("media", slot, format!("`{url}` cannot be fetched"));
            }
        }
        Some("content") => {
            for inner in list(source, "content") {
                nested(report, inner, slot);
            }
        }
        _ => {}
    }
}
