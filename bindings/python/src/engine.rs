//! A store that is open, and commands on it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use contextree::store::{StoreOptions, scheme_of};
use contextree::{Clock, Edition, LogicalClock, SystemClock};
use contextree_app::catalog::Command;
use contextree_app::command::selected::Selection as Found;
use contextree_app::{Control, Document, Error, Source, Workspace, command, wire};
use contextree_json::{Value, from_value};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{own, raise};
use crate::selection::Selection;
use crate::value::{read_object, write};

/// Stores of this process by their file, so that everyone who opens the same file shares one: two would conflict with each other.
static OPEN: Mutex<BTreeMap<String, Weak<Workspace>>> = Mutex::new(BTreeMap::new());

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

fn registry() -> MutexGuard<'static, BTreeMap<String, Weak<Workspace>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
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
        let opened = py.detach(|| open(url, create, logical));
        let workspace = opened.map_err(|error| raise(py, &error))?;
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
        // The last handle of a store waits for what is being written.
        py.detach(|| drop(workspace));
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
        let workspace = self.workspace(py, context, edition)?;
        let request = Value::Object(read_object(request)?);
        let done = py.detach(|| command.run(&workspace, request, &Control::default()));
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
        let workspace = self.workspace(py, context, edition)?;
        let request = Value::Object(read_object(request)?);
        let found = py.detach(|| {
            let request = from_value(request);
            let request = request.map_err(|error| Error::new(error.code(), error.to_string()))?;
            command::open_selection(&workspace, &request, &Control::default())
        });
        match found.map_err(|error| raise(py, &error))? {
            Found::Nodes(selected) => Ok(Bound::new(py, Selection::new(selected))?.into_any()),
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
        let workspace = self.workspace(py, Some(context), edition)?;
        let request = Value::Object(read_object(request)?);
        let done = py.detach(|| import(&workspace, request, name, data, path.as_deref()));
        write(py, &done.map_err(|error| raise(py, &error))?)
    }
}

impl Engine {
    /// Returns the workspace for one call. It keeps the store open until the call ends, even if the handle is closed meanwhile.
    pub(crate) fn workspace(
        &self,
        py: Python<'_>,
        context: Option<&str>,
        edition: Option<&str>,
    ) -> PyResult<Workspace> {
        if self.process != std::process::id() {
            let message = "the store was opened in another process; open it again after a fork";
            return Err(own(py, "E_STORE_FORKED", message));
        }
        let workspace = self.workspace.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(workspace) = workspace else {
            return Err(own(py, "E_STORE_CLOSED", "the store is closed"));
        };
        let edition = match edition.map(str::parse::<Edition>) {
            None => None,
            Some(Ok(edition)) => Some(edition),
            Some(Err(error)) => return Err(own(py, "E_USAGE", &error.to_string())),
        };
        let workspace = Workspace::clone(&workspace).with_edition(edition);
        Ok(match context {
            Some(name) => workspace.with_context(name),
            None => workspace,
        })
    }
}

fn open(url: &str, create: bool, logical: bool) -> Result<Arc<Workspace>, Error> {
    let path = match scheme_of(url) {
        Some("sqlite") => url.strip_prefix("sqlite:"),
        Some(_) => None,
        None => Some(url),
    };
    let key = |path: &str| identity(Path::new(path)).map(|file| format!("{logical} {file}"));
    if let Some(known) = path.and_then(key).and_then(|key| registry().get(&key)?.upgrade()) {
        return Ok(known);
    }
    let clock: Arc<dyn Clock> =
        if logical { Arc::new(LogicalClock) } else { Arc::new(SystemClock) };
    let options = StoreOptions { clock, create, ..StoreOptions::default() };
    let store = contextree::open_with(url, options)?;
    let shown = match scheme_of(url) {
        Some(_) => url.to_owned(),
        None => format!("sqlite:{url}"),
    };
    let workspace = Arc::new(Workspace::over(store, shown));
    let Some(key) = path.and_then(key) else { return Ok(workspace) };
    let mut open = registry();
    open.retain(|_, known| known.strong_count() > 0);
    // Another thread may have opened it meanwhile.
    if let Some(known) = open.get(&key).and_then(Weak::upgrade) {
        return Ok(known);
    }
    open.insert(key, Arc::downgrade(&workspace));
    Ok(workspace)
}

/// Returns what identifies a file while it exists, in this process: a new file of the same name is another one.
fn identity(path: &Path) -> Option<String> {
    let process = std::process::id();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(path).ok()?;
        Some(format!("{process} {} {}", found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        Some(format!("{process} {}", fs::canonicalize(path).ok()?.display()))
    }
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
