//! Records how a Gemini request was spelled: names in `snake_case`, null fields, a part without its
//! list.
//!
//! The Python SDK logs its objects this way, and the API accepts both spellings. Everything is read
//! under the API's names; an attribute records the original spelling, so that a request round-trips
//! unchanged.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use contextree_tree::NewNode;

use super::ME;
use crate::parts::{Part, View};
use crate::read::{Fields, set};

/// The attribute: an object with the notes named below.
const SPELLING: &str = "data_spelling";

/// API names that were written in `snake_case`.
pub(super) const SNAKE: &str = "snake";
/// Fields that were null.
pub(super) const NULL: &str = "null";
/// Fields of the inner object that were null.
pub(super) const INNER_NULL: &str = "inner_null";
/// Null fields of the entry that holds the functions, and whether its list was in `snake_case`.
pub(super) const ENTRY: &str = "entry";
/// How the content was written: one of the values below.
pub(super) const CONTENT: &str = "content";
/// The role was null.
pub(super) const ROLE_NULL: &str = "role_null";

/// Values of [`CONTENT`].
pub(super) mod content {
    /// A text in place of a content.
    pub(crate) const TEXT: &str = "text";
    /// A part in place of a content.
    pub(crate) const PART: &str = "part";
    /// A part in place of the list of parts.
    pub(crate) const ONE: &str = "one";
    /// An empty list of parts.
    pub(crate) const EMPTY: &str = "empty";
    /// `null` in place of the list of parts.
    pub(crate) const NULL: &str = "null";
    /// No parts at all.
    pub(crate) const ABSENT: &str = "absent";
}

/// Converts an API name to `snake_case`.
pub(super) fn snake(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_lowercase());
    }
    spelled
}

/// Returns a field by its API name, in either spelling; `None` if it is missing or null.
pub(crate) fn get<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    let there = |value: &&Value| !value.is_null();
    object.get(name).filter(there).or_else(|| {
        // Most objects have no `snake_case` name; check before building one.
        let any = object.keys().any(|key| key.contains('_'));
        any.then(|| object.get(&snake(name)).filter(there)).flatten()
    })
}

/// An object that is being read by API names, skipping null fields.
pub(super) struct Reader {
    /// The fields that have not been taken.
    pub(super) fields: Fields,
    pub(super) snake: Vec<Value>,
    pub(super) nulls: Vec<Value>,
}

impl Reader {
    pub(super) fn of(mut object: Object) -> Self {
        let mut nulls = Vec::new();
        if object.iter().any(|(_, value)| value.is_null()) {
            let names = object.iter().filter(|(_, value)| value.is_null());
            nulls.extend(names.map(|(name, _)| Value::from(name)));
            for name in nulls.iter().filter_map(Value::as_str) {
                object.remove(name);
            }
        }
        Reader { fields: Fields(object), snake: Vec::new(), nulls }
    }

    /// Takes a field.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.take(name).or_else(|| {
            let value = self.fields.take(&snake(name))?;
            if snake(name) != name {
                self.snake.push(Value::from(name));
            }
            Some(value)
        })
    }

    /// Takes a field that is a string; leaves any other value.
    pub(super) fn take_text(&mut self, name: &str) -> Option<Box<str>> {
        get(&self.fields.0, name)?.as_str()?;
        match self.take(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes a field that is an object; leaves any other value.
    pub(super) fn take_object(&mut self, name: &str) -> Option<Object> {
        get(&self.fields.0, name)?.as_object()?;
        match self.take(name) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Takes a field that is a list; leaves any other value.
    pub(super) fn take_list(&mut self, name: &str) -> Option<Vec<Value>> {
        get(&self.fields.0, name)?.as_array()?;
        match self.take(name) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        }
    }
}

/// Records a note about how a block was written.
pub(super) fn note(node: &mut NewNode, name: &str, value: Value) {
    let found = node.attributes.iter_mut().find(|(own, _)| own == SPELLING);
    match found {
        Some((_, Value::Object(notes))) => {
            notes.insert(name, value);
        }
        _ => set(node, SPELLING, Value::Object(Object::from_iter([(name, value)]))),
    }
}

/// Records a list as a note, unless it is empty.
pub(super) fn note_list(node: &mut NewNode, name: &str, list: Vec<Value>) {
    if !list.is_empty() {
        note(node, name, Value::Array(list));
    }
}

/// Returns a note about a block that was imported from Gemini.
pub(super) fn noted<'a>(view: &View<'a>, name: &str) -> Option<&'a Value> {
    view.own_fields(SPELLING, ME)?.get(name)
}

/// Returns a note about any of these parts.
pub(super) fn noted_in<'a>(parts: &[Part<'a>], name: &str) -> Option<&'a Value> {
    parts.iter().find_map(|part| noted(&part.view(), name))
}

/// Returns an API name in the spelling that the block used.
pub(super) fn spelled(view: &View<'_>, name: &'static str) -> Cow<'static, str> {
    let list = noted(view, SNAKE).and_then(Value::as_array).unwrap_or_default();
    match list.iter().any(|it| it.as_str() == Some(name)) {
        true => Cow::Owned(snake(name)),
        false => Cow::Borrowed(name),
    }
}

/// Returns the names listed in a note.
pub(super) fn names<'a>(view: &View<'a>, name: &str) -> impl Iterator<Item = &'a str> {
    let list = noted(view, name).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_str)
}

/// Returns the names that the block had in `snake_case`.
pub(super) fn snake_names(node: &NewNode) -> &[Value] {
    let notes = node.attributes.iter().find(|(own, _)| own == SPELLING).map(|(_, notes)| notes);
    notes.and_then(|notes| notes.get(SNAKE)).and_then(Value::as_array).unwrap_or_default()
}
