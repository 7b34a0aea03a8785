//! Counts tokens of blocks, cached by content.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use contextree_canon::{Hash, content_hash};
use contextree_tree::{Class, Content, NodeRef};

use crate::media;
use crate::part::Part;
use crate::spoken::{Measured, count_json, decoded};
use crate::tokenizer::Tokenizer;

/// The default capacity: about 10 MB.
const KEPT: usize = 100_000;

/// Counts the tokens of blocks and caches the counts by content hash.
///
/// The cache keeps a limited number of recently used counts. Threads can share a counter.
#[derive(Debug)]
pub struct TokenCounter {
    tokenizer: Tokenizer,
    scope: Scope,
    kept: Mutex<Generations>,
}

/// What is counted of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Its content.
    Content,
    /// What it takes in a request: its content, the name of a called tool, and
    /// [`Tokenizer::overhead`].
    Request,
}

/// Counts in two generations: when the younger is full, it replaces the older.
#[derive(Debug)]
struct Generations {
    limit: usize,
    young: BTreeMap<Hash, Measured>,
    old: BTreeMap<Hash, Measured>,
}

impl TokenCounter {
    /// Creates a counter of contents.
    #[must_use]
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self::with_capacity(tokenizer, KEPT)
    }

    /// Creates a counter of what blocks take in a request: their content, the name of a called tool,
    /// and what the provider adds around them ([`Tokenizer::overhead`]). An estimate, with any
    /// tokenizer.
    #[must_use]
    pub fn of_requests(tokenizer: Tokenizer) -> Self {
        TokenCounter { scope: Scope::Request, ..Self::new(tokenizer) }
    }

    /// Returns whether counts include what a request adds around a block.
    #[must_use]
    pub fn counts_requests(&self) -> bool {
        self.scope == Scope::Request
    }

    /// Creates a counter that caches at most `counts` counts.
    #[must_use]
    pub fn with_capacity(tokenizer: Tokenizer, counts: usize) -> Self {
        let kept = Generations { limit: counts / 2, young: BTreeMap::new(), old: BTreeMap::new() };
        TokenCounter { tokenizer, scope: Scope::Content, kept: Mutex::new(kept) }
    }

    /// Returns the tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> Tokenizer {
        self.tokenizer
    }

    /// Returns the number of tokens of a text. Not cached.
    #[must_use]
    pub fn count_text(&self, text: &str) -> u64 {
        self.tokenizer.count(text)
    }

    /// Returns the number of tokens of a node's content, without its descendants.
    #[must_use]
    pub fn count_node(&self, node: NodeRef<'_>) -> u64 {
        self.measure_node(node).tokens
    }

    /// Returns the number of tokens of a node, and how many of them are estimates for images and
    /// other data.
    ///
    /// Text is counted as it is, and JSON as [`count_json`] does. The header `encoding` marks text
    /// that encodes other data.
    #[must_use]
    pub fn measure_node(&self, node: NodeRef<'_>) -> Measured {
        let part = match self.scope {
            Scope::Request if node.class() == Class::Block => Part::of_node(node),
            _ => return self.measure_content(node),
        };
        if part == Part::Unsent {
            return Measured::default();
        }
        let name = node.attribute("data_name").filter(|_| part == Part::Call);
        let name = name.and_then(|name| name.as_str()).unwrap_or_default();
        let mut measured = self.measure_content(node);
        measured.tokens += self.tokenizer.overhead(part) + self.tokenizer.count(name);
        measured
    }

    fn measure_content(&self, node: NodeRef<'_>) -> Measured {
        if *node.content() == Content::Absent {
            return Measured::default();
        }
        // Headers are not part of the content hash, and only the beginning of data is measured, so
        // this is not cached.
        if let Some(measured) = measure_data(node, self.tokenizer) {
            return measured;
        }
        let hash = content_hash(node);
        if let Some(count) = self.kept().get(&hash) {
            return count;
        }
        // Without the lock, so that a long text does not block other threads.
        let count = match node.content() {
            Content::Absent => Measured::default(),
            Content::Text(text) => Measured::of_text(text, self.tokenizer),
            Content::Json(value) => count_json(&value.to_canonical(), self.tokenizer),
        };
        self.kept().put(hash, count);
        count
    }

    /// Returns the number of cached counts.
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

/// Returns the text of a node that is counted: its text, or any other content as JSON without
/// escapes. Without data.
#[must_use]
pub fn counted_text(node: NodeRef<'_>) -> Cow<'_, str> {
    match node.content() {
        Content::Absent => Cow::Borrowed(""),
        Content::Text(_) if is_data(node) => Cow::Borrowed(""),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Json(value) => Cow::Owned(decoded(&value.to_canonical(), |_| ())),
    }
}

/// Returns whether a text represents something else: data, or an image stored elsewhere.
fn is_data(node: NodeRef<'_>) -> bool {
    let header = |name| node.attribute(name).and_then(|value| value.as_str());
    match header("encoding") {
        Some("base64") => true,
        Some("uri" | "file_id") => node.kind() == Some("image"),
        _ => false,
    }
}

/// Returns the tokens of the data that a text represents; `None` if it is plain text.
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
