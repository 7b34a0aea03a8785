//! Adds a node.

use contextree_canon::{Hash, Limits};
use contextree_json::{Object, Value};
use contextree_tree::{Body, Class, Content, NodeData, NodeKey, NodeRef, Scalar};

use super::names::{check_namespace, check_type, is_reserved, is_usual_role};
use super::{NewNode, Outcome, Place, PreparedNode};
use crate::clock::IdRole;
use crate::error::{OpError, Reason};
use crate::place::{Parent, Subject, Target, resolve};
use crate::refs::is_reference_list;
use crate::report::Warning;
use crate::work::{MAX_TTL, Work};

/// A node that was added.
pub(crate) struct Added {
    pub(crate) id: String,
    /// The id of the core that was created for it, if any.
    core: Option<String>,
}

impl Added {
    pub(super) fn outcome(self) -> Outcome {
        Outcome::Added { id: self.id, core: self.core }
    }
}

impl Work<'_> {
    pub(crate) fn add(&mut self, place: &Place, node: PreparedNode) -> Result<Added, OpError> {
        let (mut node, hashed) = node.into_parts();
        let node_type = node.node_type.take();
        let node_type = node_type.as_deref().unwrap_or(self.settings.vocabulary.block());
        let class = check_type(node_type)?;
        check_new(&node, class)?;
        let subject = Subject {
            class,
            namespaced: node_type.contains(':'),
            name: node.id.as_deref().unwrap_or(node_type),
            moving: None,
        };
        let target = resolve(self.draft.view(), place, subject)?;
        if target.becomes_core && (node.removable || node.ttl.is_some()) {
            return Err(OpError::placement(Reason::CoreLifecycle, subject.name));
        }
        if let Some(id) = &node.id {
            // The core created on the way may request the same id, and it is created first.
            let made = (target.parent == Parent::NewCore).then(|| self.core_id(self.next_index()));
            if self.is_taken(id) || made.as_ref() == Some(id) {
                return Err(OpError::placement(Reason::DuplicateId, id));
            }
        }
        self.check_limits(&node, node_type, &target)?;
        let (parent, core) = self.parent_of(&target);
        let stamp = self.stamp();
        let id = match node.id.take() {
            Some(id) => id,
            None => self.make_id(IdRole::of(class, target.becomes_core), stamp.index),
        };
        let (role, kind) = (node.role.take(), node.kind.take());
        let mut data = NodeData::with_body(&*id, node_type, ());
        data.offset = target.offset;
        data.expires = node.ttl.and_then(|ttl| self.expiry(ttl));
        data.priority = Scalar::Int(node.priority);
        stamp.put(&mut data, self.cycle());
        data.role = role.as_deref();
        data.kind = kind.as_deref();
        data.removable = node.removable;
        data.pinned = node.pinned;
        let body = body(node);
        let unreadable_references =
            body.attributes.get("data_refs").is_some_and(|refs| !is_reference_list(refs));
        if let Some(content) = hashed {
            let Hash(hash) = content.finish(data.kind, data.role, &body.attributes);
            body.hash_cell().get_or_init(|| hash);
        }
        let key = self.draft.insert(parent, data.replace_body(body));
        if target.becomes_core {
            self.gather(key);
        }
        self.rotate(key, stamp, &target.rotate);
        if unreadable_references {
            self.counters.warnings.push(Warning::References { node: id.clone() });
        }
        if let Some(role) = role
            && !is_usual_role(&role)
        {
            self.counters.warnings.push(Warning::Role { node: id.clone(), role });
        }
        self.note("add", &id, "");
        Ok(Added { id, core })
    }

    /// Returns the parent of a target, creating the head's core if needed, and the id of that core.
    pub(crate) fn parent_of(&mut self, target: &Target) -> (NodeKey, Option<String>) {
        match target.parent {
            Parent::Node(key) => (key, None),
            Parent::NewCore => {
                let (key, id) = self.create_core();
                (key, Some(id))
            }
        }
    }

    fn check_limits(
        &self,
        node: &NewNode,
        node_type: &str,
        target: &Target,
    ) -> Result<(), OpError> {
        let limits = &self.settings.limits;
        let name = node.id.as_deref().unwrap_or(node_type);
        let limit = |limit, value: usize| OpError::Limit {
            limit,
            value: value as u64,
            at: name.chars().take(80).collect(),
        };
        let names = [&node.id, &node.role, &node.kind, &node.key];
        let attributes = node.attributes.iter().map(|(name, _)| name.len());
        let names = names.into_iter().flatten().map(String::len).chain([node_type.len()]);
        let longest = names.chain(attributes).max();
        if longest.is_some_and(|longest| longest > limits.max_name_bytes) {
            return Err(limit("max_name_bytes", limits.max_name_bytes));
        }
        if node.attributes.len() > limits.max_attributes {
            return Err(limit("max_attributes", limits.max_attributes));
        }
        if node.ttl.is_some_and(|ttl| ttl > MAX_TTL) {
            return Err(OpError::Limit { limit: "max_ttl", value: 1 << 30, at: name.to_owned() });
        }
        if node.content.is_longer_than(limits.max_content_bytes) {
            return Err(limit("max_content_bytes", limits.max_content_bytes));
        }
        if self.node_count() >= limits.max_nodes {
            return Err(limit("max_nodes", limits.max_nodes));
        }
        let depth = match target.parent {
            Parent::NewCore => 4,
            Parent::Node(key) => {
                let parent = self.draft.view().at(key);
                parent.map_or(0, |parent| parent.ancestors().count() + 2)
            }
        };
        let max_depth = limits.max_depth.min(Limits::DEEPEST);
        if depth > max_depth {
            return Err(limit("max_depth", max_depth));
        }
        Ok(())
    }

    /// Returns whether an id is reserved, or used in the working tree or in the last snapshot.
    pub(crate) fn is_taken(&self, id: &str) -> bool {
        matches!(id, "" | "^root" | "^sys" | "^seq" | "^ah")
            || self.draft.view().get(id).is_some()
            || self.last.is_some_and(|last| last.view().get(id).is_some())
            // What expired or was pruned for a running call is back if the call is canceled.
            || self.running.is_some_and(|call| call.before().get(id).is_some())
    }

    /// Assigns stamps to a node that was put before others, and to these others, in their order.
    pub(crate) fn rotate(&mut self, key: NodeKey, own: crate::work::Stamp, followers: &[NodeKey]) {
        if followers.is_empty() {
            return;
        }
        let view = self.draft.view();
        let mut stamps: Vec<(i64, u32)> = followers
            .iter()
            .filter_map(|key| view.at(*key))
            .map(|node: NodeRef<'_>| (node.created_at_ns(), node.creation_index()))
            .collect();
        stamps.push((own.nanoseconds, own.index));
        stamps.sort_unstable();
        for (key, (nanoseconds, index)) in std::iter::once(&key).chain(followers).zip(stamps) {
            self.draft.restamp(*key, nanoseconds, index);
        }
    }
}

