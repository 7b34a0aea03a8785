//! The operations on the working tree, each with its refusals in the order of the contract.

use contextree_json::Value;

use super::place::{Candidate, target};
use super::state::{Outcome, State, invalid, refusal};
use super::tree::{Class, Node, class, is_core_type};
use crate::script::{NodeSpec, Place, Refusal};

/// The headers that an edit may set or unset, besides content and custom attributes.
const EDITABLE: [&str; 5] = ["key", "tags", "provenance", "mime", "encoding"];

/// All names that a custom attribute must not have.
const RESERVED: [&str; 24] = [
    "id",
    "nodeType",
    "offset",
    "ttl",
    "priority",
    "cycle",
    "created_at_ns",
    "created_at_iso",
    "creation_index",
    "role",
    "kind",
    "key",
    "tags",
    "tag",
    "type",
    "content",
    "content_hash",
    "children",
    "parent",
    "removable",
    "pinned",
    "provenance",
    "mime",
    "encoding",
];

impl State {
    /// Adds a node.
    pub(crate) fn add(&mut self, place: &Place, spec: &NodeSpec) -> Result<Outcome, Refusal> {
        let node_type = spec.node_type.as_deref().unwrap_or("block");
        check_spec(node_type, spec)?;
        let stamp = self.coming_stamp();
        let candidate = Candidate { node_type, offset: 0, moved: None, stamp, is_new: true };
        let spot = self.spot(place, &candidate)?;
        let is_core = spot.parent.as_deref() == Some("ah") && spot.offset == 0;
        if is_core && (spec.ttl.is_some() || spec.removable) {
            return Err(invalid("core_lifecycle"));
        }
        let parent = match &spot.parent {
            Some(parent) => parent.clone(),
            None => self.create_core(),
        };
        // The core that was just created may have taken the explicit id.
        if spec.id.as_deref().is_some_and(|id| self.is_taken(id)) {
            return Err(invalid("duplicate_id"));
        }

        let mut node = Node::bare("", node_type, Some(&parent));
        self.stamp(&mut node);
        node.id = match &spec.id {
            Some(id) => id.clone(),
            None => self.made_id(node.class(), is_core, node.creation_index),
        };
        node.offset = spot.offset;
        node.ttl = spec.ttl;
        node.priority = spec.priority;
        node.role = spec.role.clone();
        node.kind = spec.kind.clone();
        node.key = spec.key.clone();
        node.tags = spec.tags.clone();
        node.provenance = spec.provenance.clone();
        node.content = spec.content.clone();
        node.removable = spec.removable;
        node.pinned = spec.pinned;
        node.attributes = spec.attributes.iter().cloned().collect();
        let id = node.id.clone();
        self.tree.nodes.insert(id.clone(), node);
        if is_core {
            self.gather(&id);
        }
        self.rotate(&id, &spot.followers);
        Ok(Outcome::Added(id))
    }

    /// Changes an active node.
    pub(crate) fn edit(
        &mut self,
        name: &str,
        content: Option<&Value>,
        set: &[(String, Value)],
        unset: &[String],
    ) -> Result<Outcome, Refusal> {
        let id = self.find(name)?;
        self.check_not_fixed(&id)?;
        if self.is_sealed(self.tree.node(&id)) {
            return Err(self.sealed(&id));
        }
        let names: Vec<&str> = set
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(unset.iter().map(String::as_str))
            .collect();
        let is_container = self.tree.node(&id).class() == Class::Container;
        if is_container && (content.is_some() || names.contains(&"content")) {
            return Err(invalid("content_on_container"));
        }
        let custom: Vec<&str> = names
            .into_iter()
            .filter(|name| *name != "content" && !EDITABLE.contains(name))
            .collect();
        if custom.iter().any(|name| RESERVED.contains(name)) {
            return Err(refusal("E_IMMUTABLE"));
        }
        if !custom.iter().all(|name| is_namespaced(name)) {
            return Err(invalid("attribute_not_namespaced"));
        }

        let node = self.tree.node_mut(&id);
        if let Some(content) = content {
            node.content = Some(content.clone());
        }
        for (name, value) in set {
            set_header(node, name, value)?;
        }
        for name in unset {
            unset_header(node, name);
        }
        Ok(Outcome::Done)
    }

    /// Removes a node and its descendants.
    pub(crate) fn remove(&mut self, name: &str) -> Result<Outcome, Refusal> {
        let id = self.find(name)?;
        self.check_not_fixed(&id)?;
        if self.tree.node(&id).class() == Class::Turn || self.tree.in_sealed_core(&id) {
            return Err(self.sealed(&id));
        }
        self.check_not_sent(&id)?;
        self.tree.remove_subtree(&id);
        Ok(Outcome::Done)
    }

