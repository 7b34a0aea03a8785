//! The newest call of a conversation, as far as it is needed to recognize what continues it.

use std::collections::HashSet;

use contextree_json::Value;
use contextree_provider::Provider;
use contextree_provider::read::read_usage;

use super::outline::{Outline, texts};
use crate::fingerprint::Fingerprint;
use crate::logs::requests::answer_messages;

/// The shortest answer that is recognized where a later message quotes it.
const SHORTEST_QUOTE: usize = 80;

/// The newest request of a conversation, and its answer.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    sent: Outline,
    /// What the messages of the answer say.
    answer: Vec<Fingerprint>,
    /// The text of the answer.
    text: String,
    /// The provider's id of the answer.
    id: Option<String>,
}

/// How a request relates to a conversation, from the loosest relation to the closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlap {
    /// They have nothing in common.
    Nothing,
    /// It has some of the messages in another place, or quotes the last answer: what was before is dropped or summarized.
    Fragments,
    /// It begins with some of the messages, and continues differently.
    Beginning(
        /// The number of messages that both begin with.
        usize,
    ),
    /// It is the last request again.
    Same(
        /// The number of its messages.
        usize,
    ),
    /// It has everything that was sent, and more.
    Extends(
        /// The number of messages that were sent.
        usize,
    ),
    /// It has everything that was sent, and the answer.
    Continues(
        /// The number of messages that were sent.
        usize,
    ),
    /// It names the last answer as the one that it continues.
    Named,
}

impl Overlap {
    /// Returns the number of messages that both begin with.
    #[must_use]
    pub fn common(self) -> usize {
        match self {
            Overlap::Beginning(common)
            | Overlap::Same(common)
            | Overlap::Extends(common)
            | Overlap::Continues(common) => common,
            Overlap::Nothing | Overlap::Fragments | Overlap::Named => 0,
        }
    }
}

impl Trace {
    /// Notes a request that was sent.
    pub fn send(&mut self, outline: Outline) {
        *self = Trace { sent: outline, ..Trace::default() };
    }

    /// Notes its answer.
    pub fn answer(&mut self, provider: Provider, document: &Value) {
        self.id = read_usage(provider, document).id;
        self.text.clear();
        let messages = answer_messages(provider, document.clone());
        self.answer = messages.iter().map(crate::fingerprint::essence_of).collect();
        messages.iter().for_each(|message| texts(message, &mut self.text));
    }

    /// Notes the answer of a stored context: what its messages say, and the id of the response.
    pub(super) fn resume_answer(&mut self, messages: &[Value], id: Option<String>) {
        self.answer = messages.iter().map(crate::fingerprint::essence_of).collect();
        messages.iter().for_each(|message| texts(message, &mut self.text));
        self.id = id;
    }

    /// Returns the request that was sent last.
    #[must_use]
    pub fn sent(&self) -> &Outline {
        &self.sent
    }

    /// Returns how a request relates to the conversation.
    #[must_use]
    pub fn overlap(&self, request: &Outline) -> Overlap {
        if request.previous.is_some() && request.previous == self.id {
            return Overlap::Named;
        }
        let common = request.common(&self.sent);
        match common {
            0 => {}
            _ if common < self.sent.len() => return Overlap::Beginning(common),
            _ if common == request.len() => return Overlap::Same(common),
            _ => {
                let next = request.essences[common];
                return match self.answer.contains(&next) {
                    true => Overlap::Continues(common),
                    false => Overlap::Extends(common),
                };
            }
        }
        let known: HashSet<Fingerprint> = self.sent.messages.iter().copied().collect();
        let text = self.text.trim();
        let quotes = text.len() >= SHORTEST_QUOTE && request.opening.contains(text);
        match quotes || request.messages.iter().any(|message| known.contains(message)) {
            true => Overlap::Fragments,
            false => Overlap::Nothing,
        }
    }
}
