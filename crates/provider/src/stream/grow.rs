//! A JSON value that grows event by event.

use std::collections::BTreeMap;

use contextree_json::{Object, Value};

use crate::read::Shape;

/// A value under construction. Its texts grow in place: a text of a thousand pieces is not copied a thousand times.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Growing {
    Text(String),
    List(Vec<Growing>),
    Object(Fields),
    /// Anything that does not grow.
    Other(Value),
}

pub(super) type Fields = BTreeMap<String, Growing>;

impl From<Value> for Growing {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Growing::Text(text.into()),
            Value::Array(list) => Growing::List(list.into_iter().map(Growing::from).collect()),
            Value::Object(object) => Growing::Object(fields(object)),
            other => Growing::Other(other),
        }
    }
}

impl From<Growing> for Value {
    fn from(growing: Growing) -> Self {
        match growing {
            Growing::Text(text) => Value::String(text.into()),
            Growing::List(list) => Value::Array(list.into_iter().map(Value::from).collect()),
            Growing::Object(fields) => Value::Object(object(fields)),
            Growing::Other(value) => value,
        }
    }
}

/// Returns the fields of an object.
pub(super) fn fields(object: Object) -> Fields {
    object.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Returns the object of these fields.
pub(super) fn object(fields: Fields) -> Object {
    fields.into_iter().map(|(name, value)| (name, Value::from(value))).collect()
}

/// Appends to a text of an object; a missing or null one is created.
pub(super) fn append(fields: &mut Fields, name: &str, more: &str) {
    match fields.get_mut(name) {
        Some(Growing::Text(text)) => text.push_str(more),
        _ => drop(fields.insert(name.to_owned(), Growing::Text(more.to_owned()))),
    }
}

/// Returns a list of an object; a missing or null one is created.
pub(super) fn list<'a>(fields: &'a mut Fields, name: &str) -> Result<&'a mut Vec<Growing>, Shape> {
    let slot = fields.entry(name.to_owned()).or_insert(Growing::Other(Value::Null));
    if *slot == Growing::Other(Value::Null) {
        *slot = Growing::List(Vec::new());
    }
    match slot {
        Growing::List(list) => Ok(list),
        _ => Err(Shape::new("a list").within(name)),
    }
}

impl Growing {
    /// Returns the fields of an object.
    pub(super) fn fields(&mut self) -> Result<&mut Fields, Shape> {
        match self {
            Growing::Object(fields) => Ok(fields),
            _ => Err(Shape::new("an object")),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Growing> {
        match self {
            Growing::Object(fields) => fields.get(name),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Growing::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Adds a delta as OpenAI's chat streams mean it: texts and lists grow, objects grow field by field, and whatever
    /// identifies an object is replaced. Null changes nothing.
    pub(super) fn merge(&mut self, delta: Value) {
        match (self, delta) {
            (_, Value::Null) => {}
            (Growing::Text(text), Value::String(more)) => text.push_str(&more),
            (Growing::Object(fields), Value::Object(delta)) => {
                for (name, value) in delta {
                    merge_field(fields, &name, value);
                }
            }
            (Growing::List(list), Value::Array(delta)) => {
                delta.into_iter().for_each(|entry| merge_entry(list, entry));
            }
            (old, new) => *old = Growing::from(new),
        }
    }
}

fn merge_field(fields: &mut Fields, name: &str, value: Value) {
    let is_identity = ["index", "type", "id", "role"].contains(&name);
    match fields.get_mut(name) {
        // Some servers repeat the name of a tool with each piece of its arguments.
        Some(Growing::Text(text)) if name == "name" && value.as_str() == Some(text) => {}
        Some(old) if !is_identity => old.merge(value),
        Some(_) if value.is_null() => {}
        _ => {
            // Even the first list is merged: it may have several pieces of one entry.
            let mut new = match value {
                Value::Array(_) => Growing::List(Vec::new()),
                _ => Growing::Other(Value::Null),
            };
            new.merge(value);
            fields.insert(name.to_owned(), new);
        }
    }
}

/// Adds an entry of a list, or a piece of one that is there already: the one with the same `index`, unless their ids differ. (Some
/// local servers number every call 0 and tell them apart by their ids.)
fn merge_entry(list: &mut Vec<Growing>, piece: Value) {
    let index = piece.get("index").filter(|index| !index.is_null());
    let id = piece.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let is_same = |entry: &&mut Growing| {
        let own_id = entry.get("id").and_then(Growing::as_str).filter(|own| !own.is_empty());
        let fits_id = id.is_none() || own_id.is_none() || id == own_id;
        let own_index = entry.get("index");
        match index {
            Some(index) => own_index == Some(&Growing::Other(index.clone())) && fits_id,
            None => own_index.is_none() && id.is_some() && fits_id,
        }
    };
    let is_piece = piece.as_object().is_some() && (index.is_some() || piece.get("id").is_some());
    let found = if is_piece { list.iter_mut().rev().find(is_same) } else { None };
    match found {
        Some(entry) => entry.merge(piece),
        None => list.push(Growing::from(piece)),
    }
}

/// Notes a part of a stream that is not known, once, and at most a hundred of them.
pub(super) fn skip(skipped: &mut Vec<String>, what: String) {
    if !skipped.contains(&what) && skipped.len() < 100 {
        skipped.push(what);
    }
}