    /// Moves a node and its descendants.
    pub(crate) fn relocate(&mut self, name: &str, place: &Place) -> Result<Outcome, Refusal> {
        let id = self.find(name)?;
        self.check_not_fixed(&id)?;
        let node = self.tree.node(&id).clone();
        if node.class() == Class::Turn {
            return Err(invalid("turn_outside_sequence"));
        }
        if self.tree.in_sealed_core(&id) {
            return Err(self.sealed(&id));
        }
        self.check_not_sent(&id)?;
        let subtree = self.tree.subtree_ids(&id);
        let target = self.tree.resolve(target(place));
        if target.as_ref().is_some_and(|target| subtree.contains(target)) {
            return Err(invalid("cycle"));
        }

        let crosses =
            target.is_some_and(|target| self.tree.region(&target) != self.tree.region(&id));
        let keeps_stamp = self.is_sealed(&node) && !crosses;
        let own_stamp = (node.created_at_ns, node.creation_index);
        let candidate = Candidate {
            node_type: &node.node_type,
            offset: node.offset,
            moved: Some(&id),
            stamp: if keeps_stamp { own_stamp } else { self.coming_stamp() },
            is_new: !keeps_stamp,
        };
        let spot = self.spot(place, &candidate)?;
        let shifts = spot.parent == node.parent && spot.offset != node.offset;
        let returns_elsewhere = self
            .committed
            .get(&id)
            .is_some_and(|(parent, offset)| *parent == spot.parent && *offset != spot.offset);
        if (shifts || returns_elsewhere) && self.is_sealed(&node) {
            return Err(self.sealed(&id));
        }
        let is_core = spot.parent.as_deref() == Some("ah") && spot.offset == 0;
        if is_core && (node.ttl.is_some() || node.removable) {
            return Err(invalid("core_lifecycle"));
        }

        let parent = match &spot.parent {
            Some(parent) => parent.clone(),
            None => self.create_core(),
        };
        let mut moved = node.clone();
        moved.parent = Some(parent);
        moved.offset = spot.offset;
        if (shifts || matches!(place, Place::Cue { .. })) && !self.is_sealed(&node) {
            self.stamp(&mut moved);
        }
        self.tree.nodes.insert(id.clone(), moved);

        let renamed = if crosses { self.recreate(&id, &subtree) } else { Vec::new() };
        let id = renamed.iter().find(|(old, _)| *old == id).map_or(id, |(_, new)| new.clone());
        if is_core {
            self.gather(&id);
        }
        self.rotate(&id, &spot.followers);
        Ok(Outcome::Moved(renamed))
    }

    /// Changes a priority on behalf of a policy.
    pub(crate) fn set_priority(
        &mut self,
        name: &str,
        priority: i64,
        policy: &str,
    ) -> Result<Outcome, Refusal> {
        let id = self.find(name)?;
        self.check_not_fixed(&id)?;
        if policy.is_empty() {
            return Err(refusal("E_IMMUTABLE"));
        }
        let sealed = self.is_sealed(self.tree.node(&id));
        let node = self.tree.node_mut(&id);
        if sealed {
            node.policy_priority = Some(priority);
        } else {
            (node.priority, node.policy_priority) = (priority, None);
        }
        Ok(Outcome::Done)
    }

    /// Pins or unpins a node.
    pub(crate) fn set_pinned(&mut self, name: &str, pinned: bool) -> Result<Outcome, Refusal> {
        let id = self.find(name)?;
        self.check_not_fixed(&id)?;
        let sealed = self.is_sealed(self.tree.node(&id));
        let node = self.tree.node_mut(&id);
        if sealed {
            node.policy_pin = Some(pinned);
        } else {
            (node.pinned, node.policy_pin) = (pinned, None);
        }
        Ok(Outcome::Done)
    }

    /// Takes a handle on a node.
    pub(crate) fn retain(&mut self, name: &str) -> Result<Outcome, Refusal> {
        let id = self.find(name)?;
        *self.handles.entry(id).or_insert(0) += 1;
        Ok(Outcome::Done)
    }

