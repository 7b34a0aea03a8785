//! A store that is open, and commands on it.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use contextree::store::{StoreOptions, scheme_of};
use contextree::{Clock, Edition, LogicalClock, SystemClock};
use contextree_app::catalog::Command;
use contextree_app::command::selected::Selection as Found;
use contextree_app::{Control, Document, Error, Source, Workspace, command, wire};
use contextree_json::{Value, from_value};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{forked, own, raise};
use crate::registry;
use crate::selection::Selection;
use crate::value::{read_object, write};

/// A store that is open. Threads may share it.
#[pyclass(frozen, module = "contextree._native")]
pub(crate) struct Engine {
    /// The process that opened it: connections do not survive a fork.
    process: u32,
    /// `None` if it was closed.
    workspace: RwLock<Option<Arc<Workspace>>>,
    url: String,
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // In a child process, closing would disturb the connection of the parent, and wait for threads that the child does not have.
            let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(workspace.take());
        }
    }
}

#[pymethods]
impl Engine {
    /// Opens the store at a URL or path. `clock` is `system` or `logical`.
    #[staticmethod]
    #[pyo3(signature = (url, *, create=true, clock="system"))]
    fn open(py: Python<'_>, url: &str, create: bool, clock: &str) -> PyResult<Engine> {
        let logical = match clock {
            "system" => false,
            "logical" => true,
            _ => return Err(own(py, "E_USAGE", "`clock` is \"system\" or \"logical\"")),
        };
        let workspace = open(py, url, create, logical)?;
        let url = workspace.url().to_owned();
        let workspace = RwLock::new(Some(workspace));
        Ok(Engine { process: std::process::id(), workspace, url })
    }

    /// The URL of the store, without a password.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Whether the store was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.workspace.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Closes this handle. Calls that are running on other threads end first.
    fn close(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            return;
        }
        let workspace = {
            let mut workspace = self.workspace.write().unwrap_or_else(PoisonError::into_inner);
            workspace.take()
        };
        let closing = workspace.as_ref().map(registry::close);
        // The last handle of a store waits for what is being written.
        py.detach(|| drop(workspace));
        drop(closing);
    }

    /// Runs a command of the catalogue.
    #[pyo3(signature = (command, context, request, edition=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        command: &str,
        context: Option<&str>,
        request: &Bound<'py, PyDict>,
        edition: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(command) = Command::named(command) else {
            return Err(own(py, "E_USAGE", &format!("there is no command `{command}`")));
        };
        let call = self.workspace(py, context, edition)?;
        let request = Value::Object(read_object(request)?);
        let done = py.detach(|| command.run(&call.workspace, request, &Control::default()));
        write(py, &done.map_err(|error| raise(py, &error))?)
    }

    /// Opens a document to be read: a snapshot, a history, or a fixture.
    #[staticmethod]
    fn document(py: Python<'_>, name: &str, text: Vec<u8>) -> PyResult<Engine> {
        let document = Document::new(name, text);
        let workspace = py.detach(|| Workspace::of_document(&document));
        let workspace = workspace.map_err(|error| raise(py, &error))?;
        let url = workspace.url().to_owned();
        let workspace = RwLock::new(Some(Arc::new(workspace)));
        Ok(Engine { process: std::process::id(), workspace, url })
    }

    /// Finds nodes by selector. Returns a `Selection`, or for a range the difference and warnings.
    #[pyo3(signature = (context, request, edition=None))]
    fn select<'py>(
        &self,
        py: Python<'py>,
        context: Option<&str>,
        request: &Bound<'py, PyDict>,
        edition: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Call { workspace, open } = self.workspace(py, context, edition)?;
        let request = Value::Object(read_object(request)?);
        let found = py.detach(|| {
            let request = from_value(request);
            let request = request.map_err(|error| Error::new(error.code(), error.to_string()))?;
            command::open_selection(&workspace, &request, &Control::default())
        });
        match found.map_err(|error| raise(py, &error))? {
            Found::Nodes(selected) => {
                Ok(Bound::new(py, Selection::new(selected, open))?.into_any())
            }
            Found::Range(range, warnings) => {
                Ok((write(py, &range)?, warnings).into_pyobject(py)?.into_any())
            }
        }
    }

    /// Imports a document or a log: bytes, or a file.
    #[pyo3(signature = (context, request, *, name, data=None, path=None, edition=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[expect(clippy::needless_pass_by_value, reason = "only owned paths are read from Python")]
    fn import_log<'py>(
        &self,
        py: Python<'py>,
        context: &str,
        request: &Bound<'py, PyDict>,
        name: &str,
        data: Option<Vec<u8>>,
        path: Option<PathBuf>,
        edition: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.workspace(py, Some(context), edition)?;
        let request = Value::Object(read_object(request)?);
        let done = py.detach(|| import(&call.workspace, request, name, data, path.as_deref()));
        write(py, &done.map_err(|error| raise(py, &error))?)
    }
}

