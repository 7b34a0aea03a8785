//! The content hash of a node.

use std::fmt;

use contextree_json::{Object, Value, write};
use contextree_tree::{Content, NodeRef, is_hashed_attribute};
use sha2::{Digest as _, Sha256};

/// A SHA-256 hash. Prints as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::str::FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let mut hash = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(NotAHash);
        }
        for (index, byte) in hash.iter_mut().enumerate() {
            let digits = &text[index * 2..index * 2 + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotAHash)?;
        }
        Ok(Hash(hash))
    }
}

/// The error for a text that is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits")]
pub struct NotAHash;

impl Hash {
    /// Returns the hash of zero bytes, which is the content hash of content that is not JSON.
    ///
    /// It cannot occur inside the engine, where every content is text or JSON; it is for interfaces
    /// that take values of other languages (NaN, cyclic objects).
    #[must_use]
    pub fn of_invalid_content() -> Hash {
        Hash::of(b"")
    }

    /// Returns the SHA-256 of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Hash {
        Hash(Sha256::digest(bytes).into())
    }
}

/// Returns the content hash of a node: SHA-256 over the canonical JSON of content, kind, role and
/// every `content_*` and `data_*` attribute.
///
/// It does not change when the node is moved, ages or is pinned. Computed once per version of the
/// content.
#[must_use]
pub fn content_hash(node: NodeRef<'_>) -> Hash {
    match node.body() {
        Some(body) => Hash(*body.hash_cell().get_or_init(|| hash(&Hashed::of_node(node)))),
        None => Hash(hash(&Hashed::of_node(node))),
    }
}

/// The beginning of a content hash, which depends on the content alone. This is most of the work
/// and can be done ahead, on any thread, before the rest of the node is known.
#[derive(Clone)]
pub struct HashedContent(Sha256);

impl fmt::Debug for HashedContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HashedContent")
    }
}

impl HashedContent {
    /// Hashes a content.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        let mut hasher = Sha256::new();
        let mut buffer = Vec::with_capacity(CHUNK + CHUNK / 2);
        begin(&mut buffer, Part::of_content(content), &mut |bytes| hasher.update(bytes));
        hasher.update(&buffer);
        HashedContent(hasher)
    }

    /// Returns the [content hash](content_hash) of a node of the engine that has this content.
    #[must_use]
    pub fn finish(self, kind: Option<&str>, role: Option<&str>, attributes: &Object) -> Hash {
        let HashedContent(mut hasher) = self;
        let text = |text: Option<_>| Part::Text(text.unwrap_or_default());
        let mut buffer = Vec::with_capacity(SHORT);
        let mut take = |bytes: &[u8]| hasher.update(bytes);
        end(&mut buffer, Some(attributes), text(kind), text(role), &mut take);
        Hash(hasher.finalize().into())
    }
}

/// Returns the content hash of a node given as a document.
#[must_use]
pub fn content_hash_of_document(node: &Object) -> Hash {
    Hash(hash(&Hashed::of_document(node)))
}

/// Returns the content hash of a node given as bytes, with a warning if they are not a JSON object:
/// the hash is then that of [invalid content](Hash::of_invalid_content). For interfaces that take
/// foreign data.
#[must_use]
pub fn content_hash_of_bytes(node: &[u8]) -> (Hash, Option<InvalidContent>) {
    let invalid = |problem: String| (Hash::of_invalid_content(), Some(InvalidContent { problem }));
    match contextree_json::parse(node) {
        Ok(Value::Object(node)) => (content_hash_of_document(&node), None),
        Ok(_) => invalid("not an object".to_owned()),
        Err(error) => invalid(error.to_string()),
    }
}

/// A warning: the content is not JSON and was hashed as zero bytes, so the hash does not identify
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidContent {
    problem: String,
}

impl fmt::Display for InvalidContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "hashed as empty because the content is not valid JSON: {}", self.problem)
    }
}

/// Returns the exact text that [`content_hash_of_document`] hashes.
#[must_use]
pub fn hashed_text(node: &Object) -> String {
    let mut text = Vec::new();
    Hashed::of_document(node).write(&mut |bytes| text.extend_from_slice(bytes));
    String::from_utf8(text).expect("canonical JSON is ASCII")
}

