//! Reads logs with a plain JSON parser and without the importer: what a context that was made of a
//! log must contain.
//!
//! Knows as little as possible: which entries the model saw, what was billed for each call, and
//! which requests were sent. The order of a conversation is not reconstructed.

mod claude_code;
mod codex;
mod requests;
pub(crate) mod styles;

use std::collections::BTreeMap;

use serde_json::{Deserializer, Value};

use super::piece::Piece;

/// The kind of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    ClaudeCode,
    Codex,
    Requests,
    /// Any other: imported, and not compared.
    Other,
}

/// What a log contains.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) kind: Kind,
    /// What the model saw or said, and how often.
    pub(crate) pieces: BTreeMap<Piece, u64>,
    /// What was billed for each call, in order.
    pub(crate) bills: Vec<Bill>,
    /// The requests that were sent, in order.
    pub(crate) requests: Vec<Value>,
    /// Logs of requests that were written from its messages.
    pub(crate) styles: Vec<styles::Lines>,
}

/// What was billed for a call, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bill {
    pub(crate) input: u64,
    pub(crate) cached: u64,
}

impl Reading {
    fn new(kind: Kind) -> Self {
        Reading {
            kind,
            pieces: BTreeMap::new(),
            bills: Vec::new(),
            requests: Vec::new(),
            styles: Vec::new(),
        }
    }

    fn add(&mut self, piece: Option<Piece>) {
        if let Some(piece) = piece {
            *self.pieces.entry(piece).or_default() += 1;
        }
    }
}

/// Reads a log. Values that are not JSON end the reading of their line, as a torn last line does.
pub(crate) fn read(text: &[u8]) -> Reading {
    let values = values(text);
    match kind_of(&values) {
        Kind::ClaudeCode => claude_code::read(&values),
        Kind::Codex => codex::read(&values),
        Kind::Requests => requests::read(&values),
        Kind::Other => Reading { styles: styles::logs(&values), ..Reading::new(Kind::Other) },
    }
}

/// Returns the values of a document, or of all its lines; a line may have several.
fn values(text: &[u8]) -> Vec<Value> {
    if let Ok(document) = serde_json::from_slice::<Value>(text) {
        return vec![document];
    }
    let lines = text.split(|byte| *byte == b'\n');
    lines
        .flat_map(|line| Deserializer::from_slice(line).into_iter().map_while(Result::ok))
        .collect()
}

fn kind_of(values: &[Value]) -> Kind {
    let has = |value: &Value, names: &[&str]| names.iter().all(|name| value.get(name).is_some());
    let any = |names: &[&str]| values.iter().any(|value| has(value, names));
    if any(&["type", "sessionId", "uuid", "message"]) {
        Kind::ClaudeCode
    } else if any(&["type", "payload"]) {
        Kind::Codex
    } else if values.iter().any(requests::is_request) {
        Kind::Requests
    } else {
        Kind::Other
    }
}

/// Returns a string field, or an empty text.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a number, or zero.
fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

impl Bill {
    /// Returns the share of the input that was read from the cache.
    pub(crate) fn share(self) -> f64 {
        if self.input == 0 { 0.0 } else { self.cached as f64 / self.input as f64 }
    }
}