    /// Drops a handle on a node, if there is one; the node itself may have been removed.
    pub(crate) fn release(&mut self, name: &str) -> Result<Outcome, Refusal> {
        let id = self.tree.resolve(name).unwrap_or_else(|| name.to_owned());
        if let Some(count) = self.handles.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.handles.remove(&id);
            }
        }
        Ok(Outcome::Done)
    }

    fn find(&self, name: &str) -> Result<String, Refusal> {
        self.tree.resolve(name).ok_or_else(|| refusal("E_NODE_NOT_FOUND"))
    }

    fn check_not_fixed(&self, id: &str) -> Result<(), Refusal> {
        match self.tree.node(id).class() {
            Class::Fixed => Err(invalid("fixed_node")),
            _ => Ok(()),
        }
    }

    /// Gives new ids and stamps to every node in a moved subtree that was sealed or has a sealed
    /// ancestor there: no id may appear in two regions.
    fn recreate(&mut self, top: &str, subtree: &[String]) -> Vec<(String, String)> {
        let mut renamed: Vec<(String, String)> = Vec::new();
        let mut created: Vec<Node> = Vec::new();
        for old in subtree {
            let mut node = self.tree.node(old).clone();
            let parent = node.parent.as_ref().filter(|_| old != top);
            let new_parent =
                parent.and_then(|parent| renamed.iter().find(|(old, _)| old == parent));
            if !self.is_sealed(&node) && new_parent.is_none() {
                continue;
            }
            if let Some((_, new_parent)) = new_parent {
                node.parent = Some(new_parent.clone());
            }
            let is_core = self.tree.is_core(self.tree.node(old));
            node.pinned = node.has_pin();
            node.priority = node.policy_priority.unwrap_or(node.priority);
            (node.policy_pin, node.policy_priority) = (None, None);
            self.stamp(&mut node);
            node.id = self.made_id(node.class(), is_core, node.creation_index);
            renamed.push((old.clone(), node.id.clone()));
            created.push(node);
        }
        for (old, _) in &renamed {
            self.tree.nodes.remove(old);
        }
        for node in created {
            self.tree.nodes.insert(node.id.clone(), node);
        }
        renamed
    }

    /// Redistributes the stamps of a node and its followers, so that the node comes first.
    fn rotate(&mut self, id: &str, followers: &[String]) {
        let mut order = vec![id.to_owned()];
        order.extend(followers.iter().cloned());
        let mut stamps: Vec<(u64, u64)> = order
            .iter()
            .map(|id| self.tree.node(id))
            .map(|node| (node.created_at_ns, node.creation_index))
            .collect();
        stamps.sort_unstable();
        for (id, stamp) in order.iter().zip(stamps) {
            let node = self.tree.node_mut(id);
            (node.created_at_ns, node.creation_index) = stamp;
        }
    }
}

/// Checks the refusals of an addition that do not depend on the tree.
fn check_spec(node_type: &str, spec: &NodeSpec) -> Result<(), Refusal> {
    let class = class(node_type);
    let sides = node_type.split_once(':');
    let is_word = is_core_type(node_type) || ["mt", "seg", "cb", "block"].contains(&node_type);
    let names = || spec.attributes.iter().map(|(name, _)| name.as_str());
    let refusals = [
        (class == Class::Fixed, "extra_region"),
        (class == Class::Turn, "turn_outside_sequence"),
        (
            sides.map_or(!is_word, |(left, right)| left.is_empty() || right.is_empty()),
            "type_not_namespaced",
        ),
        (spec.ttl.is_some_and(|ttl| ttl < 0), "negative_ttl"),
        (names().any(|name| RESERVED.contains(&name)), "reserved_name"),
        (!names().all(is_namespaced), "attribute_not_namespaced"),
        (class == Class::Container && spec.content.is_some(), "content_on_container"),
        (class == Class::Block && spec.removable, "removable_block"),
    ];
    match refusals.into_iter().find(|(holds, _)| *holds) {
        Some((_, reason)) => Err(invalid(reason)),
        None => Ok(()),
    }
}

/// Returns whether this is a valid name of a custom attribute.
fn is_namespaced(name: &str) -> bool {
    let inside =
        name.split_once(':').is_some_and(|(left, right)| !left.is_empty() && !right.is_empty());
    name.starts_with("data_") || name.starts_with("content_") || inside
}

/// Sets one editable header or attribute.
fn set_header(node: &mut Node, name: &str, value: &Value) -> Result<(), Refusal> {
    let text = || value.as_str().map(str::to_owned).ok_or_else(|| invalid("header_not_text"));
    match name {
        "content" => node.content = Some(value.clone()),
        "key" => node.key = Some(text()?),
        "provenance" => node.provenance = Some(text()?),
        "mime" => node.mime = Some(text()?),
        "encoding" => node.encoding = Some(text()?),
        "tags" => {
            let tags = value.as_array().ok_or_else(|| invalid("header_not_text"))?;
            let tags = tags.iter().map(|tag| tag.as_str().map(str::to_owned));
            node.tags = tags.collect::<Option<_>>().ok_or_else(|| invalid("header_not_text"))?;
        }
        _ => {
            node.attributes.insert(name.to_owned(), value.clone());
        }
    }
    Ok(())
}

/// Unsets one editable header or attribute; it may be missing.
fn unset_header(node: &mut Node, name: &str) {
    match name {
        "content" => node.content = None,
        "key" => node.key = None,
        "provenance" => node.provenance = None,
        "mime" => node.mime = None,
        "encoding" => node.encoding = None,
        "tags" => node.tags.clear(),
        _ => {
            node.attributes.remove(name);
        }
    }
}
