//! `ctx backup` and `ctx restore`: copies of a store.

use std::path::Path;

use contextree_json::{Object, Value};
use contextree_store::Sqlite;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::progress::Progress;
use crate::output::text::size;
use crate::source::{Access, Home};

/// Copy the store into a file, while others read and write
///
/// The copy is the store as it was when the copying began. An existing file is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx backup monday.db
  ctx --store sqlite:monday.db contexts     a backup is a store")]
pub(crate) struct Args {
    /// The file to write
    path: String,
}

/// Make the store from a backup; the store must not exist yet
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx restore monday.db
  ctx --store sqlite:other.db restore monday.db")]
pub(crate) struct RestoreArgs {
    /// The backup
    path: String,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let home = Home::open(call.global, call.environment, Access::Read)?;
    let progress = Progress::new(call.environment, "copying", "pages");
    let path = Path::new(&args.path);
    let is_copied = home.store.backend().backup(path, &mut |done, of| progress.at(done, of))?;
    drop(progress);
    if !is_copied {
        return Err(not_a_file(call));
    }
    report(&args.path, &format!("copied the store to {}", args.path), call)
}

pub(crate) fn run_restore(args: &RestoreArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let Some(path) = call.global.store.strip_prefix("sqlite:") else {
        return Err(not_a_file(call));
    };
    std::fs::metadata(&args.path).map_err(|error| Failure::io(&args.path, &error))?;
    let progress = Progress::new(call.environment, "copying", "pages");
    Sqlite::restore(Path::new(&args.path), Path::new(path), &mut |done, of| {
        progress.at(done, of);
    })?;
    drop(progress);
    report(path, &format!("restored {} from {}", call.global.store, args.path), call)
}

fn report(path: &str, done: &str, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let bytes = std::fs::metadata(path).map_err(|error| Failure::io(path, &error))?.len();
    if call.output.format() == Format::Human {
        call.output.note(&format!("{done}, {}", size(bytes)));
    } else {
        let entries = [("path", Value::from(path)), ("bytes", Value::from(bytes))];
        call.output.value(&Value::Object(Object::from_iter(entries)));
    }
    Ok(Exit::Ok)
}

fn not_a_file(call: &Call<'_>) -> Failure {
    Failure::usage(format!("`{}` is no store in a file", call.global.store)).hint(
        "`ctx export --history` writes a context of any store; a server has backups of its own",
    )
}
