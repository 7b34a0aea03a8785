//! Caches the token counts of spans: most spans of a request also occur in the previous one, perhaps
//! at another offset.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use contextree_provider::List;
use contextree_tokens::Tokenizer;

use crate::said::count_span;

/// Counts each span once.
#[derive(Debug)]
pub(crate) struct Memo {
    tokenizer: Tokenizer,
    counts: BTreeMap<u64, u64>,
}

impl Memo {
    pub(crate) fn new(tokenizer: Tokenizer) -> Self {
        Memo { tokenizer, counts: BTreeMap::new() }
    }

    pub(crate) fn count(&mut self, span: &[u8], list: List) -> u64 {
        let tokenizer = self.tokenizer;
        let count = || count_span(span, list, tokenizer);
        *self.counts.entry(hash(list as u64, span)).or_insert_with(count)
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
