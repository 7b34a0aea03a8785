//! Lints blocks: which role may contain them, and which fields they need.

use contextree_json::Value;

use super::super::report::{Report, list, text};
use super::field;
use crate::{List, Slot};

/// The known block types, including those of the beta.
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

/// The types allowed inside a tool result, besides media and text.
const NESTED: [&str; 4] = ["browser_state", "search_result", "text", "tool_reference"];

/// Lints the system text.
pub(super) fn system(report: &mut Report, request: &Value) {
    for (index, block) in list(request, "system").iter().enumerate() {
        let slot = Slot { list: List::System, index: index as u32, inner: None };
        match text(block, "type") {
            Some("text") => lint_text(report, block, slot, true),
            _ => report.error("content_type", slot, "system content must be text"),
        }
    }
}

/// Lints a block of a message.
pub(super) fn block(report: &mut Report, role: &str, block: &Value, slot: Slot) {
    let Some(kind) = text(block, "type") else {
        // "messages.0.content.0.type: Field required"
        report.error("block_type", slot, "the block has no `type`");
        return;
    };
    if !TYPES.contains(&kind) {
        report.warning("block_type", slot, format!("unknown block type `{kind}`"));
    }
    if let Some(message) = refused(role, kind) {
        report.error("content_type", slot, message);
    }
    match kind {
        "text" => lint_text(report, block, slot, false),
        "thinking" if text(block, "signature").is_none_or(str::is_empty) => {
            report.error("thinking_signature", slot, "the thinking block has no signature");
        }
        "redacted_thinking" if text(block, "data").is_none_or(str::is_empty) => {
            report.error("thinking_signature", slot, "the redacted thinking block has no data");
        }
        "tool_use" if role == "assistant" => call(report, block, slot),
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
            let empty = field(block, "content").is_none_or(|it| {
                it.as_str().is_some_and(str::is_empty) || it.as_array().is_some_and(<[_]>::is_empty)
            });
            if failed && empty {
                report.warning("empty_content", slot, "the error result has no content");
            }
            for inner in list(block, "content") {
                nested(report, inner, slot);
            }
        }
        "image" | "document" => media(report, block, slot),
        _ => {}
    }
}

/// Returns why a role cannot contain a block of this type; `None` if it can.
fn refused(role: &str, kind: &str) -> Option<&'static str> {
    match (role, kind) {
        ("user", "tool_use" | "thinking" | "redacted_thinking") => {
            Some("only an assistant message can contain this block")
        }
        ("user", "server_tool_use" | "mcp_tool_use") => {
            Some("only an assistant message can contain this block")
        }
        ("assistant", "tool_result") => Some("only a user message can contain a tool result"),
        ("assistant", "image" | "document" | "search_result") => {
            Some("only a user message can contain this block")
        }
        ("system", "text" | "tool_addition" | "tool_removal") => None,
        ("system", kind) if TYPES.contains(&kind) => Some("system content must be text"),
        _ => None,
    }
}

/// Lints a text block: "text content blocks must be non-empty", "… must contain non-whitespace
/// text". Whitespace is known to be refused only in messages.
fn lint_text(report: &mut Report, block: &Value, slot: Slot, aside: bool) {
    let said = text(block, "text").unwrap_or_default();
    if said.is_empty() || (said.trim().is_empty() && !aside) {
        report.error("empty_content", slot, "the text is empty");
    } else if said.trim().is_empty() {
        report.warning("empty_content", slot, "the text is only whitespace");
    }
}

/// Lints a tool call. The API rejects ids and names with "String should match pattern
/// '^[a-zA-Z0-9_-]+$'"; a maximum length of ids is not documented.
fn call(report: &mut Report, block: &Value, slot: Slot) {
    let fits = |text: &str| {
        let fits = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it);
        !text.is_empty() && text.chars().all(fits)
    };
    let id = text(block, "id").unwrap_or_default();
    if !fits(id) {
        report.error("call_id", slot, format!("`{id}` is not a valid tool call id"));
    } else if id.len() > 64 {
        report.warning(
            "call_id",
            slot,
            format!("the tool call id `{id}` is longer than 64 characters"),
        );
    }
    let name = text(block, "name").unwrap_or_default();
    if !fits(name) {
        report.error("tool_name", slot, format!("`{name}` is not a valid tool name"));
    } else if name.len() > 128 {
        report.warning(
            "tool_name",
            slot,
            format!("the tool name `{name}` is longer than 128 characters"),
        );
    }
    if block.get("input").and_then(Value::as_object).is_none() {
        report.error("arguments", slot, "`input` must be an object");
    }
}

/// Lints a part of a tool result.
fn nested(report: &mut Report, block: &Value, slot: Slot) {
    match text(block, "type") {
        None => report.error("block_type", slot, "a part of the tool result has no `type`"),
        Some("text") => lint_text(report, block, slot, true),
        Some("image" | "document") => media(report, block, slot),
        Some(kind) if NESTED.contains(&kind) => {}
        Some(kind) if TYPES.contains(&kind) => {
            report.error("content_type", slot, format!("a tool result cannot contain `{kind}`"));
        }
        Some(kind) => {
            report.warning("block_type", slot, format!("unknown type `{kind}` in a tool result"));
        }
    }
}

/// Lints an image or a document: a supported media type, and data or a URL that can be fetched.
fn media(report: &mut Report, block: &Value, slot: Slot) {
    let is_image = text(block, "type") == Some("image");
    let Some(source) = field(block, "source") else {
        report.error("media", slot, "`source` is missing");
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
            report.error("media", slot, format!("unsupported media type `{mime}`"));
        }
        Some("base64" | "text") if text(source, "data").is_none_or(str::is_empty) => {
            report.error("media", slot, "the source has no data");
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
