//! Parts: each is one thing, and has what that needs.

use contextree_json::Value;

use super::super::report::Report;
use super::{field, text};
use crate::Slot;

/// What a part can be.
const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// What is said about a part.
const ABOUT: [&str; 10] = [
    "thought",
    "thoughtSignature",
    "thought_signature",
    "videoMetadata",
    "video_metadata",
    "mediaResolution",
    "media_resolution",
    "partMetadata",
    "part_metadata",
    "role",
];

pub(super) fn part(report: &mut Report, role: &str, part: &Value, slot: Slot) {
    one_thing(report, part, slot);
    if let Some(data) = field(part, "inlineData") {
        if text(data, "mimeType").is_none_or(str::is_empty) {
            report.error("media", slot, "the data has no `mimeType`");
        }
        if text(data, "data").is_none_or(str::is_empty) {
            report.error("media", slot, "there is no data");
        }
    }
    if let Some(file) = field(part, "fileData")
        && text(file, "fileUri").is_none_or(str::is_empty)
    {
        report.error("media", slot, "the file has no `fileUri`");
    }
    if let Some(call) = field(part, "functionCall") {
        if role != "model" {
            report.error("content_type", slot, "only the model can call");
        }
        if text(call, "name").is_none_or(str::is_empty) {
            report.error("tool_name", slot, "the call has no name");
        }
        if field(call, "args").is_some_and(|it| it.as_object().is_none()) {
            report.error("arguments", slot, "`args` is an object");
        }
    }
    if let Some(response) = field(part, "functionResponse") {
        if role == "model" {
            report.error("content_type", slot, "only the user can answer a call");
        }
        if text(response, "name").is_none_or(str::is_empty) {
            report.error("tool_name", slot, "the response has no name");
        }
        if field(response, "response").is_none_or(|it| it.as_object().is_none()) {
            report.error("arguments", slot, "`response` is an object");
        }
    }
}

/// "required oneof field 'data' must have one initialized field", and only one: it is a union.
fn one_thing(report: &mut Report, part: &Value, slot: Slot) {
    let Some(object) = part.as_object() else {
        if part.as_str().is_none_or(str::is_empty) {
            report.error("empty_content", slot, "the part is empty");
        }
        return;
    };
    let count = DATA.iter().filter(|name| field(part, name).is_some()).count();
    let unknown = object.iter().any(|(name, it)| !it.is_null() && !ABOUT.contains(&name));
    let signed = field(part, "thoughtSignature").is_some();
    if (count == 0 && !unknown) || (text(part, "text") == Some("") && count == 1 && !signed) {
        report.error("empty_content", slot, "the part is empty");
    } else if count == 0 {
        report.warning("block_type", slot, "the part is nothing that is known");
    } else if count > 1 {
        report.error("content_type", slot, "a part is one thing only");
    }
}
