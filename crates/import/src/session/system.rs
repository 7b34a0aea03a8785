//! The nodes of `^sys`: settings, tools, system text, and the marks of the newest request.
//!
//! They are not part of any turn. A request that changes them replaces only the nodes that differ.

use contextree_engine::{Context, NewNode, Place};
use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::set;
use contextree_tree::{Class, Region};

use super::numbers::numbered;
use super::refused;
use crate::error::ImportErrorKind;

/// A node that was added to `^sys`.
#[derive(Clone, Debug)]
struct Added {
    /// The node as it was passed in, to be compared with that of the next request.
    source: NewNode,
    id: String,
}

/// What an import has added to `^sys`.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Blocks, such as tools and system text, whose order matters.
    blocks: Vec<Added>,
    /// Groups, such as settings. They are compared apart from blocks, so that a changed setting
    /// does not replace the blocks after it.
    groups: Vec<Added>,
    /// The marks of the newest request, if it has any.
    marks: Option<Added>,
    /// The messages of the newest request that are left out or changed, next to the marks.
    left_out: Option<Value>,
    /// The blocks of system messages before any other, in a log of single messages.
    leading: Vec<NewNode>,
}

impl System {
    /// Returns whether there is no block.
    pub(super) fn has_no_blocks(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the model that the settings name.
    pub(super) fn model(&self) -> Option<&str> {
        self.all_settings().find_map(|settings| settings.get("model")?.as_str())
    }

    /// Returns all settings.
    pub(super) fn settings(&self) -> Value {
        let mut all = Object::new();
        for (name, value) in self.all_settings().flatten() {
            all.insert(name, value.clone());
        }
        Value::Object(all)
    }

    fn all_settings(&self) -> impl Iterator<Item = &Object> {
        let attributes = self.groups.iter().flat_map(|group| &group.source.attributes);
        let settings = attributes.filter(|(name, _)| name == names::SETTINGS);
        settings.filter_map(|(_, value)| value.as_object())
    }

    /// Sets settings, tools and system text. Leading nodes that did not change stay.
    pub(super) fn set(
        &mut self,
        context: &mut Context,
        nodes: Vec<NewNode>,
    ) -> Result<(), ImportErrorKind> {
        let (groups, blocks) = nodes.into_iter().partition(|node| node.node_type.is_some());
        self.groups = exchange(context, std::mem::take(&mut self.groups), groups)?;
        self.blocks = exchange(context, std::mem::take(&mut self.blocks), blocks)?;
        Ok(())
    }

    /// Notes what a stored context has. Where that is not what the nodes say, the next request replaces it.
    pub(super) fn resume(&mut self, context: &Context, nodes: Vec<NewNode>) {
        let (new_groups, new_blocks): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|node| node.node_type.is_some());
        let (mut groups, mut blocks, mut marks) = (Vec::new(), Vec::new(), None);
        for node in context.working().region(Region::Sys).children() {
            let id = node.id().to_owned();
            match node.node_type() {
                names::MARKS_TYPE => {
                    self.left_out = node.attribute(names::LEFT_OUT).cloned();
                    marks = Some(Added { source: NewNode::default(), id });
                }
                names::REQUEST_TYPE => groups.push(id),
                // Others may have added groups of their own.
                _ if node.class() == Class::Block => blocks.push(id),
                _ => {}
            }
        }
        self.groups = added(groups, new_groups);
        self.blocks = added(blocks, new_blocks);
        self.marks = marks;
    }

    /// Adds the blocks of a system message that precedes all other messages of its log.
    pub(super) fn add_leading(
        &mut self,
        context: &mut Context,
        blocks: Vec<NewNode>,
    ) -> Result<(), ImportErrorKind> {
        let number = self.leading.len() as u64;
        self.leading.extend(numbered(blocks, number));
        self.set(context, self.leading.clone())
    }

    /// Sets the marks: the breakpoints of the newest request, and the forms of its texts.
    pub(super) fn set_marks(
        &mut self,
        context: &mut Context,
        provider: Provider,
        marks: Object,
        forms: Object,
    ) -> Result<(), ImportErrorKind> {
        let mut node = NewNode::container(names::MARKS_TYPE);
        for (name, fields) in [(names::MARKS, marks), (names::FORMS, forms)] {
            if !fields.is_empty() {
                set(&mut node, name, Value::Object(fields));
            }
        }
        self.put_marks(context, provider, node)
    }

    /// Sets which messages of the newest request are left out or changed.
    pub(super) fn set_left_out(
        &mut self,
        context: &mut Context,
        provider: Provider,
        left_out: Option<Value>,
    ) -> Result<(), ImportErrorKind> {
        if self.left_out == left_out {
            return Ok(());
        }
        self.left_out = left_out;
        let mut node = NewNode::container(names::MARKS_TYPE);
        let marks = self.marks.iter().flat_map(|marks| &marks.source.attributes);
        for (name, value) in
            marks.filter(|(name, _)| [names::MARKS, names::FORMS].contains(&&**name))
        {
            set(&mut node, name, value.clone());
        }
        self.put_marks(context, provider, node)
    }

    /// Forgets which messages are left out; the next marks do without them.
    pub(super) fn forget_left_out(&mut self) {
        self.left_out = None;
    }

    fn put_marks(
        &mut self,
        context: &mut Context,
        provider: Provider,
        mut node: NewNode,
    ) -> Result<(), ImportErrorKind> {
        if let Some(left_out) = &self.left_out {
            set(&mut node, names::LEFT_OUT, left_out.clone());
        }
        let new =
            (!node.attributes.is_empty()).then(|| node.attribute(names::PROVIDER, provider.name()));
        let old = self.marks.take().into_iter().collect();
        self.marks = exchange(context, old, new.into_iter().collect())?.pop();
        Ok(())
    }
}

/// Pairs nodes with what they were made from; with none if their numbers differ.
fn added(ids: Vec<String>, sources: Vec<NewNode>) -> Vec<Added> {
    let is_same = ids.len() == sources.len();
    let mut sources = sources.into_iter().filter(|_| is_same);
    let source = |id| Added { source: sources.next().unwrap_or_default(), id };
    ids.into_iter().map(source).collect()
}

/// Returns a group that holds settings.
pub(crate) fn settings_node(settings: Object, provider: Provider) -> NewNode {
    NewNode::container(names::REQUEST_TYPE)
        .attribute(names::SETTINGS, Value::Object(settings))
        .attribute(names::PROVIDER, provider.name())
}

/// Replaces nodes of `^sys`, starting with the first that differs.
fn exchange(
    context: &mut Context,
    mut old: Vec<Added>,
    new: Vec<NewNode>,
) -> Result<Vec<Added>, ImportErrorKind> {
    let same = old.iter().zip(&new).take_while(|(old, new)| old.source == **new).count();
    for removed in old.drain(same..) {
        context.remove(&removed.id).map_err(refused)?;
    }
    for mut node in new.into_iter().skip(same) {
        let source = node.clone();
        if node.role.is_none() && node.node_type.is_none() {
            node.role = Some("system".to_owned());
        }
        // These are the oldest blocks, so a policy would prune them first.
        node.pinned = true;
        let id = context.add(Place::system(), node).map_err(refused)?;
        old.push(Added { source, id });
    }
    Ok(old)
}
