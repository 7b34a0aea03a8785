//! The matches of a selector, as a native object: ids at once, nodes when they are looked at.

use std::sync::{Arc, Mutex, PoisonError};

use contextree_app::command::selected::Selected;
use contextree_app::{Workspace, wire};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::error::{forked, raise};
use crate::registry;
use crate::value::write;

/// Nodes that a selector matched.
#[pyclass(frozen, module = "contextree._native")]
pub(crate) struct Selection {
    process: u32,
    /// Outside of the lock, so that lists of them are made without it.
    ids: Vec<String>,
    warnings: Vec<String>,
    selected: Mutex<Option<Box<Selected>>>,
    /// The store stays open, and is known to be, while nodes can be read.
    open: Option<Arc<Workspace>>,
}

impl Selection {
    pub(crate) fn new(mut selected: Box<Selected>, open: Arc<Workspace>) -> Selection {
        let (ids, warnings) = (selected.take_ids(), selected.warnings().to_vec());
        let (process, selected) = (std::process::id(), Mutex::new(Some(selected)));
        Selection { process, ids, warnings, selected, open: Some(open) }
    }
}

impl Drop for Selection {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // See `Engine`: closing is up to the parent.
            std::mem::forget(self.open.take());
            std::mem::forget(
                self.selected.get_mut().unwrap_or_else(PoisonError::into_inner).take(),
            );
        }
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
        self.warnings.clone()
    }

    /// Returns at most `count` nodes from a position on.
    fn nodes<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        count: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.process != std::process::id() {
            return Err(forked(py, "the selection was made in another process", registry::HINT));
        }
        let found = py.detach(|| {
            let mut selected = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
            let selected = selected.as_mut().expect("it is only taken when it is dropped");
            selected.nodes(start, count).map(|nodes| wire::to_value(&nodes))
        });
        write(py, &found.map_err(|error| raise(py, &error))?)
    }
}
