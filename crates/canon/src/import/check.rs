//! Validation rules for documents.

use std::collections::BTreeMap;

use contextree_tree::{Class, Header, Region, Scalar};

use super::read::Document;
use super::{DocNode, Issues, Profile};
use crate::error::{DocumentError, codes};

/// Returns the class of a node in a document: the root for the first node, a block for a node
/// without a type.
pub(crate) fn class_of(node: &DocNode) -> Class {
    let is_root = node.parent.is_none() && node.parent_id.is_none();
    match &node.node_type {
        Some(node_type) => Class::of(node_type),
        None if is_root => Class::Root,
        None => Class::Block,
    }
}

pub(super) fn check(document: &Document, profile: Profile) -> Result<(), DocumentError> {
    let mut issues = Issues::default();
    if document.nodes.first().is_some_and(|root| class_of(root) != Class::Root) {
        let message = "the type of the root is not `^root`".to_owned();
        issues.add(&document.nodes[0], codes::PLACEMENT, "extra_region", message);
    }
    regions(document, profile, &mut issues);
    for node in &document.nodes {
        if profile == Profile::Strict {
            strict(document, node, &mut issues);
        } else if node.id.is_none() && node.parent.is_some() {
            missing(node, Header::Id, &mut issues);
        }
    }
    if profile == Profile::Strict {
        cores(document, &mut issues);
    }
    issues.into_result()
}

fn missing(node: &DocNode, header: Header, issues: &mut Issues) {
    let message = format!("the header `{}` is missing", header.name());
    issues.add(node, codes::DOCUMENT, "missing_header", message);
}

fn regions(document: &Document, profile: Profile, issues: &mut Issues) {
    let mut found = [false; 3];
    for node in &document.nodes {
        let region = node.node_type.as_deref().and_then(Region::from_word);
        match (node.parent, region) {
            (Some(0), Some(region)) if found[region as usize] => {
                let message = format!("duplicate region `{}`", region.word());
                issues.add(node, codes::PLACEMENT, "duplicate_region", message);
            }
            (Some(0), Some(region)) => found[region as usize] = true,
            (Some(0), None) => {
                let message = "the root has a child other than `^sys`, `^seq` and `^ah`".to_owned();
                issues.add(node, codes::PLACEMENT, "extra_region", message);
            }
            (Some(_), Some(region)) => {
                let message = format!("`{}` must be a child of the root", region.word());
                issues.add(node, codes::PLACEMENT, "extra_region", message);
            }
            (Some(_), None) if class_of(node) == Class::Root => {
                let message = "the document has a second root".to_owned();
                issues.add(node, codes::PLACEMENT, "extra_region", message);
            }
            _ => {}
        }
    }
    if profile == Profile::Strict {
        for region in Region::ALL.into_iter().filter(|region| !found[*region as usize]) {
            let message = format!("the region `{}` is missing", region.word());
            issues.add(&document.nodes[0], codes::PLACEMENT, "missing_region", message);
        }
    }
}

fn strict(document: &Document, node: &DocNode, issues: &mut Issues) {
    for header in Header::REQUIRED {
        if !node.has(header) {
            missing(node, header, issues);
        }
    }
    let class = class_of(node);
    let Some(parent) = node.parent.map(|parent| &document.nodes[parent]) else { return };
    let parent_class = class_of(parent);
    let in_sequence = parent.node_type.as_deref() == Some("^seq");
    let mut refuse = |reason, message: &str| {
        issues.add(node, codes::PLACEMENT, reason, message.to_owned());
    };
    match class {
        Class::Turn if !in_sequence => {
            refuse("turn_outside_sequence", "a turn must be a child of `^seq`");
        }
        Class::Container | Class::Block if in_sequence => {
            refuse("not_a_turn", "only turns can be children of `^seq`");
        }
        _ => {}
    }
    if parent_class == Class::Block {
        refuse("children_under_block", "a block cannot have children");
    }
    if class == Class::Block && node.removable {
        refuse("removable_block", "only containers can be removable");
    }
}

/// Checks that every turn has exactly one core, the head at most one, and that no block is at
/// offset 0 beside it.
fn cores(document: &Document, issues: &mut Issues) {
    let mut at_zero: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    for node in &document.nodes {
        let Some(parent) = node.parent else { continue };
        let zoned = class_of(&document.nodes[parent]) == Class::Turn
            || document.nodes[parent].node_type.as_deref() == Some("^ah");
        if !zoned || node.offset.unwrap_or(Scalar::ZERO).signum() != 0 {
            continue;
        }
        let (cores, blocks) = at_zero.entry(parent).or_default();
        match class_of(node) {
            Class::Container => {
                *cores += 1;
                if *cores == 2 {
                    let message = "the turn has a second core at offset 0".to_owned();
                    issues.add(node, codes::PLACEMENT, "second_core", message);
                }
                if node.removable || node.ttl.flatten().is_some() {
                    let message = "a core cannot have a ttl or be removable".to_owned();
                    issues.add(node, codes::PLACEMENT, "core_lifecycle", message);
                }
            }
            _ => *blocks = true,
        }
        if *cores > 0 && *blocks {
            let message = "the turn has a block at offset 0 beside the core".to_owned();
            issues.add(node, codes::PLACEMENT, "block_beside_core", message);
        }
    }
    for (index, node) in document.nodes.iter().enumerate() {
        let has_core = at_zero.get(&index).is_some_and(|(cores, _)| *cores > 0);
        if class_of(node) == Class::Turn && !has_core {
            let message = "the turn has no core at offset 0".to_owned();
            issues.add(node, codes::PLACEMENT, "missing_core", message);
        }
    }
}
