//! Reads and writes media: images, documents and audio.
//!
//! The content of such a block is text. The header `encoding` tells how to read it: `base64` data,
//! a `uri`, or a `file_id` of the provider. Without an encoding, it is the text of a document.
//! `mime` is the media type.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use contextree_tree::{Content, NewNode};

use crate::Provider;
use crate::parts::{View, names};

/// Returns the detail level of an image and the names of its other fields, for conversion between
/// the two OpenAI APIs.
pub(crate) fn detail<'a>(view: &View<'a>) -> (Option<&'a Value>, Vec<&'a str>) {
    let Some(extra) = view.attribute(names::EXTRA).and_then(Value::as_object) else {
        return (None, Vec::new());
    };
    let (inner, outer) = match view.provider() {
        Some(Provider::OpenAiResponses) => (Some(extra), None),
        Some(Provider::OpenAiChat) => {
            (extra.get("image_url").and_then(Value::as_object), Some(extra))
        }
        _ => return (None, extra.keys().collect()),
    };
    let found = inner.and_then(|inner| inner.get("detail")).filter(|it| it.as_str().is_some());
    let inner = inner.into_iter().flat_map(Object::keys).filter(|name| *name != "detail");
    let outer = outer.into_iter().flat_map(Object::keys).filter(|name| *name != "image_url");
    (found, inner.chain(outer).collect())
}

/// Returns the media as a URL: data as `data:…;base64,…`.
pub(crate) fn data_url<'a>(view: &View<'a>) -> Cow<'a, str> {
    match view.encoding {
        Some("base64") => {
            let mime = view.mime.unwrap_or("application/octet-stream");
            Cow::Owned(format!("data:{mime};base64,{}", base64(view)))
        }
        _ => view.text(),
    }
}

/// Returns the media of a new block as a URL: data as `data:…;base64,…`.
#[must_use]
pub fn url_of_node(node: &NewNode) -> Cow<'_, str> {
    data_url(&View::of_new(node))
}

/// Returns data as standard base64 with padding. The Gemini SDK writes the URL-safe alphabet, which
/// no other provider reads.
pub(crate) fn base64<'a>(view: &View<'a>) -> Cow<'a, str> {
    let text = view.text();
    let padding = (4 - text.len() % 4) % 4;
    if padding == 0 && !text.contains(['-', '_']) {
        return text;
    }
    Cow::Owned(text.replace('-', "+").replace('_', "/") + &"===="[..padding])
}

/// Returns whether a URL is publicly accessible: not a bucket, a Gemini file, or a video that only
/// Gemini can open.
pub(crate) fn is_public(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("m.")).unwrap_or(host);
    !matches!(host, "youtu.be" | "youtube.com" | "generativelanguage.googleapis.com")
}

/// Returns a block for what a URL refers to: the data, if it is a `data:` URL.
#[must_use]
pub fn from_url(kind: &str, url: Box<str>) -> NewNode {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((mime, data)) if is_mime(mime) => {
            NewNode::text(data).kind(kind).mime(mime).encoding("base64")
        }
        _ => {
            NewNode { content: Content::Text(url), ..NewNode::default() }.kind(kind).encoding("uri")
        }
    }
}

fn is_mime(text: &str) -> bool {
    text.contains('/') && !text.contains([';', ','])
}

/// Returns the short name that some providers use for a media type: `wav` for `audio/wav`.
pub(crate) fn extension(mime: &str) -> &str {
    match mime {
        "audio/mpeg" => "mp3",
        other => other.rsplit('/').next().unwrap_or(other),
    }
}

/// Returns the media type of a short name.
pub(crate) fn audio_mime(extension: &str) -> String {
    match extension {
        "mp3" => "audio/mpeg".to_owned(),
        other => format!("audio/{other}"),
    }
}
