//! Simulates the provider's cache: which prefixes of requests it has, until when, and where the next
//! request finds them.

use std::collections::BTreeMap;

use contextree_provider::List;

use crate::memo::hash;
use crate::rendered::Rendered;
use crate::settings::{Reach, Settings};

/// How a provider reads a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As it is written.
    Plain,
    /// Together with reasoning whose text is not in the request.
    WithUnseen,
    /// Not at all.
    Dropped,
}

/// Hashes of the prefixes of a request: up to its first span, then up to the end of each span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain(Vec<u64>);

impl Chain {
    /// Updates the chain for another request whose first `same` spans are unchanged. Settings are
    /// hashed into the prefixes that depend on them: a request with another model shares no prefix.
    pub(crate) fn follow(
        &mut self,
        rendered: &Rendered<'_>,
        settings: &Settings,
        same: usize,
        shape: impl Fn(usize) -> Shape,
    ) {
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
            last = match shape(index) {
                Shape::Plain => hash(last, rendered.piece(index)),
                Shape::WithUnseen => hash(hash(last, b"reasoning"), rendered.piece(index)),
                Shape::Dropped => last,
            };
            self.0.push(last);
        }
    }

    /// Removes all hashes.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The entries of a cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    kept: BTreeMap<u64, Entry>,
    /// When an entry was last used; `None` without times.
    used_ns: Option<i64>,
    /// How long an entry stays without being used; `None` if it stays.
    lifetime_ns: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    used_ns: Option<i64>,
    lifetime_ns: Option<i64>,
}

impl Entry {
    fn is_alive(self, now_ns: Option<i64>) -> bool {
        match (now_ns, self.used_ns, self.lifetime_ns) {
            (Some(now), Some(used), Some(lifetime)) => now.saturating_sub(used) <= lifetime,
            _ => true,
        }
    }
}

impl Entries {
    /// Sets how long the entries stay that are written from here on.
    pub(crate) fn set_lifetime(&mut self, lifetime_s: Option<u64>) {
        self.lifetime_ns = lifetime_s
            .map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(SECOND));
    }

    /// Returns how long entries stay, in nanoseconds.
    pub(crate) fn lifetime_ns(&self) -> Option<i64> {
        self.lifetime_ns
    }

    /// Returns the nanoseconds since the last call, at the beginning of the next one.
    pub(crate) fn gap_ns(&self, now_ns: Option<i64>) -> Option<i64> {
        Some(now_ns?.saturating_sub(self.used_ns?).max(0))
    }

    /// Returns whether what the last call wrote has expired.
    pub(crate) fn has_expired(&self, now_ns: Option<i64>) -> bool {
        !Entry { used_ns: self.used_ns, lifetime_ns: self.lifetime_ns }.is_alive(now_ns)
    }

    /// Records the time of a call: entries written or read from here on are used at this time.
    pub(crate) fn use_at(&mut self, used_ns: Option<i64>) {
        self.used_ns = used_ns.or(self.used_ns);
    }

    /// Adds or renews the prefix with this number of spans.
    pub(crate) fn write(&mut self, chain: &Chain, spans: usize) {
        let entry = Entry { used_ns: self.used_ns, lifetime_ns: self.lifetime_ns };
        if let Some(hash) = chain.0.get(spans) {
            self.kept.insert(*hash, entry);
        }
    }

    /// Adds the prefixes of a request that the next one does not begin with, as they were used when
    /// that request was sent. For providers that keep every prefix: as long as a prefix is a part of
    /// the newest request, it needs no entry.
    pub(crate) fn leave(&mut self, chain: &Chain, same: usize) {
        let entry = Entry { used_ns: self.used_ns, lifetime_ns: self.lifetime_ns };
        let left = chain.0.get(same + 1..).unwrap_or_default();
        self.kept.extend(left.iter().map(|hash| (*hash, entry)));
    }

    /// Returns the number of spans of the longest prefix that is in the cache and has at least
    /// `least` spans; `None` without one.
    pub(crate) fn longest(
        &mut self,
        chain: &Chain,
        least: usize,
        now_ns: Option<i64>,
    ) -> Option<usize> {
        if self.has_expired(now_ns) {
            // No entry was used after the last call, so all of this lifetime have expired, too.
            self.kept.retain(|_, entry| entry.is_alive(now_ns));
        }
        if self.kept.is_empty() {
            return None;
        }
        let is_kept = |spans: &usize| {
            self.kept.get(&chain.0[*spans]).is_some_and(|entry| entry.is_alive(now_ns))
        };
        (least..chain.0.len()).rev().find(is_kept)
    }
}

pub(crate) const SECOND: i64 = 1_000_000_000;
