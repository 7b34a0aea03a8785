//! Moves a node, within a region or to another.

use contextree_canon::Limits;
use contextree_tree::{Body, Class, Header, NodeData, NodeKey, NodeRef};

use super::{Outcome, Place};
use crate::clock::IdRole;
use crate::error::{OpError, Reason};
use crate::place::{Parent, Subject, Target, in_sealed_core, is_sealed, resolve};
use crate::work::Work;

impl Work<'_> {
    pub(crate) fn move_node(&mut self, name: &str, place: &Place) -> Result<Outcome, OpError> {
        let node = self.ordinary(name)?;
        if node.class() == Class::Turn {
            return Err(OpError::placement(Reason::TurnOutsideSequence, name));
        }
        if in_sealed_core(node) {
            return Err(OpError::sealed(name));
        }
        let subject = Subject {
            class: node.class(),
            namespaced: node.node_type().contains(':'),
            name,
            moving: Some(node),
        };
        let target = resolve(self.draft.view(), place, subject)?;
        let own_place = node.parent().map(|parent| Parent::Node(parent.key_of()));
        let (key, sealed) = (node.key_of(), is_sealed(node));
        // The offset of a node that stays with its parent is frozen: a sealed node keeps it, also on
        // a way through another parent, and an active one is created again.
        let shifts = own_place == Some(target.parent) && target.offset != node.offset();
        if sealed && (shifts || self.returns_elsewhere(node, &target)) {
            return Err(OpError::sealed(name));
        }
        if target.becomes_core && (node.is_removable() || node.ttl().is_some()) {
            return Err(OpError::placement(Reason::CoreLifecycle, name));
        }
        self.check_depth(node, &target)?;
        let from = node.region();
        let (parent, core) = self.parent_of(&target);
        let to = self
            .draft
            .view()
            .at(parent)
            .and_then(|parent| parent.as_region().or_else(|| parent.region()));
        let mut renamed = Vec::new();
        if from != to && sealed {
            self.recreate(key, parent, &target, &mut renamed);
        } else {
            let restamped = ((target.by_cue || shifts) && !sealed).then(|| self.stamp());
            self.draft.relocate(key, parent, target.offset);
            if let Some(stamp) = restamped {
                self.draft.restamp(key, stamp.nanoseconds, stamp.index);
                self.rotate(key, stamp, &target.rotate);
            }
            if from != to {
                self.recreate_sealed_below(key, &mut renamed);
            }
            if target.becomes_core {
                self.gather(key);
            }
        }
        self.note("move", name, "");
        Ok(Outcome::Moved { renamed, core })
    }

    /// Returns whether a place is at another offset with the parent that a node has in the newest
    /// snapshot. A diff would show a node that only changed its offset.
    fn returns_elsewhere(&self, node: NodeRef<'_>, target: &Target) -> bool {
        let Parent::Node(parent) = target.parent else { return false };
        let Some(before) = self.last.and_then(|last| last.view().get(node.id())) else {
            return false;
        };
        let parent = self.draft.view().at(parent).map(NodeRef::id);
        parent == before.parent_id() && target.offset != before.offset()
    }

    fn check_depth(&self, node: NodeRef<'_>, target: &Target) -> Result<(), OpError> {
        let height = node.subtree().map(|(depth, _)| depth).max().unwrap_or(0);
        let above = match target.parent {
            Parent::NewCore => 3,
            Parent::Node(key) => {
                self.draft.view().at(key).map_or(0, |parent| parent.ancestors().count() + 1)
            }
        };
        let limit = self.settings.limits.max_depth.min(Limits::DEEPEST);
        if above + 1 + height > limit {
            let at = node.id().to_owned();
            return Err(OpError::Limit { limit: "max_depth", value: limit as u64, at });
        }
        Ok(())
    }

    /// Recreates a sealed node and its subtree at another place, and removes the old ones.
    fn recreate(
        &mut self,
        key: NodeKey,
        parent: NodeKey,
        target: &Target,
        renamed: &mut Vec<(String, String)>,
    ) {
        let view = self.draft.view();
        let Some(node) = view.at(key) else { return };
        let copies: Vec<(NodeKey, Option<NodeKey>, NodeData)> = node
            .subtree()
            .map(|(_, node)| (node.key_of(), node.parent().map(NodeRef::key_of), copy_of(node)))
            .collect();
        let mut new_keys: Vec<(NodeKey, NodeKey)> = Vec::new();
        for (index, (old, old_parent, mut data)) in copies.into_iter().enumerate() {
            let stamp = self.stamp();
            let is_top = index == 0;
            let class = Class::of(&data.node_type);
            let role = IdRole::of(class, is_top && target.becomes_core);
            let before = data.id.clone();
            data.id = self.make_id(role, stamp.index).into();
            stamp.put(&mut data, self.cycle());
            let under = if is_top {
                data.offset = target.offset;
                parent
            } else {
                old_parent
                    .and_then(|old| new_keys.iter().find(|(key, _)| *key == old))
                    .map_or(parent, |(_, new)| *new)
            };
            renamed.push((before.into(), data.id.to_string()));
            let new = self.draft.insert(under, data);
            if is_top {
                if target.becomes_core {
                    self.gather(new);
                }
                self.rotate(new, stamp, &target.rotate);
            }
            new_keys.push((old, new));
        }
        self.draft.remove(key);
    }

    /// Recreates sealed nodes below an active node that was moved to another region.
    fn recreate_sealed_below(&mut self, key: NodeKey, renamed: &mut Vec<(String, String)>) {
        loop {
            let view = self.draft.view();
            let Some(node) = view.at(key) else { return };
            let sealed = node.subtree().map(|(_, node)| node).find(|node| is_sealed(*node));
            let Some((sealed, parent)) =
                sealed.and_then(|node| Some((node, node.parent()?.key_of())))
            else {
                return;
            };
            let target = Target {
                parent: Parent::Node(parent),
                offset: sealed.offset(),
                rotate: Vec::new(),
                by_cue: false,
                becomes_core: false,
            };
            let old = sealed.key_of();
            self.recreate(old, parent, &target, renamed);
        }
    }
}

/// Returns a copy of a node without its id, place and stamps.
fn copy_of(node: NodeRef<'_>) -> NodeData {
    let mut data = NodeData::new(node.id(), node.node_type());
    data.offset = node.offset();
    // A policy entry of the sealed node becomes a header of the new one.
    data.priority = node.pruning_priority();
    data.expires = node.expires();
    data.role = node.role().map(Into::into);
    data.kind = node.kind().map(Into::into);
    data.removable = node.is_removable();
    data.pinned = node.has_pin();
    if let Some(body) = node.body() {
        let mut attributes = body.attributes.clone();
        // Original header values kept by an import belong to the old node.
        for header in Header::REQUIRED {
            attributes.remove(header.name());
        }
        data.body = Body::new(body.content.clone(), attributes);
    }
    data
}
