//! Counts of blocks, kept per content.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use contextree_canon::{Hash, content_hash};
use contextree_tree::{Content, NodeRef};

use crate::media;
use crate::spoken::{Measured, count_json, spoken};
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
    young: BTreeMap<Hash, Measured>,
    old: BTreeMap<Hash, Measured>,
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

    /// Returns the number of tokens of a node's content. Of this node alone, not of those below.
    #[must_use]
    pub fn count_node(&self, node: NodeRef<'_>) -> u64 {
        self.measure_node(node).tokens
    }

    /// Returns the number of tokens of a node's content, and how many of them are estimates of images and other data.
    ///
    /// Text is counted as it is, JSON as [`count_json`] does. The header `encoding` says what else a text is.
    #[must_use]
    pub fn measure_node(&self, node: NodeRef<'_>) -> Measured {
        if *node.content() == Content::Absent {
            return Measured::default();
        }
        // Headers are not in the content hash, and data is measured by its beginning: there is nothing to remember.
        if let Some(measured) = measure_data(node, self.tokenizer) {
            return measured;
        }
        let hash = content_hash(node);
        if let Some(count) = self.kept().get(&hash) {
            return count;
        }
        // Not while the lock is held: other threads need not wait for a long text.
        let count = match node.content() {
            Content::Absent => Measured::default(),
            Content::Text(text) => Measured::of_text(text, self.tokenizer),
            Content::Json(value) => count_json(&value.to_canonical(), self.tokenizer),
        };
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
    fn get(&mut self, hash: &Hash) -> Option<Measured> {
        if let Some(count) = self.young.get(hash) {
            return Some(*count);
        }
        let count = self.old.remove(hash)?;
        self.put(*hash, count);
        Some(count)
    }

    fn put(&mut self, hash: Hash, count: Measured) {
        if self.young.len() >= self.limit {
            self.old = std::mem::take(&mut self.young);
        }
        if self.limit > 0 {
            self.young.insert(hash, count);
        }
    }
}

/// Returns the text of a node that is counted: its text, or any other content as JSON without escapes. Data is left out.
#[must_use]
pub fn counted_text(node: NodeRef<'_>) -> Cow<'_, str> {
    match node.content() {
        Content::Absent => Cow::Borrowed(""),
        Content::Text(_) if is_data(node) => Cow::Borrowed(""),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Json(value) => Cow::Owned(spoken(&value.to_canonical(), |_| ())),
    }
}

/// True for a text that stands for something else: data, or an image that is somewhere else.
fn is_data(node: NodeRef<'_>) -> bool {
    let header = |name| node.attribute(name).and_then(|value| value.as_str());
    match header("encoding") {
        Some("base64") => true,
        Some("uri" | "file_id") => node.kind() == Some("image"),
        _ => false,
    }
}

/// Returns the tokens of what a text stands for; nothing if it is meant as it is.
fn measure_data(node: NodeRef<'_>, tokenizer: Tokenizer) -> Option<Measured> {
    let Content::Text(text) = node.content() else { return None };
    if !is_data(node) {
        return None;
    }
    let header = |name| node.attribute(name).and_then(|value| value.as_str());
    let is_image = node.kind() == Some("image")
        || header("mime").is_some_and(|mime| mime.starts_with("image/"));
    if header("encoding") != Some("base64") {
        return Some(Measured::of_media(media::image(tokenizer, None)));
    }
    let base64 = media::data_of(text).unwrap_or(text);
    if header("mime").is_some_and(|mime| mime.starts_with("text/"))
        && let Ok(text) = String::from_utf8(media::decode(base64, usize::MAX))
    {
        return Some(Measured::of_text(&text, tokenizer));
    }
    Some(Measured::of_media(media::tokens(tokenizer, base64, is_image)))
}
