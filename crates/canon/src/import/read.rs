//! Reads nodes from text, without recursion.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use contextree_json::{Event, Object, ParseErrorKind, Reader};
use contextree_tree::Cycle;

use super::{DocNode, Issues, Profile};
use crate::error::{DocumentError, codes};
use crate::limits::Limits;
use crate::write::{DIGEST, ENDS, ENVELOPE};

/// An envelope and its nodes: parents before children, in text order.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The length of the text.
    pub(super) bytes: usize,
    pub(super) spec_version: Option<String>,
    pub(super) cycle: Option<Cycle>,
    /// The digest of the snapshot, as the document has it.
    pub(super) digest: Option<String>,
    /// It is the first line of a history that has an end.
    pub(super) ends: bool,
    pub(super) nodes: Vec<DocNode>,
}

pub(crate) fn json_limits(limits: &Limits) -> contextree_json::Limits {
    contextree_json::Limits {
        // Two brackets for each level of nodes; the rest is for nesting inside contents.
        max_depth: limits.max_depth.min(Limits::DEEPEST) * 2 + 256,
        max_bytes: limits.max_document_bytes,
        ..contextree_json::Limits::default()
    }
}

pub(super) fn read_document(
    text: &[u8],
    profile: Profile,
    limits: &Limits,
) -> Result<Document, DocumentError> {
    let mut reader = Reader::with_limits(text, &json_limits(limits));
    let mut document = Document { bytes: text.len(), ..Document::default() };
    let mut issues = Issues::default();
    let mut seen = Vec::new();
    let mut envelope = Object::new();
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        if seen.contains(&key) {
            return Err(reader.error(ParseErrorKind::DuplicateKey(key.into())).into());
        }
        match &*key {
            "root" => {
                read_nodes(&mut reader, &mut document.nodes, profile, limits, &mut issues)?;
            }
            "cycle" => {
                let cycle = reader.read_u64()?;
                document.cycle = u32::try_from(cycle).ok().map(Cycle);
                if document.cycle.is_none() {
                    let message = format!("cycle {cycle} is out of range");
                    return Err(DocumentError::one(codes::LIMIT, "number_out_of_range", message));
                }
            }
            "spec_version" => document.spec_version = Some(reader.read_string()?.into_owned()),
            DIGEST => document.digest = Some(reader.read_string()?.into_owned()),
            ENDS => document.ends = reader.read_bool()?,
            // Foreign envelopes may have more fields; they are kept for the export.
            _ => {
                let value = reader.read_value()?;
                envelope.insert(&*key, value);
            }
        }
        seen.push(key);
    }
    reader.expect_end()?;
    issues.into_result()?;
    if document.nodes.is_empty() {
        let message = "the document has no `root`".to_owned();
        return Err(DocumentError::one(codes::DOCUMENT, "missing_root", message));
    }
    if !envelope.is_empty() {
        document.nodes[0].attributes.insert(ENVELOPE, envelope.into());
    }
    Ok(document)
}

/// Reads one flat record: a pair of the parent's id and a node without children.
pub(crate) fn read_flat_node(
    reader: &mut Reader<'_>,
    profile: Profile,
    issues: &mut Issues,
) -> Result<DocNode, DocumentError> {
    reader.begin_array()?;
    if !reader.next_element()? {
        return Err(missing_node());
    }
    let parent_id = reader.read_string()?.into();
    if !reader.next_element()? {
        return Err(missing_node());
    }
    reader.begin_object()?;
    let mut node = DocNode {
        parent_id: Some(parent_id),
        offset_in_text: reader.offset(),
        ..DocNode::default()
    };
    while let Some(key) = reader.next_key()? {
        if !node.first_time(&key) {
            return Err(reader.error(ParseErrorKind::DuplicateKey(key.into())).into());
        }
        match &*key {
            "children" => {
                reader.begin_array()?;
                if reader.next_element()? {
                    let message = "a flat record cannot have children".to_owned();
                    return Err(DocumentError::one(codes::DOCUMENT, "nested_record", message));
                }
                node.has_children = true;
            }
            _ => node.read(&key, reader, profile, issues)?,
        }
    }
    if reader.next_element()? {
        return Err(missing_node());
    }
    Ok(node)
}

fn missing_node() -> DocumentError {
    let message = "a record must be a pair of the parent's id and a node".to_owned();
    DocumentError::one(codes::DOCUMENT, "wrong_type", message)
}

fn read_nodes(
    reader: &mut Reader<'_>,
    nodes: &mut Vec<DocNode>,
    profile: Profile,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<(), DocumentError> {
    reader.begin_object()?;
    let mut open = vec![start(reader, nodes, None, 1)];
    while let Some(current) = open.last().copied() {
        match reader.next_key()? {
            Some(key) => {
                let node = &mut nodes[current];
                if !node.first_time(&key) {
                    return Err(reader.error(ParseErrorKind::DuplicateKey(key.into())).into());
                }
                if key != "children" {
                    node.read(&key, reader, profile, issues)?;
                    continue;
                }
                node.has_children = true;
                reader.begin_array()?;
            }
            // The node is complete; what follows belongs to its parent's list, if it has one.
            None => {
                open.pop();
                if open.is_empty() {
                    break;
                }
            }
        }
        // Inside a list of children: another child, or the end of the list.
        if let Some(parent) = open.last().copied()
            && reader.next_element()?
        {
            match reader.next()? {
                Event::ObjectStart => {}
                _ => {
                    return Err(reader
                        .error(ParseErrorKind::UnexpectedType { expected: "an object" })
                        .into());
                }
            }
            let depth = nodes[parent].depth + 1;
            if depth > limits.max_depth.min(Limits::DEEPEST) {
                let message = format!("the tree is deeper than {} levels", limits.max_depth);
                return Err(DocumentError::one(codes::LIMIT, "too_deep", message));
            }
            if nodes.len() >= limits.max_nodes {
                let message = format!("the tree has more than {} nodes", limits.max_nodes);
                return Err(DocumentError::one(codes::LIMIT, "too_many_nodes", message));
            }
            open.push(start(reader, nodes, Some(parent), depth));
        }
    }
    Ok(())
}

fn start(
    reader: &Reader<'_>,
    nodes: &mut Vec<DocNode>,
    parent: Option<usize>,
    depth: usize,
) -> usize {
    nodes.push(DocNode { parent, depth, offset_in_text: reader.offset(), ..DocNode::default() });
    nodes.len() - 1
}