/// The parts of a node that its content hash covers.
struct Hashed<'a> {
    content: Part<'a>,
    kind: Part<'a>,
    role: Part<'a>,
    attributes: Option<&'a Object>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Text(&'a str),
    Json(&'a Value),
}

impl<'a> Part<'a> {
    fn of_content(content: &'a Content) -> Self {
        match content {
            Content::Absent => Part::Text(""),
            Content::Text(text) => Part::Text(text),
            Content::Json(value) => Part::Json(value),
        }
    }
}

impl<'a> Hashed<'a> {
    fn of_document(node: &'a Object) -> Self {
        let part = |name| match node.get(name) {
            None => Part::Text(""),
            Some(Value::String(text)) => Part::Text(text),
            Some(other) => Part::Json(other),
        };
        Hashed {
            content: part("content"),
            kind: part("kind"),
            role: part("role"),
            attributes: Some(node),
        }
    }

    fn of_node(node: NodeRef<'a>) -> Self {
        // An imported `null` is kept as an attribute and hashed as `null`.
        let symbol = |name, value: Option<&'a str>| match (value, node.attribute(name)) {
            (Some(text), _) => Part::Text(text),
            (None, Some(other)) => Part::Json(other),
            (None, None) => Part::Text(""),
        };
        Hashed {
            content: Part::of_content(node.content()),
            kind: symbol("kind", node.kind()),
            role: symbol("role", node.role()),
            attributes: node.body().map(|body| &body.attributes),
        }
    }

    /// Passes the canonical text to `take`, piece by piece.
    fn write(&self, take: &mut impl FnMut(&[u8])) {
        let mut buffer = Vec::with_capacity(CHUNK + CHUNK / 2);
        begin(&mut buffer, self.content, take);
        end(&mut buffer, self.attributes, self.kind, self.role, take);
    }
}

/// Writes the canonical text up to and including the content, which sorts first: `content`,
/// `content_…`, `data_…`, `kind`, `role`.
fn begin(buffer: &mut Vec<u8>, content: Part<'_>, take: &mut impl FnMut(&[u8])) {
    buffer.extend_from_slice(b"{\"content\":");
    part(buffer, content, take);
}

/// Writes the rest of the canonical text.
fn end(
    buffer: &mut Vec<u8>,
    attributes: Option<&Object>,
    kind: Part<'_>,
    role: Part<'_>,
    take: &mut impl FnMut(&[u8]),
) {
    let hashed = attributes.into_iter().flat_map(Object::iter);
    for (name, value) in hashed.filter(|(name, _)| is_hashed_attribute(name)) {
        buffer.push(b',');
        write::string(buffer, name);
        buffer.push(b':');
        write::value(buffer, value);
    }
    buffer.extend_from_slice(b",\"kind\":");
    part(buffer, kind, take);
    buffer.extend_from_slice(b",\"role\":");
    part(buffer, role, take);
    buffer.push(b'}');
    take(buffer);
}

/// Long texts are escaped and hashed in chunks that stay in the cache.
const CHUNK: usize = 4096;
/// Initial capacity for the part after the content, which is short.
const SHORT: usize = 256;

fn part(buffer: &mut Vec<u8>, part: Part<'_>, take: &mut impl FnMut(&[u8])) {
    match part {
        Part::Json(value) => write::value(buffer, value),
        Part::Text(text) if text.len() <= CHUNK => write::string(buffer, text),
        Part::Text(text) => {
            buffer.push(b'"');
            let mut rest = text;
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(boundary_before(rest, CHUNK));
                rest = after;
                take(buffer);
                buffer.clear();
                if is_plain(piece) {
                    take(piece.as_bytes());
                    continue;
                }
                write::string(buffer, piece);
                // Without the quotes: they belong to the chunk, not to the text.
                take(&buffer[1..buffer.len() - 1]);
                buffer.clear();
            }
            buffer.push(b'"');
        }
    }
}

/// Returns the last character boundary at or before an index.
fn boundary_before(text: &str, index: usize) -> usize {
    let mut at = index.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns whether a text needs no escapes: it is then hashed without a copy.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| {
        plain & matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\')
    })
}

fn hash(hashed: &Hashed<'_>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hashed.write(&mut |bytes| hasher.update(bytes));
    hasher.finalize().into()
}