/// Checks everything about a new node that does not depend on its place.
fn check_new(node: &NewNode, class: Class) -> Result<(), OpError> {
    let name = node.id.as_deref().unwrap_or_default();
    if node.ttl.is_some_and(i64::is_negative) {
        return Err(OpError::placement(Reason::NegativeTtl, name));
    }
    if let Some((attribute, _)) = node.attributes.iter().find(|(name, _)| is_reserved(name)) {
        return Err(OpError::placement(Reason::ReservedName, attribute));
    }
    node.attributes.iter().try_for_each(|(name, _)| check_namespace(name))?;
    if class.is_container() && node.content != Content::Absent {
        return Err(OpError::placement(Reason::ContentOnContainer, name));
    }
    if !class.is_container() && node.removable {
        return Err(OpError::placement(Reason::RemovableBlock, name));
    }
    Ok(())
}

/// Returns the content and attributes of a new node.
fn body(node: NewNode) -> Body {
    let mut attributes: Object = node.attributes.into_iter().collect();
    let texts = [
        ("key", node.key),
        ("provenance", node.provenance),
        ("mime", node.mime),
        ("encoding", node.encoding),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            attributes.insert(name, Value::from(text));
        }
    }
    if !node.tags.is_empty() {
        let tags = node.tags.into_iter().map(Value::from).collect();
        attributes.insert("tags", Value::Array(tags));
    }
    Body::new(node.content, attributes)
}
