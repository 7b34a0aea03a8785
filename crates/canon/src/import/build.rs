//! Builds a tree from checked nodes.

use contextree_json::Value;
use contextree_tree::{
    Body, Builder, Class, Content, Cycle, DuplicateId, Header, NodeData, Region, RowNumber, Scalar,
    Vocabulary, time,
};

use super::check::class_of;
use super::read::Document;
use super::{DocNode, Issues};
use crate::error::{DocumentError, Issue, codes};
use crate::limits::Limits;

pub(super) fn builder(
    document: Document,
    limits: &Limits,
    next_cycle: Cycle,
) -> Result<Builder, DocumentError> {
    let mut issues = Issues::default();
    for node in &document.nodes {
        check_limits(node, document.bytes, limits, &mut issues);
    }
    issues.into_result()?;
    let mut nodes: Vec<Option<DocNode>> = document.nodes.into_iter().map(Some).collect();
    // The handle of each node of the document.
    let mut handles = vec![RowNumber::default(); nodes.len()];
    let region_of: Vec<Option<Region>> = nodes
        .iter()
        .map(|node| {
            let node = node.as_ref()?;
            (node.parent == Some(0))
                .then(|| Region::from_word(node.node_type.as_deref()?))
                .flatten()
        })
        .collect();
    let root = nodes[0].take();
    let mut taken: Vec<String> = nodes
        .iter()
        .flatten()
        .filter_map(|node| node.id.as_deref())
        .filter(|id| ["root", "sys", "seq", "ah"].iter().any(|word| id.starts_with(word)))
        .map(str::to_owned)
        .collect();
    let root = root.map(|mut root| {
        let id = root.id.get_or_insert_with(|| free("root", &taken).into());
        taken.push(id.to_string());
        node_data(root, next_cycle)
    });
    let regions = Region::ALL.map(|region| {
        let found = region_of.iter().position(|found| *found == Some(region));
        match found.and_then(|index| {
            handles[index] = RowNumber::of_region(region);
            nodes[index].take()
        }) {
            Some(node) => node_data(node, next_cycle),
            None => implied(region, &taken),
        }
    });
    let root = root.unwrap_or_else(|| NodeData::new("root", "^root"));
    let mut builder = Builder::new(root, regions).map_err(|duplicate| twice(&duplicate, 0))?;
    for index in 1..nodes.len() {
        let Some(node) = nodes[index].take() else { continue };
        let parent = handles[node.parent.unwrap_or(0)];
        let offset = node.offset_in_text;
        handles[index] = builder
            .push(parent, node_data(node, next_cycle))
            .map_err(|duplicate| twice(&duplicate, offset))?;
    }
    Ok(builder)
}

fn twice(DuplicateId(id): &DuplicateId, offset: usize) -> DocumentError {
    DocumentError::Invalid(vec![Issue {
        code: codes::PLACEMENT,
        reason: "duplicate_id",
        message: format!("duplicate id `{id}`"),
        node: id.to_string(),
        offset,
    }])
}

pub(crate) fn check_limits(node: &DocNode, document: usize, limits: &Limits, issues: &mut Issues) {
    let names = [&node.id, &node.node_type, &node.role, &node.kind];
    let longest = names.into_iter().flatten().map(|name| name.len()).max().unwrap_or(0);
    let longest_attribute = node.attributes.keys().map(str::len).max().unwrap_or(0);
    if longest.max(longest_attribute) > limits.max_name_bytes {
        let message = format!("a name is longer than {} bytes", limits.max_name_bytes);
        issues.add(node, codes::LIMIT, "name_too_long", message);
    }
    if node.attributes.len() > limits.max_attributes {
        let message = format!("a node has more than {} attributes", limits.max_attributes);
        issues.add(node, codes::LIMIT, "too_many_attributes", message);
    }
    let too_large = match &node.content {
        Content::Text(text) => text.len() > limits.max_content_bytes,
        // A byte of the text becomes at most six bytes of canonical JSON, so most documents need
        // not be measured.
        _ => {
            document.saturating_mul(6) > limits.max_content_bytes
                && node.content.byte_len() > limits.max_content_bytes
        }
    };
    if too_large {
        let message = format!("the content is larger than {} bytes", limits.max_content_bytes);
        issues.add(node, codes::LIMIT, "content_too_large", message);
    }
}

/// Returns a region that a lenient document lacks.
fn implied(region: Region, taken: &[String]) -> NodeData {
    let id = free(region.word().trim_start_matches('^'), taken);
    let mut data = NodeData::new(&id, region.word());
    data.creation_index = region as u32;
    data
}

/// Returns the word, or the word with the first number that makes it unused.
fn free(word: &str, taken: &[String]) -> String {
    std::iter::once(word.to_owned())
        .chain((2..).map(|count| format!("{word}~{count}")))
        .find(|id| !taken.contains(id))
        .expect("an unused name exists")
}

/// Converts a node of a document for a tree whose next commit has this number.
pub(crate) fn node_data(mut node: DocNode, next_cycle: Cycle) -> NodeData {
    let class = class_of(&node);
    let missing = Header::REQUIRED.into_iter().filter(|header| !node.has(*header)).collect();
    let default_type = match class {
        Class::Root => "^root",
        _ => Vocabulary::Message.block(),
    };
    let id = node.id.take().unwrap_or_else(|| "root".into());
    let mut data = NodeData::new(&id, node.node_type.as_deref().unwrap_or(default_type));
    data.offset = node.offset.unwrap_or(Scalar::ZERO);
    data.priority = node.priority.unwrap_or(Scalar::ZERO);
    match node.ttl.flatten() {
        // The root and the regions never expire; the document's ttl is kept for the export.
        Some(ttl) if matches!(class, Class::Root | Class::Region) => {
            node.attributes.insert(Header::Ttl.name(), Value::from(ttl));
        }
        ttl => data.expires = ttl.map(|ttl| next_cycle.plus(ttl)),
    }
    data.cycle = node.cycle.unwrap_or_default();
    data.created_at_ns = node.created_at_ns.unwrap_or(0);
    data.creation_index = node.creation_index.unwrap_or(0);
    if let Some(iso) = node.created_at_iso.take()
        && *iso != *time::iso(data.created_at_ns)
    {
        node.attributes.insert(Header::CreatedAtIso.name(), Value::String(iso));
    }
    data.role = node.role;
    data.kind = node.kind;
    data.removable = node.removable;
    data.pinned = node.pinned;
    // The root always has its regions, even if the document lacks them.
    data.shows_children = Some(node.has_children || class == Class::Root);
    data.missing = missing;
    data.body = Body::new(node.content, node.attributes);
    data
}
