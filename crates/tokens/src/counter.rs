//! Counts of blocks, kept per content.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use contextree_canon::{Hash, content_hash};
use contextree_tree::{Content, NodeRef};

use crate::tokenizer::Tokenizer;

/// How many counts are kept by default: about 10 MB.
const KEPT: usize = 100_000;

/// Counts the tokens of blocks and remembers them by content hash.
///
/// It remembers a limited number of counts, those that were asked for lately. Several threads may share one.
#[derive(Debug)]
pub struct TokenCounter {
    tokenizer: Tokenizer,
    kept: Mutex<Generations>,
}

/// Counts in two generations: when the younger is full, the older is forgotten.
#[derive(Debug)]
struct Generations {
    limit: usize,
    young: BTreeMap<Hash, u64>,
    old: BTreeMap<Hash, u64>,
}

impl TokenCounter {
    /// Returns a counter.
    #[must_use]
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self::with_capacity(tokenizer, KEPT)
    }

    /// Returns a counter that remembers at most so many counts.
    #[must_use]
    pub fn with_capacity(tokenizer: Tokenizer, counts: usize) -> Self {
        let kept = Generations { limit: counts / 2, young: BTreeMap::new(), old: BTreeMap::new() };
        TokenCounter { tokenizer, kept: Mutex::new(kept) }
    }

    /// Returns how this counter counts.
    #[must_use]
    pub fn tokenizer(&self) -> Tokenizer {
        self.tokenizer
    }

    /// Returns the number of tokens of a text. Not remembered.
    #[must_use]
    pub fn count_text(&self, text: &str) -> u64 {
        self.tokenizer.count(text)
    }

    /// Returns the number of tokens of a node's content: of its text, or of its canonical JSON. Of this node alone, not of those below.
    #[must_use]
    pub fn count_node(&self, node: NodeRef<'_>) -> u64 {
        let text = counted_text(node);
        if text.is_empty() {
            return 0;
        }
        let hash = content_hash(node);
        if let Some(count) = self.kept().get(&hash) {
            return count;
        }
        // Not while the lock is held: other threads need not wait for a long text.
        let count = self.tokenizer.count(&text);
        self.kept().put(hash, count);
        count
    }

    /// Returns how many counts are remembered.
    #[must_use]
    pub fn remembered(&self) -> usize {
        let kept = self.kept();
        kept.young.len() + kept.old.len()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn get(&mut self, hash: &Hash) -> Option<u64> {
        if let Some(count) = self.young.get(hash) {
            return Some(*count);
        }
        let count = self.old.remove(hash)?;
        self.put(*hash, count);
        Some(count)
    }

    fn put(&mut self, hash: Hash, count: u64) {
        if self.young.len() >= self.limit {
            self.old = std::mem::take(&mut self.young);
        }
        if self.limit > 0 {
            self.young.insert(hash, count);
        }
    }
}

/// Returns the text of a node that is counted: its text, or the canonical JSON of any other content; empty if there is none.
#[must_use]
pub fn counted_text(node: NodeRef<'_>) -> Cow<'_, str> {
    match node.content() {
        Content::Absent => Cow::Borrowed(""),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Json(value) => {
            let bytes = value.to_canonical();
            Cow::Owned(String::from_utf8(bytes).expect("canonical JSON is ASCII"))
        }
    }
}
