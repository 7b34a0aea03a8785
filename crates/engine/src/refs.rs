//! References: what prevents a node from expiring and from being pruned.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use contextree_json::Value;
use contextree_tree::{NodeRef, TreeRef};

use crate::context::Context;
use crate::report::Holder;

/// Reports whether a node is still needed outside of the context.
///
/// Consulted at commit, only for nodes that would be removed. [`Liveness::Unknown`] keeps the node,
/// so that nothing is lost when in doubt.
pub trait LivenessProbe: Send + Sync {
    /// Returns whether the node is needed.
    fn liveness(&self, node: &str) -> Liveness;
}

/// Whether a node is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The node is not needed.
    Free,
    /// The node is needed.
    Held,
    /// It cannot be determined.
    Unknown,
}

type Counts = Mutex<BTreeMap<String, usize>>;

/// The existing handles.
#[derive(Clone, Default)]
pub(crate) struct Handles {
    counts: Arc<Counts>,
    pub(crate) probe: Option<Arc<dyn LivenessProbe>>,
}

impl fmt::Debug for Handles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Handles").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl Handles {
    /// Returns the handles of a fork: none, with the same probe.
    pub(crate) fn fork(&self) -> Handles {
        Handles { counts: Arc::default(), probe: self.probe.clone() }
    }

    pub(crate) fn retain(&self, id: &str) -> Reference {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(id.to_owned()).or_default() += 1;
        Reference { id: id.to_owned(), counts: Arc::downgrade(&self.counts) }
    }

    /// Returns what holds a node from outside of the tree.
    fn holder(&self, id: &str) -> Option<Holder> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.contains_key(id) {
            return Some(Holder::Handle);
        }
        match self.probe.as_ref().map(|probe| probe.liveness(id)) {
            Some(Liveness::Held) => Some(Holder::Handle),
            Some(Liveness::Unknown) => Some(Holder::Unknown),
            Some(Liveness::Free) | None => None,
        }
    }
}

/// A handle on a node: as long as it exists, the node neither expires nor is pruned.
#[derive(Debug)]
#[must_use = "the node is only held as long as the reference exists"]
pub struct Reference {
    id: String,
    counts: Weak<Counts>,
}

impl Reference {
    /// Returns the id of the node.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the node in the working tree of its context; `None` if it was removed, or if the
    /// handle belongs to another context.
    #[must_use]
    pub fn resolve<'a>(&self, context: &'a Context) -> Option<NodeRef<'a>> {
        if context.gave_out(self) { context.working().get(&self.id) } else { None }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // If the context was dropped, there is nothing to release.
        let Some(counts) = self.counts.upgrade() else { return };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.id);
            }
        }
    }
}

impl Handles {
    /// Returns whether a handle belongs to this context.
    pub(crate) fn gave_out(&self, reference: &Reference) -> bool {
        reference.counts.ptr_eq(&Arc::downgrade(&self.counts))
    }
}

/// The references between nodes in one state of the tree.
#[derive(Debug)]
pub(crate) struct References<'a> {
    handles: &'a Handles,
    /// By the id that is referred to: the ids that refer to it.
    referrers: BTreeMap<String, BTreeSet<String>>,
    /// All ids that refer to others.
    referring: BTreeSet<String>,
}

impl<'a> References<'a> {
    pub(crate) fn of(tree: TreeRef<'_>, handles: &'a Handles) -> Self {
        let mut referrers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in tree.referring() {
            for target in node.attribute("data_refs").into_iter().flat_map(references_in) {
                referrers.entry(target).or_default().insert(node.id().into());
            }
        }
        let referring = referrers.values().flatten().cloned().collect();
        References { handles, referrers, referring }
    }

    /// Returns whether a node refers to another one.
    pub(crate) fn refers(&self, id: &str) -> bool {
        self.referring.contains(id)
    }

    /// Returns what holds a node, ignoring references from nodes that are removed too.
    pub(crate) fn holder(&self, id: &str, is_removed: impl Fn(&str) -> bool) -> Option<Holder> {
        self.handles.holder(id).or_else(|| {
            let referrers = self.referrers.get(id)?;
            let holder = referrers.iter().find(|referrer| !is_removed(referrer))?;
            Some(Holder::Node(holder.clone()))
        })
    }
}

/// Returns whether a value of `data_refs` is an id or a list of ids, as it should be.
pub(crate) fn is_reference_list(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(ids) => ids.iter().all(|id| id.as_str().is_some()),
        _ => false,
    }
}

/// Returns what a value of `data_refs` may refer to: every text and number in it, at any depth, keys
/// included. Values of an unknown form are not ignored, because a node that may be needed must stay
/// (02§5.4).
fn references_in(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(id) => found.push(id.to_string()),
            Value::Number(_) => {
                found.push(String::from_utf8_lossy(&value.to_canonical()).into_owned());
            }
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => {
                found.extend(fields.keys().map(str::to_owned));
                waiting.extend(fields.iter().map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
    found
}
