//! Claude Code sessions: entries with a message, each with an id of its own. An answer may be split
//! into several entries, which repeat its usage.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Bill, Kind, Reading, number, text};
use crate::judge::piece::Piece;

pub(super) fn read(values: &[Value]) -> Reading {
    let mut reading = Reading::new(Kind::ClaudeCode);
    // The log of a subagent has nothing but entries aside.
    let is_aside = |entry: &&Value| entry.get("isSidechain") == Some(&Value::Bool(true));
    let messages = || values.iter().filter(|entry| entry.get("message").is_some());
    let of_subagent = messages().next().is_some_and(|entry| is_aside(&entry));
    let mut seen = BTreeSet::new();
    let mut billed: Vec<(&str, Bill)> = Vec::new();
    for entry in values {
        let id = text(entry, "uuid");
        if is_aside(&entry) != of_subagent || (!id.is_empty() && !seen.insert(id)) {
            continue;
        }
        if text(entry, "type") == "attachment" {
            attachment(entry, &mut reading);
            continue;
        }
        let Some(message) = entry.get("message").filter(|_| is_seen(entry)) else { continue };
        content(&message["content"], &mut reading);
        if let Some(usage) = message.get("usage").filter(|_| text(entry, "type") == "assistant") {
            let id = text(message, "id");
            let read = number(usage, "cache_read_input_tokens");
            let written = number(usage, "cache_creation_input_tokens");
            let bill = Bill { input: number(usage, "input_tokens") + read + written, cached: read };
            match billed.iter_mut().rev().find(|(other, _)| *other == id) {
                Some((_, last)) => *last = bill,
                None => billed.push((id, bill)),
            }
        }
    }
    reading.bills = billed.into_iter().map(|(_, bill)| bill).collect();
    reading
}

/// Returns whether the model saw or wrote an entry; the program writes errors in its name.
fn is_seen(entry: &Value) -> bool {
    let is_error = entry.get("isApiErrorMessage") == Some(&Value::Bool(true));
    match text(entry, "type") {
        "user" => true,
        "assistant" => !is_error && text(&entry["message"], "model") != "<synthetic>",
        _ => false,
    }
}

fn content(content: &Value, reading: &mut Reading) {
    match content {
        Value::String(text) => reading.add(Piece::text(text)),
        Value::Array(blocks) => blocks.iter().for_each(|block| reading.add(piece(block))),
        _ => {}
    }
}

fn piece(block: &Value) -> Option<Piece> {
    match text(block, "type") {
        "text" => Piece::text(text(block, "text")),
        "thinking" => Piece::reasoning(text(block, "thinking"), text(block, "signature")),
        "redacted_thinking" => Piece::reasoning("", text(block, "data")),
        "tool_use" => Some(Piece::call(text(block, "id"), text(block, "name"), &block["input"])),
        "tool_result" => {
            let content = block.get("content").unwrap_or(&Value::Null);
            Some(Piece::result(text(block, "tool_use_id"), content))
        }
        "image" | "document" => Some(Piece::media(text(&block["source"], "data"))),
        _ => None,
    }
}

/// A prompt that was typed while the model was working.
fn attachment(entry: &Value, reading: &mut Reading) {
    let attachment = &entry["attachment"];
    if text(attachment, "type") == "queued_command" {
        content(&attachment["prompt"], reading);
    }
}
