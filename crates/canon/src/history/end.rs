//! The last line of a history: how many lines there are before it, and what they add up to.
//!
//! The first line promises it, so that a history without its end is noticed also if it was cut between two lines.

use contextree_json::{Object, Value, parse, write};
use sha2::{Digest as _, Sha256};

use crate::error::{DocumentError, codes};
use crate::hash::Hash;
use crate::write::ENDS;

/// How the last line begins. No other line has this key first.
const BEGIN: &[u8] = b"{\"end\":";

/// Adds up lines. Blank ones, and the white space around others, do not count.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    count: u64,
    hasher: Sha256,
}

impl Lines {
    pub(super) fn add(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if !line.is_empty() {
            self.count += 1;
            self.hasher.update(line);
            self.hasher.update(b"\n");
        }
    }

    fn digest(&self) -> Hash {
        Hash(self.hasher.clone().finalize().into())
    }

    /// Reads a line as the last one, and compares it with those before it. Returns false if it is another line.
    pub(super) fn is_ended_by(&self, line: &[u8]) -> Result<bool, DocumentError> {
        if !line.trim_ascii().starts_with(BEGIN) {
            return Ok(false);
        }
        let Value::Object(line) = parse(line)? else { return Ok(false) };
        let end = line.get("end").and_then(Value::as_object);
        let number = |end: &Object| end.get("lines").and_then(Value::as_u64);
        let digest = |end: &Object| Some(end.get("digest")?.as_str()?.to_owned());
        let found = end.and_then(|end| number(end).zip(digest(end)));
        let Some((count, digest)) = found.filter(|_| line.len() == 1) else {
            let message = "the last line is not what a history ends with".to_owned();
            return Err(DocumentError::one(codes::DOCUMENT, "invalid_end", message));
        };
        if count != self.count {
            let message = format!("there are {} lines and should be {count}", self.count);
            return Err(DocumentError::one(codes::DIGEST, "digest_mismatch", message));
        }
        if digest != self.digest().to_string() {
            let message = "the lines are not those that were written".to_owned();
            return Err(DocumentError::one(codes::DIGEST, "digest_mismatch", message));
        }
        Ok(true)
    }
}

/// Returns the error of a history that promises an end and has none.
pub(crate) fn missing() -> DocumentError {
    let message = "the document is a history without its end: the rest of it is missing".to_owned();
    DocumentError::one(codes::DOCUMENT, "missing_end", message)
}

/// Completes a history: the first line promises that there is an end, and the last line is the end. The first line has to be one of
/// [`write_first`](super::write_first). Nothing is added to an empty history.
pub fn write_end(out: &mut Vec<u8>) {
    let Some((b'{', _)) = out.split_first() else { return };
    let mut promise = Vec::new();
    write::string(&mut promise, ENDS);
    promise.extend_from_slice(b":true,");
    out.splice(1..1, promise);
    let mut lines = Lines::default();
    out.split(|byte| *byte == b'\n').for_each(|line| lines.add(line));
    out.extend_from_slice(b"{\"end\":{\"digest\":");
    write::string(out, &lines.digest().to_string());
    out.extend_from_slice(b",\"lines\":");
    write::unsigned(out, lines.count);
    out.extend_from_slice(b"}}\n");
}
