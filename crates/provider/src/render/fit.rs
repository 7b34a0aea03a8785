//! Adapts tool names and tool call ids to what a provider accepts.
//!
//! In an id that does not fit, the hash of the whole id replaces the part that is cut off:
//! different ids stay different, and the result does not depend on the rest of the conversation.
//! The model reads tool names, so a name gets a number only if it collides.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use contextree_json::Value;
use contextree_tree::Content;

use crate::Provider;
use crate::parts::Part;
use crate::tools::OWN;

/// The number of characters of the hash of an id, including the separator.
const HASH: usize = 17;

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}

fn plain(text: &str) -> String {
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    text.chars().map(|it| if fits(it) { it } else { '_' }).collect()
}

/// Returns whether the provider accepts a tool call id.
pub(crate) fn fits_call_id(id: &str, provider: Provider) -> bool {
    let within = |longest| id.len() <= longest || id.chars().count() <= longest;
    match provider {
        Provider::OpenAiChat => within(40),
        Provider::OpenAiResponses => within(64),
        Provider::Anthropic => is_plain(id) && within(64),
        Provider::Gemini => true,
    }
}

/// Returns whether the provider requires ids to be unique in a conversation, so that a later call
/// cannot use an id again.
pub(crate) fn uses_ids_once(provider: Provider) -> bool {
    matches!(provider, Provider::Anthropic | Provider::Gemini)
}

/// Returns an id that the provider accepts, derived from this one.
pub(crate) fn fit_call_id(id: &str, provider: Provider) -> Cow<'_, str> {
    if fits_call_id(id, provider) {
        return Cow::Borrowed(id);
    }
    let longest = if provider == Provider::OpenAiChat { 40 } else { 64 };
    let mut short = plain(id);
    short.truncate(longest - HASH);
    Cow::Owned(format!("{short}_{:016x}", hash(id)))
}

/// FNV-1a: the same value on every machine. Ids are not chosen to collide, so this is strong
/// enough.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns whether the provider accepts a tool name.
pub(crate) fn fits_name(name: &str, provider: Provider) -> bool {
    let (longest, further) = match provider {
        Provider::OpenAiChat => (64, "_-"),
        Provider::Gemini => (128, "_-.:"),
        Provider::OpenAiResponses | Provider::Anthropic => (128, "_-"),
    };
    let fits = |it: char| it.is_ascii_alphanumeric() || further.contains(it);
    !name.is_empty()
        && name.len() <= longest
        && name.chars().all(fits)
        && has_valid_start(name, provider)
}

/// Returns whether a name starts as the provider requires: for Gemini, with a letter or an
/// underscore.
fn has_valid_start(name: &str, provider: Provider) -> bool {
    let word = |first: char| first.is_ascii_alphabetic() || first == '_';
    provider != Provider::Gemini || name.starts_with(word)
}

/// The names of the tools of a request.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Defined names that are sent under another name, or would be if they were another provider's.
    sent: BTreeMap<Box<str>, Box<str>>,
    /// Names in use.
    taken: BTreeSet<Box<str>>,
}

impl Names {
    /// Collects the names of the defined tools.
    pub(crate) fn of(tools: &[Part<'_>], provider: Provider) -> Self {
        let mut names = Names::default();
        let mut others: Vec<&str> = Vec::new();
        for part in tools {
            let view = part.view();
            let Content::Json(value) = view.content else { continue };
            let own = view.form() == Some(OWN);
            let named = value.get("name").or_else(|| value.get("custom")?.get("name"));
            let Some(name) = named.and_then(Value::as_str) else { continue };
            if fits_name(name, provider) {
                names.taken.insert(name.into());
            } else if own || view.is_from(provider) {
                names.sent.insert(name.into(), name.into());
            } else {
                others.push(name);
            }
        }
        for name in others {
            if !names.sent.contains_key(name) {
                let free = names.free(name, provider);
                names.taken.insert(free.clone());
                names.sent.insert(name.into(), free);
            }
        }
        names
    }

    /// Returns the name that is sent for a tool.
    pub(crate) fn sent<'a>(&self, name: &'a str, provider: Provider) -> Cow<'a, str> {
        match self.sent.get(name) {
            Some(sent) if **sent == *name => Cow::Borrowed(name),
            Some(sent) => Cow::Owned(sent.to_string()),
            None if fits_name(name, provider) => Cow::Borrowed(name),
            None => Cow::Owned(self.free(name, provider).into()),
        }
    }

    /// Returns a name that fits and differs from every defined one.
    fn free(&self, name: &str, provider: Provider) -> Box<str> {
        let mut short = plain(name);
        if !has_valid_start(&short, provider) {
            short.insert(0, '_');
        }
        short.truncate(64);
        if short.is_empty() {
            short.push_str("unnamed");
        }
        let mut free = short.clone();
        for number in 2u64.. {
            if !self.taken.contains(&*free) {
                break;
            }
            let end = format!("_{number}");
            free.clone_from(&short);
            free.truncate(64 - end.len());
            free.push_str(&end);
        }
        free.into()
    }
}
