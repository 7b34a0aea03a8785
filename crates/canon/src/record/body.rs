//! Content and attributes as bytes.

use std::borrow::Cow;

use contextree_json::{Object, Value, parse, write as json};
use contextree_tree::{Body, Content};

use super::bytes::{Cursor, RecordError, bytes, close_frame, open_frame, varint};
use super::words::{WordReader, WordWriter};
use crate::hash::Hash;

const ABSENT: u8 = 0;
const TEXT: u8 = 1;
const JSON: u8 = 2;
const SHARED_TEXT: u8 = 3;
const SHARED_JSON: u8 = 4;
const REDACTED_TEXT: u8 = 5;
const REDACTED_JSON: u8 = 6;

/// Content of at least this many bytes is not written into the record: it is stored once per store,
/// under its hash. For shorter content, a reference would cost about as much as it saves.
pub const SHARED_FROM: usize = 512;

/// Content that a record refers to by hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedContent {
    /// SHA-256 of the bytes.
    pub hash: Hash,
    /// UTF-8 text, or canonical JSON.
    pub bytes: Vec<u8>,
}

/// A body as read: large content may still have to be fetched.
#[derive(Clone, Debug)]
pub struct StoredBody {
    content: StoredContent,
    attributes: Object,
}

#[derive(Clone, Debug)]
enum StoredContent {
    Here(Content),
    Shared {
        hash: Hash,
        is_text: bool,
    },
    /// A marker in place of content with this content hash.
    Redacted {
        hash: Hash,
        marker: Content,
    },
}

impl StoredBody {
    /// Returns the attributes.
    #[must_use]
    pub fn attributes(&self) -> &Object {
        &self.attributes
    }

    /// Returns whether this is exactly the given content. A marker never is.
    #[must_use]
    pub fn has_content(&self, content: &Content) -> bool {
        match (&self.content, content) {
            (StoredContent::Here(own), content) => own == content,
            (StoredContent::Shared { hash, is_text: true }, Content::Text(text)) => {
                *hash == Hash::of(text.as_bytes())
            }
            (StoredContent::Shared { hash, is_text: false }, Content::Json(value)) => {
                *hash == Hash::of(&value.to_canonical())
            }
            _ => false,
        }
    }

    /// Returns the hash of the content to fetch; `None` if the content is inline.
    #[must_use]
    pub fn shared(&self) -> Option<Hash> {
        match &self.content {
            StoredContent::Here(_) | StoredContent::Redacted { .. } => None,
            StoredContent::Shared { hash, .. } => Some(*hash),
        }
    }

    /// Returns the body; `fetched` is the content with the hash from [`StoredBody::shared`].
    ///
    /// # Errors
    ///
    /// If the content is missing or does not match its hash.
    pub fn into_body(self, fetched: Option<&[u8]>) -> Result<Body, RecordError> {
        let fail = |message: String| RecordError { message, offset: 0 };
        let content = match self.content {
            StoredContent::Here(content) => content,
            StoredContent::Redacted { hash, marker } => {
                return Ok(Body::redacted(marker, self.attributes, hash.0));
            }
            StoredContent::Shared { hash, is_text } => {
                let bytes =
                    fetched.ok_or_else(|| fail(format!("the content {hash} is missing")))?;
                if Hash::of(bytes) != hash {
                    return Err(fail(format!("the content {hash} is damaged")));
                }
                let content = if is_text { text_content(bytes) } else { json_content(bytes) };
                content.map_err(|message| fail(format!("the content {hash} {message}")))?
            }
        };
        Ok(Body::new(content, self.attributes))
    }
}

fn text_content(bytes: &[u8]) -> Result<Content, &'static str> {
    std::str::from_utf8(bytes).map(Content::from).map_err(|_| "is not UTF-8")
}

fn json_content(bytes: &[u8]) -> Result<Content, &'static str> {
    parse(bytes).map(|value| Content::Json(Box::new(value))).map_err(|_| "is not JSON")
}

