//! Failed commands as exceptions. The classes are defined in Python, so that type checkers know them.

use contextree_app::{Advice, Error, Hint};
use contextree_json::{Object, Value};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::value::write_object;

/// Returns the exception for a failed command.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let wire = error.to_wire_with(words).error;
    make(py, &wire.code, &wire.message, &wire.details, error.drawing())
}

/// Returns the exception for an object that is not JSON.
pub(crate) fn invalid(py: Python<'_>, message: &str, place: &str) -> PyErr {
    let mut details = Object::new();
    if !place.is_empty() {
        details.insert("place", Value::from(place));
    }
    make(py, "E_JSON_SHAPE", message, &details, None)
}

/// Returns an exception of the package with one of its own codes.
pub(crate) fn own(py: Python<'_>, code: &str, message: &str) -> PyErr {
    make(py, code, message, &Object::new(), None)
}

/// Returns the exception for what is used, or opened, on the wrong side of a fork.
pub(crate) fn forked(py: Python<'_>, message: &str, hint: &str) -> PyErr {
    let mut details = Object::new();
    details.insert("hints", Value::Array(vec![Value::from(hint)]));
    make(py, "E_STORE_FORKED", message, &details, None)
}

fn make(
    py: Python<'_>,
    code: &str,
    message: &str,
    details: &Object,
    drawing: Option<&str>,
) -> PyErr {
    let made = || {
        let details: Bound<'_, PyDict> = write_object(py, details)?;
        let module = py.import("contextree._errors")?;
        module.getattr("make")?.call1((code, message, details, drawing))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Words hints with the methods of the package.
fn words(hint: &Hint) -> Option<String> {
    let advice = match hint {
        Hint::Text(text) => return Some(text.clone()),
        Hint::Advice(advice) => advice,
    };
    Some(match advice {
        Advice::SimilarContext(name) => format!("did you mean `{name}`?"),
        Advice::OnlyContext(name) => format!("the only context is `{name}`"),
        Advice::ListContexts => "`store.contexts()` lists the contexts".to_owned(),
        Advice::NewContext(name) => format!("`store.context({name:?})` creates it"),
        Advice::ListSnapshots => "`context.log()` lists the snapshots".to_owned(),
        Advice::ShowTree => "`print(context)` shows the tree".to_owned(),
        Advice::ListAttempts => "`context.attempts()` lists the attempts".to_owned(),
        _ => return None,
    })
}
