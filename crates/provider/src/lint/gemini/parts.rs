//! Lints parts: each has exactly one kind of data, with the fields it needs.

use contextree_json::Value;

use super::super::report::Report;
use super::{field, text};
use crate::Slot;

/// The fields that hold the data of a part.
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

/// The fields that describe a part.
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
            report.error("media", slot, "the inline data is empty");
        }
    }
    if let Some(file) = field(part, "fileData")
        && text(file, "fileUri").is_none_or(str::is_empty)
    {
        report.error("media", slot, "the file has no `fileUri`");
    }
    if let Some(call) = field(part, "functionCall") {
        if role != "model" {
            report.error("content_type", slot, "only a model content can contain a function call");
        }
        if text(call, "name").is_none_or(str::is_empty) {
            report.error("tool_name", slot, "the function call has no name");
        }
        if field(call, "args").is_some_and(|it| it.as_object().is_none()) {
            report.error("arguments", slot, "`args` must be an object");
        }
    }
    if let Some(response) = field(part, "functionResponse") {
        if role == "model" {
            report.error(
                "content_type",
                slot,
                "a model content cannot contain a function response",
            );
        }
        if text(response, "name").is_none_or(str::is_empty) {
            report.error("tool_name", slot, "the function response has no name");
        }
        if field(response, "response").is_none_or(|it| it.as_object().is_none()) {
            report.error("arguments", slot, "`response` must be an object");
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
        report.warning("block_type", slot, "the part has no known kind of data");
    } else if count > 1 {
        report.error("content_type", slot, "a part must have exactly one kind of data");
    }
}
