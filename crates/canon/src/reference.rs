//! The specification's reference serializer, applied to a raw document.

use std::cmp::Ordering;

use contextree_json::{Number, Object, Value, write};

use crate::error::{DocumentError, codes};

/// The fields that the serializer keeps, by name.
const FIELDS: [&str; 11] = [
    "content",
    "created_at_iso",
    "created_at_ns",
    "cycle",
    "id",
    "kind",
    "nodeType",
    "offset",
    "priority",
    "role",
    "ttl",
];

/// Returns the reference bytes of a node given as a document, with whatever fields it has.
///
/// # Errors
///
/// If `children` is not a list of objects, or a header that siblings are sorted by is not a number.
pub fn reference_bytes_of_document(node: &Value) -> Result<Vec<u8>, DocumentError> {
    let mut out = Vec::new();
    node_to(&mut out, node)?;
    Ok(out)
}

/// The recursion is bounded by the parser's depth limit.
fn node_to(out: &mut Vec<u8>, node: &Value) -> Result<(), DocumentError> {
    let node = object(node)?;
    out.push(b'{');
    let mut first = true;
    let mut key = |out: &mut Vec<u8>, name: &str| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write::string(out, name);
        out.push(b':');
    };
    if let Some(children) = node.get("children") {
        key(out, "children");
        out.push(b'[');
        for (index, child) in order_siblings(children)?.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            node_to(out, child)?;
        }
        out.push(b']');
    }
    for name in FIELDS {
        if let Some(value) = node.get(name) {
            key(out, name);
            write::value(out, value);
        }
    }
    out.push(b'}');
    Ok(())
}

/// Returns a list of nodes in canonical order.
///
/// # Errors
///
/// Like [`reference_bytes_of_document`].
pub fn order_siblings(siblings: &Value) -> Result<Vec<&Value>, DocumentError> {
    let Some(siblings) = siblings.as_array() else {
        return Err(invalid("`children` is not a list"));
    };
    let mut keyed = Vec::with_capacity(siblings.len());
    for sibling in siblings {
        let node = object(sibling)?;
        let id = match node.get("id") {
            None | Some(Value::Null) => "",
            Some(Value::String(id)) => id,
            Some(_) => return Err(invalid("`id` is not a string")),
        };
        let number = |name| match node.get(name) {
            None | Some(Value::Null) => Ok(Number::from_i64(0)),
            Some(Value::Number(number)) => Ok(number.clone()),
            Some(_) => Err(invalid("a header that siblings are sorted by is not a number")),
        };
        let numbers = [number("offset")?, number("created_at_ns")?, number("creation_index")?];
        keyed.push((numbers, id, sibling));
    }
    keyed.sort_by(|(left, left_id, _), (right, right_id, _)| {
        left.iter()
            .zip(right)
            .map(|(left, right)| left.compare(right))
            .find(|order| *order != Ordering::Equal)
            .unwrap_or_else(|| left_id.cmp(right_id))
    });
    Ok(keyed.into_iter().map(|(_, _, node)| node).collect())
}

fn object(value: &Value) -> Result<&Object, DocumentError> {
    value.as_object().ok_or_else(|| invalid("a node is not an object"))
}

fn invalid(message: &str) -> DocumentError {
    DocumentError::one(codes::DOCUMENT, "invalid_header", message.to_owned())
}
