//! Pairs calls and results of a whole conversation, for a provider that accepts a result anywhere
//! after its call (OpenAI Responses).
//!
//! Pairs are recorded turn by turn and can be rewound to any turn, so an incremental rendering only
//! pairs the turns that changed.

use std::collections::{HashMap, VecDeque};

use contextree_json::Value;
use contextree_tree::{Content, NodeKey, TreeRef};

use super::wire::canonical;
use crate::parts::{Kind, Part, Role};

/// The pairs of calls and results.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    entries: Vec<Entry>,
    /// The number of entries before `^sys` and before each turn.
    starts: Vec<usize>,
    /// Calls without results, by id, oldest first. Never iterated, so its order cannot affect
    /// output.
    waiting: HashMap<Box<str>, VecDeque<usize>>,
    /// Calls that gained or lost a result since they were written.
    touched: Vec<usize>,
    /// Whether the provider stores the conversation before this request.
    remembers: bool,
    /// The number of entries that refer to items stored by the provider.
    references: usize,
}

#[derive(Debug)]
struct Entry {
    key: NodeKey,
    /// The number of the turn; `^sys` is 0.
    turn: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    Call {
        id: Box<str>,
        answered: bool,
        /// Whether it had a result when it was written.
        written: bool,
    },
    Result {
        call: Option<usize>,
        /// Whether the provider may have stored the call.
        elsewhere: bool,
    },
    Reference,
}

/// Which side of a pair a part is. Provider-specific items can be calls and results too.
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

    /// Returns whether the provider has calls that are not in the request.
    pub(crate) fn remembers(&self) -> bool {
        self.remembers
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

    /// Takes the oldest call with this id that has no result.
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

    /// Removes everything after the given number of turns.
    pub(crate) fn rewind(&mut self, turns: usize) {
        let Some(&length) = self.starts.get(turns + 1) else { return };
        self.starts.truncate(turns + 1);
        while self.entries.len() > length {
            let Some(entry) = self.entries.pop() else { return };
            match entry.what {
                What::Reference => self.references -= 1,
                What::Call { id, answered, .. } => {
                    // Results follow their calls, so this call has none any more, and it is the
                    // newest of its id.
                    debug_assert!(!answered, "results are removed before their calls");
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

    /// Returns the first turn (`^sys` is 0) with a call that gained or lost its result since it was
    /// written.
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

    /// Sets on each part of a turn (`^sys` is 0) whether its call has a result, or which call it
    /// answers.
    pub(crate) fn annotate<'a>(
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

/// Returns an id as text. An id that is not a string gets a prefix, so that it never equals one
/// that is. A provider-specific item has its own id inside; its attribute is the unit.
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
