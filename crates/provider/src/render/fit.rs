//! Names of tools and ids of calls, brought to what a provider accepts.
//!
//! An id that does not fit gets a part of the hash of the whole in the place of what is cut off: two ids never become one, and an id
//! becomes the same whatever else is in the conversation. Names are for the model to read: they get a number only if they have to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use contextree_json::Value;
use contextree_tree::Content;

use crate::Provider;
use crate::parts::Part;
use crate::tools::OWN;

/// How many characters the hash of an id has, with what separates it.
const HASH: usize = 17;

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}

fn plain(text: &str) -> String {
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    text.chars().map(|it| if fits(it) { it } else { '_' }).collect()
}

/// Returns true if the provider accepts the id of a call.
pub(crate) fn fits_call_id(id: &str, provider: Provider) -> bool {
    let within = |longest| id.len() <= longest || id.chars().count() <= longest;
    match provider {
        Provider::OpenAiChat => within(40),
        Provider::OpenAiResponses => within(64),
        Provider::Anthropic => is_plain(id) && within(64),
        Provider::Gemini => true,
    }
}

/// Returns true if the provider accepts an id once in a conversation, and not again for a later call.
pub(crate) fn uses_ids_once(provider: Provider) -> bool {
    matches!(provider, Provider::Anthropic | Provider::Gemini)
}

/// Returns an id that the provider accepts.
pub(crate) fn fit_call_id(id: &str, provider: Provider) -> Cow<'_, str> {
    if fits_call_id(id, provider) {
        return Cow::Borrowed(id);
    }
    let longest = if provider == Provider::OpenAiChat { 40 } else { 64 };
    let mut short = plain(id);
    short.truncate(longest - HASH);
    Cow::Owned(format!("{short}_{:016x}", hash(id)))
}

/// FNV-1a: the same number everywhere, and for ids that nobody chose to collide.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns true if the provider accepts the name of a tool.
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
        && begins_well(name, provider)
}

/// For Gemini, a name begins like a word of a program.
fn begins_well(name: &str, provider: Provider) -> bool {
    let word = |first: char| first.is_ascii_alphabetic() || first == '_';
    provider != Provider::Gemini || name.starts_with(word)
}

/// The names of the tools of a request.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Defined names that are not sent as they are, or would not be if they were another provider's.
    sent: BTreeMap<Box<str>, Box<str>>,
    /// Names that are in use.
    taken: BTreeSet<Box<str>>,
}

impl Names {
    /// Returns the names of defined tools.
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

    /// Returns the name that is sent for one.
    pub(crate) fn sent<'a>(&self, name: &'a str, provider: Provider) -> Cow<'a, str> {
        match self.sent.get(name) {
            Some(sent) if **sent == *name => Cow::Borrowed(name),
            Some(sent) => Cow::Owned(sent.to_string()),
            None if fits_name(name, provider) => Cow::Borrowed(name),
            None => Cow::Owned(self.free(name, provider).into()),
        }
    }

    /// Returns a name that fits, and is no defined tool's.
    fn free(&self, name: &str, provider: Provider) -> Box<str> {
        let mut short = plain(name);
        if !begins_well(&short, provider) {
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
