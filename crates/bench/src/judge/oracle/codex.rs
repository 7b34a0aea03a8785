//! Codex rollouts: items of the Responses API, and counts of tokens after each answer.

use serde_json::Value;

use super::{Bill, Kind, Reading, number, text};
use crate::judge::piece::Piece;

pub(super) fn read(values: &[Value]) -> Reading {
    let mut reading = Reading::new(Kind::Codex);
    let mut counted = None;
    for entry in values {
        let payload = &entry["payload"];
        match (text(entry, "type"), text(payload, "type")) {
            ("response_item", _) => item(payload, &mut reading),
            ("compacted", _) => {
                match payload.get("replacement_history").and_then(Value::as_array) {
                    Some(items) => items.iter().for_each(|it| item(it, &mut reading)),
                    None => reading.add(Piece::text(text(payload, "message"))),
                }
            }
            ("event_msg", "token_count") => {
                let Some(usage) = payload["info"].get("last_token_usage") else { continue };
                let total = payload["info"]["total_token_usage"].get("total_tokens");
                // The same count is written again when limits of use change.
                if counted != total || total.is_none() {
                    reading.bills.push(Bill {
                        input: number(usage, "input_tokens"),
                        cached: number(usage, "cached_input_tokens"),
                    });
                }
                counted = total;
            }
            _ => {}
        }
    }
    reading
}

fn item(item: &Value, reading: &mut Reading) {
    let id = text(item, "call_id");
    match text(item, "type") {
        "message" => match &item["content"] {
            Value::Array(parts) => parts.iter().for_each(|part| reading.add(part_of(part))),
            content => reading.add(Piece::text(content.as_str().unwrap_or_default())),
        },
        "reasoning" => reading.add(Piece::reasoning("", text(item, "encrypted_content"))),
        "function_call" => {
            reading.add(Some(Piece::call(id, text(item, "name"), &item["arguments"])));
        }
        "custom_tool_call" => {
            reading.add(Some(Piece::call(id, text(item, "name"), &item["input"])));
        }
        "function_call_output" | "custom_tool_call_output" => {
            reading.add(Some(Piece::result(id, &item["output"])));
        }
        _ => {}
    }
}

fn part_of(part: &Value) -> Option<Piece> {
    match text(part, "type") {
        "input_text" | "output_text" | "text" => Piece::text(text(part, "text")),
        "input_image" => {
            let url = text(part, "image_url");
            Some(Piece::media(url.split_once("base64,").map_or(url, |(_, data)| data)))
        }
        _ => None,
    }
}
