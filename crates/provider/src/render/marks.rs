//! Marks: additional fields that one request has on some blocks. They control caching and move from
//! request to request, so they are not part of the blocks.

use std::collections::BTreeMap;

use contextree_json::{Object, Value};

use super::{Preamble, RenderOptions};
use crate::Provider;
use crate::parts::names;

/// The marks of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marks {
    /// Fields by node id.
    pub(crate) fields: BTreeMap<String, Object>,
    /// Texts that this request writes in another form than the imported one, by node id.
    pub(crate) forms: BTreeMap<String, Box<str>>,
}

impl Marks {
    /// Returns the marks given by the caller, or else those of the tree that belong to this
    /// provider.
    pub(crate) fn of(
        provider: Provider,
        preamble: &Preamble<'_>,
        options: &RenderOptions,
    ) -> Marks {
        // Marks of the caller replace all marks of the tree.
        if let Some(fields) = &options.marks {
            return Marks { fields: fields.clone(), forms: BTreeMap::new() };
        }
        let mut marks = Marks::default();
        for node in &preamble.marks {
            let owner = node.attribute(names::PROVIDER).and_then(Value::as_str);
            if owner != Some(provider.name()) {
                continue;
            }
            let entries = |name| node.attribute(name).and_then(Value::as_object);
            for (id, form) in entries(names::FORMS).into_iter().flatten() {
                if let Some(form) = form.as_str() {
                    marks.forms.insert(id.to_owned(), form.into());
                }
            }
            for (id, fields) in entries(names::MARKS).into_iter().flatten() {
                if let Some(fields) = fields.as_object() {
                    marks.fields.insert(id.to_owned(), fields.clone());
                }
            }
        }
        marks
    }
}