/// What a call works on.
pub(crate) struct Call {
    pub(crate) workspace: Workspace,
    /// Keeps the store open until the call ends, even if the handle is closed meanwhile.
    pub(crate) open: Arc<Workspace>,
}

impl Engine {
    /// Returns the workspace for one call.
    pub(crate) fn workspace(
        &self,
        py: Python<'_>,
        context: Option<&str>,
        edition: Option<&str>,
    ) -> PyResult<Call> {
        if self.process != std::process::id() {
            return Err(forked(py, "the store was opened in another process", registry::HINT));
        }
        let workspace = self.workspace.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(open) = workspace else {
            return Err(own(py, "E_STORE_CLOSED", "the store is closed"));
        };
        let edition = match edition.map(str::parse::<Edition>) {
            None => None,
            Some(Ok(edition)) => Some(edition),
            Some(Err(error)) => return Err(own(py, "E_USAGE", &error.to_string())),
        };
        let workspace = Workspace::clone(&open).with_edition(edition);
        let workspace = match context {
            Some(name) => workspace.with_context(name),
            None => workspace,
        };
        Ok(Call { workspace, open })
    }
}

fn open(py: Python<'_>, url: &str, create: bool, logical: bool) -> PyResult<Arc<Workspace>> {
    let path = match scheme_of(url) {
        Some("sqlite") => url.strip_prefix("sqlite:"),
        Some(_) => None,
        None => Some(url),
    };
    let opening = path.map(|path| registry::begin(py, Path::new(path), logical)).transpose()?;
    if let Some(known) = opening.as_ref().and_then(registry::Opening::known) {
        return Ok(known);
    }
    let opened: Result<_, Error> = py.detach(|| {
        let clock: Arc<dyn Clock> =
            if logical { Arc::new(LogicalClock) } else { Arc::new(SystemClock) };
        let store =
            contextree::open_with(url, StoreOptions { clock, create, ..StoreOptions::default() })?;
        let shown = match scheme_of(url) {
            Some(_) => url.to_owned(),
            None => format!("sqlite:{url}"),
        };
        Ok(Arc::new(Workspace::over(store, shown)))
    });
    let workspace = opened.map_err(|error| raise(py, &error))?;
    let Some(opening) = opening else { return Ok(workspace) };
    let kept = opening.end(&workspace);
    // Another thread may have opened it meanwhile; then this one is closed, which may wait.
    py.detach(|| drop(workspace));
    Ok(kept)
}

fn import(
    workspace: &Workspace,
    request: Value,
    name: &str,
    data: Option<Vec<u8>>,
    path: Option<&Path>,
) -> Result<Value, Error> {
    let request =
        from_value(request).map_err(|error| Error::new(error.code(), error.to_string()))?;
    let (length, reader): (_, Box<dyn Read>) = match (path, data) {
        (Some(path), _) => {
            let file = File::open(path).map_err(|error| Error::io(name, error))?;
            (file.metadata().ok().map(|found| found.len()), Box::new(file))
        }
        (None, data) => {
            let data = data.unwrap_or_default();
            (Some(data.len() as u64), Box::new(Cursor::new(data)))
        }
    };
    let source = Source { name: name.to_owned(), length, reader };
    let done = command::import(workspace, &request, source, &Control::default())?;
    Ok(wire::to_value(&done))
}
