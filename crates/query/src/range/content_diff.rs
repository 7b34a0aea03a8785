//! Differences between the contents of two versions of a node.

use contextree_json::{Object, Value};
use contextree_tree::{Content, NodeRef};
use similar::{Algorithm, TextDiff};

use super::options::{ContentMode, RangeOptions};
use super::patch::{PatchOp, json_patch};
use super::result::{count, list};
use super::tokens::token_hunks;

/// The difference of two contents, from the older to the newer one.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentDiff {
    /// The media type of the newer node, if it has one.
    pub mime: Option<String>,
    /// Bytes of the newer content: UTF-8, or canonical JSON of structured content.
    pub bytes_newer: usize,
    /// Bytes of the older content.
    pub bytes_older: usize,
    /// Whether the contents are equal and only `role`, `kind` or a `data_*` attribute changed the
    /// hash.
    pub identical: bool,
    /// The difference.
    pub body: ContentBody,
}

/// The difference itself.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBody {
    /// A unified diff; empty for equal contents.
    Unified(String),
    /// A JSON patch that turns the older content into the newer one.
    JsonPatch(Vec<PatchOp>),
    /// Runs of words and whitespace.
    Tokens(Vec<Hunk>),
}

/// A run of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// What happened to it.
    pub kind: HunkKind,
    /// The run.
    pub text: String,
}

/// What happened to a run of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkKind {
    /// It is in both.
    Keep,
    /// It is in the older content only.
    Delete,
    /// It is in the newer content only.
    Insert,
}

impl HunkKind {
    /// Returns the kind's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Delete => "delete",
            Self::Insert => "insert",
        }
    }
}

impl ContentDiff {
    /// Compares two versions of a node; `labels` name the older and the newer snapshot.
    pub(super) fn new(
        older: NodeRef<'_>,
        newer: NodeRef<'_>,
        labels: (&str, &str),
        options: &RangeOptions,
    ) -> Self {
        let (before, after) = (text(older.content()), text(newer.content()));
        let body = match options.content_mode {
            ContentMode::Unified => {
                let names = (
                    format!("older({})/{}", labels.0, older.id()),
                    format!("newer({})/{}", labels.1, newer.id()),
                );
                ContentBody::Unified(unified(&before, &after, &names, options.context_lines))
            }
            ContentMode::JsonPatch => {
                ContentBody::JsonPatch(patch(older.content(), newer.content()))
            }
            ContentMode::Tokens => ContentBody::Tokens(token_hunks(&before, &after)),
        };
        let mime = newer.attribute("mime").or_else(|| newer.attribute("content_mime"));
        ContentDiff {
            mime: mime.and_then(Value::as_str).map(str::to_owned),
            bytes_newer: after.len(),
            bytes_older: before.len(),
            identical: is_same(older.content(), newer.content()),
            body,
        }
    }

    /// Returns the difference as the specification's JSON object.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut summary = Object::new();
        summary.insert("bytesNewer", count(self.bytes_newer));
        summary.insert("bytesOlder", count(self.bytes_older));
        summary.insert("identical", self.identical.into());
        summary.insert("truncated", false.into());
        let mut object = Object::new();
        let (mode, key, body) = match &self.body {
            ContentBody::Unified(diff) => (ContentMode::Unified, "diff", diff.as_str().into()),
            ContentBody::JsonPatch(ops) => {
                (ContentMode::JsonPatch, "patch", list(ops, PatchOp::to_value))
            }
            ContentBody::Tokens(hunks) => (ContentMode::Tokens, "hunks", list(hunks, hunk_value)),
        };
        object.insert("mode", mode.as_str().into());
        if let Some(mime) = &self.mime {
            object.insert("mime", mime.as_str().into());
        }
        object.insert("summary", summary.into());
        object.insert(key, body);
        object.into()
    }
}

fn hunk_value(hunk: &Hunk) -> Value {
    let mut object = Object::new();
    object.insert("op", hunk.kind.as_str().into());
    object.insert("text", hunk.text.as_str().into());
    object.into()
}

/// Returns the content as text; structured content as canonical JSON, which is ASCII.
fn text(content: &Content) -> String {
    match content {
        Content::Absent => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Json(value) => value.to_canonical().into_iter().map(char::from).collect(),
    }
}

/// Compares contents; absent content equals an empty text.
fn is_same(older: &Content, newer: &Content) -> bool {
    older == newer
        || matches!((older.to_value(), newer.to_value()),
        (None, Some(Value::String(text))) | (Some(Value::String(text)), None) if text.is_empty())
}

fn unified(before: &str, after: &str, names: &(String, String), context: usize) -> String {
    if before == after {
        return String::new();
    }
    // The default algorithm bounds its own work on difficult inputs; a deadline would make the
    // result depend on the machine.
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(before, after);
    diff.unified_diff().context_radius(context).header(&names.0, &names.1).to_string()
}

/// Returns a patch; unless both contents are structured, it replaces the whole content.
fn patch(older: &Content, newer: &Content) -> Vec<PatchOp> {
    match (older, newer) {
        _ if is_same(older, newer) => Vec::new(),
        (Content::Json(before), Content::Json(after)) => json_patch(before, after),
        _ => {
            let value = newer.to_value().unwrap_or_else(|| Value::from(""));
            vec![PatchOp::Replace { path: String::new(), value }]
        }
    }
}
