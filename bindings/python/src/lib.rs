//! The native module of the Python package `contextree`: every command of `contextree-app`, with Python objects in and out.
//!
//! ```text
//! Python objects ─value→ JSON values ─engine→ a command of the catalogue ─→ JSON values ─value→ Python objects
//!                                       │
//!                                       └─error→ an exception of `contextree._errors`
//! ```
//!
//! | file | what |
//! |---|---|
//! | `engine` | a store that is open; runs commands on it |
//! | `registry` | the files that this process has open |
//! | `value` | Python objects to JSON values and back |
//! | `error` | failed commands as exceptions |
//! | `selection` | the matches of a selector, made when they are looked at |
//! | `log` | events of the engine for Python's `logging` |
//!
//! Locks: a call detaches from the interpreter first and takes locks of the engine afterwards, and nothing calls Python while it holds
//! one. Otherwise two threads could wait for each other. The typed layer that people use is `python/contextree`.

mod engine;
mod error;
mod log;
mod registry;
mod selection;
mod value;

use pyo3::prelude::*;

/// The private module `contextree._native`.
#[pymodule(gil_used = false)]
mod _native {
    use std::ffi::OsString;

    use contextree::Code;
    use contextree_app::catalog::COMMANDS;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::log::{drain_log, set_log_level};
    #[pymodule_export]
    use crate::selection::Selection;

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Returns the name and the description of every command.
    #[pyfunction]
    fn commands() -> Vec<(&'static str, &'static str)> {
        COMMANDS.iter().map(|command| (command.name, command.about)).collect()
    }

    /// Returns every error code with its kind.
    #[pyfunction]
    fn codes() -> Vec<(&'static str, &'static str)> {
        Code::ALL.iter().map(|code| (code.as_str(), code.kind().as_str())).collect()
    }

    /// Runs the program `ctx` and returns its exit code. The first argument is the name of the program.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "only owned arguments are read from Python")]
    fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| contextree_cli::run(&arguments))
    }
}