/// Returns the bodies of a record without those that are no longer needed. The others keep their
/// indices; returns no bytes if none is left.
///
/// # Errors
///
/// If the record is damaged.
pub fn retain_bodies(frame: &[u8], keep: &dyn Fn(u32) -> bool) -> Result<Vec<u8>, RecordError> {
    let bodies = read_bodies(frame)?;
    let wanted: Vec<bool> = (0..bodies.len() as u32).map(keep).collect();
    if !wanted.contains(&true) {
        return Ok(Vec::new());
    }
    let mut frame = open_frame();
    let mut words = WordWriter::default();
    varint(&mut frame, bodies.len() as u64);
    for (body, wanted) in bodies.iter().zip(wanted) {
        match wanted {
            true => stored(&mut frame, &body.content),
            false => frame.push(ABSENT),
        }
        match wanted {
            true => attributes(&mut frame, &mut words, &body.attributes),
            false => varint(&mut frame, 0),
        }
    }
    Ok(close_frame(frame))
}

/// Returns the bodies of a record with markers in place of some contents: `choose` returns the content hash of those. `None` if none is chosen.
///
/// # Errors
///
/// If the record is damaged.
pub fn redact_bodies(
    frame: &[u8],
    marker: &str,
    choose: &mut dyn FnMut(u32, &StoredBody) -> Option<Hash>,
) -> Result<Option<Vec<u8>>, RecordError> {
    let mut bodies = read_bodies(frame)?;
    let mut is_changed = false;
    for (body, index) in bodies.iter_mut().zip(0..) {
        let Some(hash) = choose(index, body) else { continue };
        let is_text = match &body.content {
            StoredContent::Here(content) => content.as_text().is_some(),
            StoredContent::Shared { is_text, .. } => *is_text,
            StoredContent::Redacted { .. } => continue,
        };
        let marker = match is_text {
            true => Content::from(marker),
            // Content that is not a text stays one: digests cover that, too.
            false => Content::from(Value::Object(Object::from_iter([("redacted", marker.into())]))),
        };
        body.content = StoredContent::Redacted { hash, marker };
        is_changed = true;
    }
    if !is_changed {
        return Ok(None);
    }
    let mut frame = open_frame();
    let mut words = WordWriter::default();
    varint(&mut frame, bodies.len() as u64);
    for body in &bodies {
        stored(&mut frame, &body.content);
        attributes(&mut frame, &mut words, &body.attributes);
    }
    Ok(Some(close_frame(frame)))
}

/// Writes content as it was read.
fn stored(frame: &mut Vec<u8>, stored: &StoredContent) {
    match stored {
        StoredContent::Shared { hash, is_text } => {
            frame.push(if *is_text { SHARED_TEXT } else { SHARED_JSON });
            frame.extend_from_slice(&hash.0);
        }
        // It was inline, and still is.
        StoredContent::Here(content) => self::content(frame, &mut Vec::new(), content, usize::MAX),
        StoredContent::Redacted { hash, marker } => redacted(frame, &hash.0, marker),
    }
}

fn redacted(frame: &mut Vec<u8>, hash: &[u8; 32], marker: &Content) {
    let (kind, said) = match marker {
        Content::Json(value) => (REDACTED_JSON, Cow::Owned(value.to_canonical())),
        Content::Text(text) => (REDACTED_TEXT, Cow::Borrowed(text.as_bytes())),
        Content::Absent => (REDACTED_TEXT, Cow::Borrowed(&b""[..])),
    };
    frame.push(kind);
    frame.extend_from_slice(hash);
    bytes(frame, &said);
}

/// The bodies of a record that is being written.
#[derive(Debug)]
pub(super) struct Bodies<'a> {
    list: Vec<&'a Body>,
    /// Content of at least this many bytes is stored outside the record.
    shared_from: usize,
}

impl Default for Bodies<'_> {
    fn default() -> Self {
        Bodies { list: Vec::new(), shared_from: SHARED_FROM }
    }
}

impl<'a> Bodies<'a> {
    /// Returns bodies of which contents of at least this many bytes are stored outside the record.
    pub(super) fn shared_from(bytes: usize) -> Self {
        Bodies { list: Vec::new(), shared_from: bytes }
    }

