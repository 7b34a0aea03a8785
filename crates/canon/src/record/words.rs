//! Words: texts that are written once per frame and then referred to by number.
//!
//! 0 means that a new word follows, which gets the next free number; any other number is a known
//! word. The words of [`KNOWN`] have the first numbers in every frame.

use std::collections::BTreeMap;

use super::bytes::{Cursor, RecordError, bytes, varint};

/// Words that need not be written. Their order is part of the format: append new ones, with a new
/// version.
pub(super) const KNOWN: [&str; 64] = [
    "",
    "root",
    "sys",
    "seq",
    "ah",
    "^root",
    "^sys",
    "^seq",
    "^ah",
    "seg",
    "cont",
    "block",
    "mt",
    "mc",
    "cb",
    "system",
    "user",
    "assistant",
    "tool",
    "developer",
    "text",
    "call",
    "result",
    "reasoning",
    "image",
    "document",
    "json",
    "summary",
    "key",
    "tags",
    "provenance",
    "content_hash",
    "mime",
    "encoding",
    "data_refs",
    "add",
    "edit",
    "remove",
    "move",
    "set_priority",
    "pin",
    "unpin",
    "operations",
    "warnings",
    "expired",
    "along",
    "deferred",
    "cascaded",
    "pruned",
    "unmet",
    "sealed",
    "core",
    "handle",
    "node",
    "unknown",
    "attribute",
    "role",
    "string",
    "number",
    "boolean",
    "null",
    "array",
    "object",
    "id",
];

/// The words of a frame that is being written.
#[derive(Debug, Default)]
pub(super) struct WordWriter<'a> {
    numbers: BTreeMap<&'a str, u64>,
}

impl<'a> WordWriter<'a> {
    pub(super) fn write(&mut self, out: &mut Vec<u8>, word: &'a str) {
        if let Some(known) = known(word) {
            return varint(out, known);
        }
        let next = (KNOWN.len() + self.numbers.len()) as u64 + 1;
        match self.numbers.entry(word) {
            std::collections::btree_map::Entry::Occupied(number) => varint(out, *number.get()),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(next);
                varint(out, 0);
                bytes(out, word.as_bytes());
            }
        }
    }
}

fn known(word: &str) -> Option<u64> {
    // Most ids contain a digit; they are not searched for.
    if word.len() > 12 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    KNOWN.iter().position(|known| *known == word).map(|index| index as u64 + 1)
}

/// The words of a frame that is being read.
#[derive(Debug, Default)]
pub(super) struct WordReader<'a> {
    words: Vec<&'a str>,
}

impl<'a> WordReader<'a> {
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Result<&'a str, RecordError> {
        let number = cursor.varint()?;
        let Some(index) = number.checked_sub(1) else {
            let word = cursor.text()?;
            self.words.push(word);
            return Ok(word);
        };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let found = match KNOWN.get(index) {
            Some(word) => Some(*word),
            None => self.words.get(index - KNOWN.len()).copied(),
        };
        found.ok_or_else(|| cursor.error("unknown word"))
    }
}
