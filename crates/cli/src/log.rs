//! The log of a command, on standard error: off unless `CONTEXTREE_LOG` names a level. `ctx serve` has a log of its own.

use std::io;

use tracing_subscriber::filter::LevelFilter;

use crate::environment::variable;
use crate::error::Failure;

/// The variable of the environment that names the level.
const VARIABLE: &str = "CONTEXTREE_LOG";

/// Starts the log, if the environment asks for one.
///
/// # Errors
///
/// If the variable names no level: a typing error must not look like a command that has nothing to log.
pub(crate) fn start() -> Result<(), Failure> {
    let Some(level) = variable(VARIABLE) else { return Ok(()) };
    let Ok(level) = level.parse::<LevelFilter>() else {
        return Err(Failure::usage(format!("{VARIABLE}: there is no level `{level}`"))
            .with_hint("use error, warn, info, debug, trace or off"));
    };
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false);
    // Without times: a log that is compared with another one differs only where the commands did.
    // It fails if the process has a log already, as in tests.
    let _ = log.with_max_level(level).without_time().try_init();
    Ok(())
}
