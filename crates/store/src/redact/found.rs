//! What a redaction finds in rows: copies to replace, and what contains a text without being one.

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::Hash;
use contextree_canon::record::{BodyPlace, Put, StoredBody};
use contextree_tree::{Content, Cycle};

use super::Redaction;
use crate::backend::Backend;
use crate::error::Result;
use crate::packed::unpack;

/// How many contents are fetched at once.
const CONTENTS_AT_ONCE: usize = 64;

/// The node that a body belongs to. The content hash covers role and kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Owner<'a> {
    pub(super) id: &'a str,
    pub(super) role: Option<&'a str>,
    pub(super) kind: Option<&'a str>,
}

impl<'a> Owner<'a> {
    pub(super) fn of(put: &Put<'a>) -> Owner<'a> {
        Owner { id: put.data.id, role: put.data.role, kind: put.data.kind }
    }
}

/// The owners of the bodies of a record, by index.
pub(super) type Owners<'a> = BTreeMap<u32, Owner<'a>>;

/// Returns the owners of bodies that are in the same record as the nodes.
pub(super) fn owners<'a>(puts: &[Put<'a>]) -> Owners<'a> {
    let here = puts.iter().filter_map(|put| match put.data.body {
        BodyPlace::Here(index) => Some((index, Owner::of(put))),
        _ => None,
    });
    here.collect()
}

/// What is found in the rows of one context.
pub(super) struct Found {
    /// The texts to look for, as they are and as they are in JSON.
    needles: Vec<Vec<u8>>,
    pub(super) copies: u64,
    /// The first cycle of a branch with a copy, where the copy is not in the journal.
    pub(super) first: Option<Cycle>,
    /// Ids of nodes that have one of the contents.
    pub(super) nodes: BTreeSet<String>,
    /// Names of attributes that contain one of the texts.
    pub(super) attributes: BTreeSet<String>,
    /// Ids of nodes whose content contains one of the texts, and more.
    pub(super) longer: BTreeSet<String>,
    /// Contents that are not in the records themselves, and the ids of the nodes that have them.
    shared: BTreeMap<Hash, BTreeSet<String>>,
}

impl Found {
    pub(super) fn new(redaction: &Redaction<'_>) -> Found {
        Found {
            needles: redaction.texts().collect(),
            copies: 0,
            first: None,
            nodes: BTreeSet::new(),
            attributes: BTreeSet::new(),
            longer: BTreeSet::new(),
            shared: BTreeMap::new(),
        }
    }

    pub(super) fn contains(&self, bytes: &[u8]) -> bool {
        let is_in = |needle: &Vec<u8>| {
            needle.len() <= bytes.len() && bytes.windows(needle.len()).any(|part| part == needle)
        };
        self.needles.iter().any(is_in)
    }

    /// Notes what a body contains that is not redacted: attributes, and a content that is longer than the text.
    pub(super) fn note_rest(&mut self, body: &StoredBody, owner: Owner<'_>, is_redacted: bool) {
        for (name, value) in body.attributes().iter() {
            if self.contains(&value.to_canonical()) {
                self.attributes.insert(name.to_owned());
            }
        }
        if is_redacted || owner.id.is_empty() {
            return;
        }
        if let Some(hash) = body.shared() {
            self.shared.entry(hash).or_default().insert(owner.id.to_owned());
        }
        // Without something to fetch it is in the record itself, or a marker.
        let is_longer = body.clone().into_body(None).is_ok_and(|body| match &body.content {
            _ if body.redacted_hash().is_some() => false,
            Content::Text(text) => self.contains(text.as_bytes()),
            Content::Json(value) => self.contains(&value.to_canonical()),
            Content::Absent => false,
        });
        if is_longer {
            self.longer.insert(owner.id.to_owned());
        }
    }

    /// Looks into the contents that are not in the records themselves.
    pub(super) fn search_shared(&mut self, backend: &dyn Backend) -> Result<()> {
        let shared: Vec<(Hash, BTreeSet<String>)> =
            std::mem::take(&mut self.shared).into_iter().collect();
        for some in shared.chunks(CONTENTS_AT_ONCE) {
            let hashes: Vec<[u8; 32]> = some.iter().map(|(hash, _)| hash.0).collect();
            for ((hash, ids), data) in some.iter().zip(backend.contents(&hashes)?) {
                let bytes = data.map(|data| unpack(*hash, &data)).transpose()?;
                if bytes.is_some_and(|bytes| self.contains(&bytes)) {
                    self.longer.extend(ids.iter().cloned());
                }
            }
        }
        Ok(())
    }

    /// Notes that a record of this cycle has a copy.
    pub(super) fn note_cycle(&mut self, cycle: Cycle) {
        self.first = Some(self.first.map_or(cycle, |first| first.min(cycle)));
    }
}
