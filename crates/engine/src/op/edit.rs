//! Changes a node (content, attributes, priority, pins) or removes it.

use contextree_json::Value;
use contextree_tree::{Body, Class, Content, NodeKey, NodeRef, PolicyEntry, Scalar};

use super::names::{check_header, check_namespace, is_editable, is_reserved};
use super::{Edit, Outcome};
use crate::error::{OpError, Reason};
use crate::place::{in_sealed_core, is_sealed};
use crate::refs::is_reference_list;
use crate::report::Warning;
use crate::work::Work;

impl Work<'_> {
    /// Returns a node of the working tree that is neither the root nor a region.
    pub(crate) fn ordinary(&self, name: &str) -> Result<NodeRef<'_>, OpError> {
        let node = self
            .draft
            .view()
            .resolve(name)
            .ok_or_else(|| OpError::NodeNotFound { node: name.to_owned() })?;
        match node.class() {
            Class::Root | Class::Region => Err(OpError::placement(Reason::FixedNode, name)),
            _ => Ok(node),
        }
    }

    pub(crate) fn edit(&mut self, name: &str, edit: Edit) -> Result<Outcome, OpError> {
        let node = self.ordinary(name)?;
        let Edit { content, set, unset } = edit;
        if is_sealed(node) {
            return Err(OpError::sealed(name));
        }
        let names = || set.iter().map(|(name, _)| name).chain(&unset);
        let writes_content = content.is_some() || names().any(|name| name == "content");
        if node.class().is_container() && writes_content {
            return Err(OpError::placement(Reason::ContentOnContainer, name));
        }
        let custom = |name: &&String| !is_editable(name) && *name != "content";
        if let Some(header) = names().filter(custom).find(|name| is_reserved(name)) {
            return Err(OpError::Immutable { node: name.to_owned(), header: header.clone() });
        }
        names().filter(custom).try_for_each(|name| check_namespace(name))?;
        set.iter()
            .filter(|(name, _)| is_editable(name))
            .try_for_each(|(name, value)| check_header(name, value))?;
        let key = node.key_of();
        let mut body = node.body().map_or_else(Body::default, |body| {
            Body::new(body.content.clone(), body.attributes.clone())
        });
        let mut warnings = Vec::new();
        if let Some(content) = content {
            body.content = content;
        }
        for (name, value) in set {
            if name == "data_refs" && !is_reference_list(&value) {
                warnings.push(Warning::References { node: node.id().to_owned() });
            }
            match (name.as_str(), &value) {
                ("content", _) => body.content = Content::from(value),
                ("tags", Value::Array(tags)) if tags.is_empty() => {
                    body.attributes.remove("tags");
                }
                _ => {
                    let to = value.type_name();
                    if let Some(before) = body.attributes.insert(name.as_str(), value)
                        && before.type_name() != to
                    {
                        warnings.push(Warning::AttributeType {
                            node: node.id().to_owned(),
                            attribute: name,
                            from: before.type_name(),
                            to,
                        });
                    }
                }
            }
        }
        for name in unset {
            match name.as_str() {
                "content" => body.content = Content::Absent,
                _ => {
                    body.attributes.remove(&name);
                }
            }
        }
        let limits = &self.settings.limits;
        let limit = |limit, value: usize| {
            Err(OpError::Limit { limit, value: value as u64, at: name.to_owned() })
        };
        if body.content.is_longer_than(limits.max_content_bytes) {
            return limit("max_content_bytes", limits.max_content_bytes);
        }
        if body.attributes.len() > limits.max_attributes {
            return limit("max_attributes", limits.max_attributes);
        }
        if body.attributes.keys().any(|name| name.len() > limits.max_name_bytes) {
            return limit("max_name_bytes", limits.max_name_bytes);
        }
        self.draft.set_body(key, body);
        self.counters.warnings.extend(warnings);
        self.note("edit", name, "");
        Ok(Outcome::Changed)
    }

    pub(crate) fn remove(&mut self, name: &str) -> Result<Outcome, OpError> {
        let node = self.ordinary(name)?;
        if node.class() == Class::Turn || in_sealed_core(node) {
            return Err(OpError::sealed(name));
        }
        let key = node.key_of();
        self.note("remove", name, "");
        Ok(Outcome::Removed(self.remove_subtree(key)))
    }

    /// Removes a node and its subtree; returns the ids in document order.
    pub(crate) fn remove_subtree(&mut self, key: NodeKey) -> Vec<String> {
        let gone = match self.draft.view().at(key) {
            Some(node) => node.subtree().map(|(_, node)| node.id().to_owned()).collect(),
            None => return Vec::new(),
        };
        self.draft.remove(key);
        gone
    }

    pub(crate) fn set_priority(
        &mut self,
        name: &str,
        priority: i64,
        policy: &str,
    ) -> Result<Outcome, OpError> {
        let node = self.ordinary(name)?;
        if policy.is_empty() {
            return Err(OpError::Immutable { node: name.to_owned(), header: "priority".into() });
        }
        let (key, entry, priority) = (node.key_of(), node.policy(), Scalar::Int(priority));
        if is_sealed(node) {
            let entry = PolicyEntry { priority: Some(priority), ..entry };
            self.draft.set_policy(key, entry);
        } else {
            self.draft.set_policy(key, PolicyEntry { priority: None, ..entry });
            self.draft.set_priority(key, priority);
        }
        self.note("set_priority", name, policy);
        Ok(Outcome::Changed)
    }

    pub(crate) fn set_pinned(&mut self, name: &str, pinned: bool) -> Result<Outcome, OpError> {
        let node = self.ordinary(name)?;
        let (key, entry) = (node.key_of(), node.policy());
        if is_sealed(node) {
            let entry = PolicyEntry { pinned: Some(pinned), ..entry };
            self.draft.set_policy(key, entry);
        } else {
            self.draft.set_policy(key, PolicyEntry { pinned: None, ..entry });
            self.draft.set_pinned(key, pinned);
        }
        self.note(if pinned { "pin" } else { "unpin" }, name, "");
        Ok(Outcome::Changed)
    }
}
