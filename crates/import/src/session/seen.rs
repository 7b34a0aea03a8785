//! What was seen of the newest request of a log, used to find out which messages of the next one
//! are new.

use crate::fingerprint::Fingerprint;

/// A message of the newest request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) fingerprint: Fingerprint,
    /// The ids of its blocks.
    pub(crate) nodes: Vec<String>,
    /// For a message of a single text: whether its block is recorded as a list.
    pub(crate) listed: Option<bool>,
}

impl From<Fingerprint> for Seen {
    fn from(fingerprint: Fingerprint) -> Self {
        Seen { fingerprint, nodes: Vec::new(), listed: None }
    }
}

/// What the client does to a text that it wrote as a list to attach a breakpoint, once the
/// breakpoint has moved on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UnmarkedText {
    /// It stays a list, as far as the log shows.
    #[default]
    StaysList,
    /// It becomes a string again.
    BecomesString,
}

/// The newest request: its messages, and the answers that were logged after it.
///
/// Stays empty in a log of single messages.
#[derive(Debug, Default)]
pub(crate) struct NewestRequest {
    pub(crate) messages: Vec<Seen>,
    /// A habit of the client, so it outlasts the request.
    pub(crate) unmarked_text: UnmarkedText,
}

impl NewestRequest {
    /// Returns whether there was no request yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the number of leading messages that this request has as well: all of its messages
    /// if the next request continues it, otherwise none.
    pub(super) fn known(&self, next: &[Fingerprint]) -> usize {
        let seen = self.messages.iter().map(|seen| &seen.fingerprint);
        let continues =
            next.len() >= self.messages.len() && seen.zip(next).all(|(old, new)| old == new);
        if continues { self.messages.len() } else { 0 }
    }

    /// Makes the next request, which continues this one, the newest.
    pub(super) fn continue_with(&mut self, next: Vec<Fingerprint>) {
        let known = self.messages.len();
        self.messages.extend(next.into_iter().skip(known).map(Seen::from));
    }

    /// Makes the next request, which does not continue this one, the newest.
    pub(super) fn replace_with(&mut self, next: Vec<Fingerprint>) {
        self.messages.clear();
        self.continue_with(next);
    }

    /// Records the blocks of a message, and the form of its text.
    pub(crate) fn record(&mut self, index: usize, nodes: Vec<String>, listed: Option<bool>) {
        let seen = &mut self.messages[index];
        seen.nodes = nodes;
        seen.listed = listed;
    }

    /// Adds an answer that was logged after the request, because the next request repeats it.
    pub(crate) fn add_answer(&mut self, fingerprint: Fingerprint) {
        self.messages.push(Seen::from(fingerprint));
    }
}