    /// Adds a body; returns its index.
    pub(super) fn add(&mut self, body: &'a Body) -> usize {
        self.list.push(body);
        self.list.len() - 1
    }

    pub(super) fn finish(self) -> (Vec<u8>, Vec<SharedContent>) {
        if self.list.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let mut frame = open_frame();
        let mut words = WordWriter::default();
        let mut shared = Vec::new();
        varint(&mut frame, self.list.len() as u64);
        for body in self.list {
            match body.redacted_hash() {
                Some(hash) => redacted(&mut frame, &hash, &body.content),
                None => content(&mut frame, &mut shared, &body.content, self.shared_from),
            }
            attributes(&mut frame, &mut words, &body.attributes);
        }
        (close_frame(frame), shared)
    }
}

fn attributes<'a>(frame: &mut Vec<u8>, words: &mut WordWriter<'a>, attributes: &'a Object) {
    varint(frame, attributes.len() as u64);
    for (name, value) in attributes.iter() {
        words.write(frame, name);
        let mut text = Vec::new();
        json::value(&mut text, value);
        bytes(frame, &text);
    }
}

fn content(
    frame: &mut Vec<u8>,
    shared: &mut Vec<SharedContent>,
    content: &Content,
    shared_from: usize,
) {
    let (said, here, elsewhere) = match content {
        Content::Absent => return frame.push(ABSENT),
        Content::Text(text) => (Cow::Borrowed(text.as_bytes()), TEXT, SHARED_TEXT),
        Content::Json(value) => (Cow::Owned(value.to_canonical()), JSON, SHARED_JSON),
    };
    if said.len() < shared_from {
        frame.push(here);
        return bytes(frame, &said);
    }
    let hash = Hash::of(&said);
    frame.push(elsewhere);
    frame.extend_from_slice(&hash.0);
    if !shared.iter().any(|known| known.hash == hash) {
        shared.push(SharedContent { hash, bytes: said.into_owned() });
    }
}

/// Reads the bodies of a record. Empty input has no bodies.
///
/// # Errors
///
/// If the record is damaged.
pub fn read_bodies(frame: &[u8]) -> Result<Vec<StoredBody>, RecordError> {
    if frame.is_empty() {
        return Ok(Vec::new());
    }
    let mut cursor = Cursor::of_frame(frame)?;
    let mut words = WordReader::default();
    let count = cursor.count()?;
    let bodies: Result<Vec<_>, _> =
        (0..count).map(|_| read_body(&mut cursor, &mut words)).collect();
    cursor.end()?;
    bodies
}

fn read_body<'a>(
    cursor: &mut Cursor<'a>,
    words: &mut WordReader<'a>,
) -> Result<StoredBody, RecordError> {
    let content = match cursor.byte()? {
        ABSENT => StoredContent::Here(Content::Absent),
        TEXT => StoredContent::Here(Content::from(cursor.text()?)),
        JSON => {
            let bytes = cursor.bytes()?;
            StoredContent::Here(json_content(bytes).map_err(|message| cursor.error(message))?)
        }
        SHARED_TEXT => StoredContent::Shared { hash: Hash(cursor.array()?), is_text: true },
        SHARED_JSON => StoredContent::Shared { hash: Hash(cursor.array()?), is_text: false },
        REDACTED_TEXT => {
            let hash = Hash(cursor.array()?);
            StoredContent::Redacted { hash, marker: Content::from(cursor.text()?) }
        }
        REDACTED_JSON => {
            let (hash, bytes) = (Hash(cursor.array()?), cursor.bytes()?);
            let marker = json_content(bytes).map_err(|message| cursor.error(message))?;
            StoredContent::Redacted { hash, marker }
        }
        _ => return Err(cursor.error("a content has an unknown form")),
    };
    let count = cursor.count()?;
    let mut attributes = Object::with_capacity(count);
    for _ in 0..count {
        let name = words.read(cursor)?;
        let value: Value =
            parse(cursor.bytes()?).map_err(|_| cursor.error("an attribute is not JSON"))?;
        attributes.insert(name, value);
    }
    Ok(StoredBody { content, attributes })
}
