//! Caches the token counts of pieces of requests: most pieces of a request also occur in the
//! previous one, perhaps at another offset.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use contextree_tokens::{Tokenizer, count_json};

/// Counts each piece once.
#[derive(Debug)]
pub(crate) struct Memo {
    tokenizer: Tokenizer,
    counts: BTreeMap<u64, u64>,
}

impl Memo {
    pub(crate) fn new(tokenizer: Tokenizer) -> Self {
        Memo { tokenizer, counts: BTreeMap::new() }
    }

    pub(crate) fn tokenizer(&self) -> Tokenizer {
        self.tokenizer
    }

    pub(crate) fn count(&mut self, piece: &[u8]) -> u64 {
        let tokenizer = self.tokenizer;
        let count = || count_json(piece, tokenizer).tokens;
        *self.counts.entry(hash(0, piece)).or_insert_with(count)
    }
}

/// Returns a hash of bytes that follow a prefix with a known hash. Never stored, and not stable
/// across builds.
pub(crate) fn hash(before: u64, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(before);
    hasher.write(bytes);
    hasher.finish()
}
