//! Applies a record to a draft.

use contextree_tree::{Body, Class, Draft, NodeData, NodeKey, NodeRef};

use super::bytes::RecordError;
use super::put::{BodyPlace, Put};
use crate::limits::Limits;

/// Returns the body at a place.
pub type FindBody<'a> = dyn FnMut(BodyPlace) -> Result<Body, RecordError> + 'a;

fn fail(message: String) -> RecordError {
    RecordError { message, offset: 0 }
}

/// Applies a record of a commit or of work to a draft.
///
/// # Errors
///
/// If the record does not fit the draft, or a body is missing. The draft may be partially changed.
pub fn apply(
    draft: &mut Draft,
    puts: Vec<Put<'_>>,
    gone: &[&str],
    find_body: &mut FindBody<'_>,
) -> Result<(), RecordError> {
    // First the nodes that remain, so that moved nodes have left their old parents when these are
    // removed.
    for Put { parent, data } in puts {
        let (parent, own) = place(draft, parent, &data)?;
        let body = match data.body {
            BodyPlace::None | BodyPlace::Kept => Body::default(),
            elsewhere => find_body(elsewhere)?,
        };
        let is_kept = data.body == BodyPlace::Kept;
        let full = data.replace_body(body);
        match own {
            Some(own) if is_kept => draft.overwrite_headers(own, parent, full),
            Some(own) => draft.overwrite(own, parent, full),
            None => {
                let own = draft.insert(parent, full);
                if is_kept {
                    // It was removed and restored unchanged.
                    draft.overwrite_headers(own, parent, data.replace_body(Body::default()));
                }
            }
        }
    }
    for id in gone {
        // It may already have been removed with its parent, or never have existed here: a working
        // state can remove nodes that were never committed.
        if let Some(node) = draft.view().get(id) {
            if is_fixed(node.class()) {
                return Err(fail(format!("`{id}` cannot be removed")));
            }
            let key = node.key_of();
            draft.remove(key);
        }
    }
    Ok(())
}

fn is_fixed(class: Class) -> bool {
    matches!(class, Class::Root | Class::Region)
}

/// Checks the position of a node; returns the parent, and the node itself if it exists.
fn place(
    draft: &Draft,
    parent: &str,
    data: &NodeData<&str, BodyPlace>,
) -> Result<(NodeKey, Option<NodeKey>), RecordError> {
    let view = draft.view();
    let id = data.id;
    let above = view.get(parent).ok_or_else(|| fail(format!("`{parent}` is not in the tree")))?;
    let own = view.get(id);
    if is_fixed(Class::of(data.node_type)) || own.is_some_and(|node| is_fixed(node.class())) {
        return Err(fail(format!("`{id}` cannot be changed")));
    }
    let mut depth = 1;
    for ancestor in std::iter::once(above).chain(above.ancestors()) {
        depth += 1;
        if own.is_some_and(|own| own.key_of() == ancestor.key_of()) {
            return Err(fail(format!("`{id}` cannot be its own descendant")));
        }
    }
    if above.class() == Class::Root || depth > Limits::DEEPEST {
        return Err(fail(format!("`{id}` cannot be a child of `{parent}`")));
    }
    Ok((above.key_of(), own.map(NodeRef::key_of)))
}
