//! The matches of a selector, as a native object: ids at once, nodes when they are looked at.

use std::sync::{Mutex, PoisonError};

use contextree_app::command::selected::Selected;
use contextree_app::wire;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::error::{own, raise};
use crate::value::write;

/// Nodes that a selector matched.
#[pyclass(frozen, module = "contextree._native")]
pub(crate) struct Selection {
    process: u32,
    /// Outside of the lock, so that lists of them are made without it.
    ids: Vec<String>,
    selected: Mutex<Box<Selected>>,
}

impl Selection {
    pub(crate) fn new(mut selected: Box<Selected>) -> Selection {
        let ids = selected.take_ids();
        Selection { process: std::process::id(), ids, selected: Mutex::new(selected) }
    }
}

#[pymethods]
impl Selection {
    fn __len__(&self) -> usize {
        self.ids.len()
    }

    /// Returns the ids, in the order of the answer.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.ids.iter().map(|id| PyString::new(py, id)))
    }

    /// Returns the id at a position.
    fn id(&self, at: usize) -> Option<&str> {
        self.ids.get(at).map(String::as_str)
    }

    /// Returns messages about what is suspicious in the selector.
    fn warnings(&self) -> Vec<String> {
        self.selected.lock().unwrap_or_else(PoisonError::into_inner).warnings().to_vec()
    }

    /// Returns at most `count` nodes from a position on.
    fn nodes<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        count: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.process != std::process::id() {
            let message = "the selection was made in another process; select again after a fork";
            return Err(own(py, "E_STORE_FORKED", message));
        }
        let found = py.detach(|| {
            let mut selected = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
            selected.nodes(start, count).map(|nodes| wire::to_value(&nodes))
        });
        write(py, &found.map_err(|error| raise(py, &error))?)
    }
}
