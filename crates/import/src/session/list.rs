//! Lists of messages that repeat the conversation so far, in formats other than requests of
//! providers.

use contextree_provider::read::Incoming;

use super::{About, CallInfo, Seen, Session};
use crate::error::ImportErrorKind;
use crate::fingerprint::Fingerprint;

/// A message, and what recognizes it in the next list.
pub(crate) type Listed = (Fingerprint, Incoming);

impl Session<'_> {
    /// Adds a conversation, each answer of which ended a call. `info` returns what is known about the
    /// call that an answer ended.
    pub(crate) fn conversation(
        &mut self,
        list: Vec<Listed>,
        info: impl Fn(&Incoming) -> CallInfo,
    ) -> Result<(), ImportErrorKind> {
        self.list(list, |session, message| {
            let info = info(&message);
            session.message_of(message, info)
        })?;
        self.settle()
    }

    /// Brings the tree to a list of messages that a call sent. Commits nothing.
    pub(crate) fn sent(&mut self, list: Vec<Listed>) -> Result<(), ImportErrorKind> {
        self.list(list, |session, message| session.add(message, &About::default()))
    }

    /// Drops everything, because another conversation begins.
    pub(crate) fn start_conversation(&mut self) -> Result<(), ImportErrorKind> {
        self.keep_known(&[]).map(drop)
    }

    /// Brings the tree to a list of messages. `add` adds each message that it does not have.
    pub(crate) fn list(
        &mut self,
        list: Vec<Listed>,
        add: impl Fn(&mut Self, Incoming) -> Result<(), ImportErrorKind>,
    ) -> Result<(), ImportErrorKind> {
        let known = self.keep_known(&list)?;
        for (fingerprint, message) in list.into_iter().skip(known) {
            add(self, message)?;
            self.recognize(fingerprint);
        }
        Ok(())
    }

    /// Makes the message that was added last known to the next list.
    pub(crate) fn recognize(&mut self, fingerprint: Fingerprint) {
        if let Some(last) = self.state.window.last_mut() {
            last.seen = Some(Seen { fingerprint, listed: None, essence: None });
        }
    }

    /// Drops the messages that the list does not have, and returns how many of the list stay.
    fn keep_known(&mut self, list: &[Listed]) -> Result<usize, ImportErrorKind> {
        let window = &self.state.window;
        let same = window.iter().zip(list).take_while(|(placed, (fingerprint, _))| {
            placed.seen.is_some_and(|seen| seen.fingerprint == *fingerprint)
        });
        let (known, length) = (same.count(), window.len());
        if known == 0 {
            self.state.counts.conversations += 1;
        }
        if known < length {
            if known > 0 {
                self.state.find("rewritten");
            }
            self.commit()?;
            self.retain(|index, _| index < known)?;
        }
        Ok(known)
    }
}
