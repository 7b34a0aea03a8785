//! Calls and results of a whole conversation, for a provider that lets them stand anywhere: a result behind its call is enough.
//!
//! What is known is known turn by turn, and can be taken back to any turn; a conversation that grew costs what it grew by.

use std::collections::{HashMap, VecDeque};

use contextree_json::Value;
use contextree_tree::{Content, NodeKey, TreeRef};

use super::wire::canonical;
use crate::parts::{Kind, Part, Role};

/// Which result answers which call.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    entries: Vec<Entry>,
    /// How many entries there are before `^sys`, and before each turn.
    starts: Vec<usize>,
    /// Calls that wait, by id, the oldest first. Asked for by id alone, so its order shows nowhere.
    waiting: HashMap<Box<str>, VecDeque<usize>>,
    /// Calls that got a result, or lost one, since they were written.
    touched: Vec<usize>,
    /// The provider remembers what came before the request.
    remembers: bool,
    /// How many entries refer to items that the provider has.
    references: usize,
}

#[derive(Debug)]
struct Entry {
    key: NodeKey,
    /// The turn, counted from `^sys`.
    turn: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    Call {
        id: Box<str>,
        answered: bool,
        /// Whether it was answered when it was written.
        written: bool,
    },
    Result {
        call: Option<usize>,
        /// The call may be one that the provider has.
        elsewhere: bool,
    },
    Reference,
}

/// What a part is for the pairing. Items that only their provider knows call and answer as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Call,
    Result,
    Reference,
    Neither,
}

impl Pairs {
    pub(crate) fn new(remembers: bool) -> Self {
        Pairs { remembers, ..Pairs::default() }
    }

    /// Adds the parts of the next turn; `^sys` is the first.
    pub(crate) fn push(&mut self, parts: &[Part<'_>], side: fn(&Part<'_>) -> Side) {
        let turn = self.starts.len();
        self.starts.push(self.entries.len());
        for part in parts {
            let index = self.entries.len();
            let what = match side(part) {
                Side::Neither => continue,
                Side::Reference => {
                    self.references += 1;
                    What::Reference
                }
                Side::Call => {
                    let id = id_of(part);
                    self.waiting.entry(id.clone()).or_default().push_back(index);
                    What::Call { id, answered: false, written: false }
                }
                Side::Result => {
                    let call = self.take(&id_of(part));
                    if let Some(call) = call {
                        self.touch(call, true);
                    }
                    What::Result { call, elsewhere: self.remembers || self.references > 0 }
                }
            };
            self.entries.push(Entry { key: part.node.key_of(), turn, what });
        }
    }

    /// Takes the oldest call that waits for a result with an id.
    fn take(&mut self, id: &str) -> Option<usize> {
        let waiting = self.waiting.get_mut(id)?;
        let call = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(id);
        }
        call
    }

    fn touch(&mut self, call: usize, now: bool) {
        if let What::Call { answered, .. } = &mut self.entries[call].what {
            *answered = now;
            self.touched.push(call);
        }
    }

    /// Takes back everything behind the given number of turns.
    pub(crate) fn rewind(&mut self, turns: usize) {
        let Some(&length) = self.starts.get(turns + 1) else { return };
        self.starts.truncate(turns + 1);
        while self.entries.len() > length {
            let Some(entry) = self.entries.pop() else { return };
            match entry.what {
                What::Reference => self.references -= 1,
                What::Call { id, answered, .. } => {
                    // Results are behind their calls: by now it waits, as the last of its id.
                    debug_assert!(!answered, "results are taken back before their calls");
                    let waiting = self.waiting.get_mut(&id);
                    if waiting.is_some_and(|waiting| {
                        waiting.pop_back();
                        waiting.is_empty()
                    }) {
                        self.waiting.remove(&id);
                    }
                }
                What::Result { call: Some(call), .. } => {
                    self.touch(call, false);
                    if let What::Call { id, .. } = &self.entries[call].what {
                        self.waiting.entry(id.clone()).or_default().push_front(call);
                    }
                }
                What::Result { .. } => {}
            }
        }
    }

    /// Returns the first turn, counted from `^sys`, with a call that is not answered as it was when it was written.
    pub(crate) fn changed(&mut self) -> Option<usize> {
        let touched = std::mem::take(&mut self.touched);
        let turn = |index: usize| {
            let entry = self.entries.get(index)?;
            match entry.what {
                What::Call { answered, written, .. } if answered != written => Some(entry.turn),
                _ => None,
            }
        };
        touched.into_iter().filter_map(turn).min()
    }

    /// Tells the parts of a turn, counted from `^sys`, what became of them.
    pub(crate) fn tell<'a>(
        &mut self,
        turn: usize,
        parts: &mut [Part<'a>],
        tree: TreeRef<'a>,
        side: fn(&Part<'_>) -> Side,
    ) {
        let mut index = self.starts.get(turn).copied().unwrap_or(self.entries.len());
        for part in parts {
            if side(part) == Side::Neither {
                continue;
            }
            let Some(entry) = self.entries.get_mut(index) else { return };
            index += 1;
            match &mut entry.what {
                What::Reference => {}
                What::Call { answered, written, .. } => {
                    *written = *answered;
                    part.open = !*answered;
                }
                What::Result { call: Some(call), .. } => {
                    let call = *call;
                    part.call = tree.at(self.entries[call].key);
                }
                What::Result { elsewhere: true, .. } => {}
                What::Result { .. } if part.kind == Kind::Result => {
                    (part.role, part.kind, part.orphan) = (Role::User, Kind::Text, true);
                }
                What::Result { .. } => {}
            }
        }
    }
}

/// Returns an id as a text. One that is no text, or is not there, is nobody else's. An item that only its provider knows has its own
/// inside; its attribute is the unit.
fn id_of(part: &Part<'_>) -> Box<str> {
    let inside = match part.node.content() {
        Content::Json(item) if part.kind == Kind::Opaque => item.get("call_id"),
        _ => None,
    };
    match inside.or_else(|| part.call_id()) {
        Some(Value::String(id)) => id.clone(),
        Some(other) => format!("\0{}", canonical(other)).into(),
        None => "\0".into(),
    }
}
