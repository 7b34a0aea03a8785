//! `cargo xtask bench`: all bars, the same work by the alternatives, and the page and pictures that
//! show them.
//!
//! | command | measures |
//! |---|---|
//! | `bench` | our own bars |
//! | `bench --peers` | other systems and ours, on the same work |
//! | `bench --scale` | large stores, and many commits for a long time |
//! | `bench page` | nothing; writes the page again from the results |
//!
//! With `--quick`, a tenth of it; documents are not changed, and results and page are in
//! `target/release/bench`.

mod bars;
mod machine;
mod page;
mod peers;
mod plot;
mod results;
mod scale;

use std::path::{Path, PathBuf};

use results::Results;

/// Runs what the arguments after `bench` request; fails in the end if a bar is missed.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let quick = arguments.contains(&"--quick");
    let rest: Vec<&str> =
        arguments.iter().copied().filter(|argument| *argument != "--quick").collect();
    let programs = programs()?;
    // The documents show complete runs only.
    let is_whole = !quick && rest.len() <= 1;
    let mut results = Results::open(root, &programs, is_whole)?;
    let wrong = match rest.as_slice() {
        [] => bars::run(root, &programs, &mut results, quick)?,
        ["--peers"] => peers::run(root, &programs, &mut results, quick, None)?,
        ["--peers", only] => peers::run(root, &programs, &mut results, quick, Some(only))?,
        ["--scale", rest @ ..] => scale::run(root, &programs, &mut results, rest, quick)?,
        ["page"] => {
            page::write(&results)?;
            return Ok("the page is written; nothing was measured".to_owned());
        }
        _ => return Err(crate::USAGE.to_owned()),
    };
    page::write(&results)?;
    if wrong.is_empty() { Ok("all bars hold".to_owned()) } else { Err(wrong.join("\n")) }
}

/// Returns the folder in which cargo puts release builds: beside the one of this program.
fn programs() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let own = own.parent().ok_or("this program has no folder")?;
    Ok(own.with_file_name("release"))
}
