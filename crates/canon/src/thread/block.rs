//! One block as an object of the thread.

use contextree_json::write;
use contextree_tree::{Content, NodeRef, Region};

/// Returns the role that a block without one is rendered with: `system` in `^sys`, `user` elsewhere.
#[must_use]
pub fn default_role(region: Option<Region>) -> &'static str {
    match region {
        Some(Region::Sys) => "system",
        _ => "user",
    }
}

/// Appends the object of a block: `id`, `role`, `kind`, `content`, in this order.
///
/// A missing kind is left out, missing content is an empty text. The stored node is not touched by these defaults.
pub fn write_block(out: &mut Vec<u8>, node: NodeRef<'_>, region: Option<Region>) {
    out.extend_from_slice(b"{\"id\":");
    write::string(out, node.id());
    out.extend_from_slice(b",\"role\":");
    write::string(out, node.role().unwrap_or(default_role(region)));
    if let Some(kind) = node.kind() {
        out.extend_from_slice(b",\"kind\":");
        write::string(out, kind);
    }
    out.extend_from_slice(b",\"content\":");
    match node.content() {
        Content::Absent => out.extend_from_slice(b"\"\""),
        Content::Text(text) => write::string(out, text),
        Content::Json(value) => write::value(out, value),
    }
    out.push(b'}');
}
