//! Simulates the provider's cache: which prefixes of requests it has, and where the next request
//! finds them.

use std::collections::BTreeSet;

use contextree_provider::List;

use crate::memo::hash;
use crate::rendered::Rendered;
use crate::settings::{Reach, Settings};

/// Hashes of the prefixes of a request: up to its first span, then up to the end of each span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain(Vec<u64>);

impl Chain {
    /// Updates the chain for another request whose first `same` spans are unchanged. Settings are
    /// hashed into the prefixes that depend on them: a request with another model shares no prefix.
    pub(crate) fn follow(&mut self, rendered: &Rendered<'_>, settings: &Settings, same: usize) {
        self.0.truncate(same + 1);
        if self.0.is_empty() {
            let head = &rendered.bytes()[..rendered.head_end()];
            self.0.push(hash(hash(0, &settings.key(Reach::All)), head));
        }
        let mut last = self.0.last().copied().unwrap_or_default();
        let spans = rendered.spans();
        for index in self.0.len() - 1..spans.len() {
            let is_message = spans[index].slot.list == List::Messages;
            if is_message && (index == 0 || spans[index - 1].slot.list != List::Messages) {
                last = hash(last, &settings.key(Reach::Messages));
            }
            last = hash(last, rendered.piece(index));
            self.0.push(last);
        }
    }

    /// Removes all hashes.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The entries of a cache. Entries do not expire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries(BTreeSet<u64>);

impl Entries {
    /// Adds the prefix with this number of spans.
    pub(crate) fn write(&mut self, chain: &Chain, spans: usize) {
        self.0.extend(chain.0.get(spans));
    }

    /// Adds every prefix of a request, except those of up to `known` spans, which are present
    /// already.
    pub(crate) fn write_all(&mut self, chain: &Chain, known: usize) {
        self.0.extend(chain.0.get(known..).unwrap_or_default());
    }

    /// Returns the number of spans of the longest prefix that is in the cache; 0 without one.
    pub(crate) fn longest(&self, chain: &Chain) -> usize {
        (1..chain.0.len()).rev().find(|spans| self.0.contains(&chain.0[*spans])).unwrap_or(0)
    }
}
