//! `ctx backup` and `ctx restore`: copies of a store.

use std::path::Path;

use contextree_app::command::backup::{self, BackupRequest, BackupResponse, RestoreRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::size;

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

/// Create the store from a backup; the store must not exist yet
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
    let request = BackupRequest { path: args.path.clone() };
    let done =
        call.on(&call.store(), |workspace, control| backup::backup(workspace, &request, control))?;
    report(&done, &format!("copied the store to {}", args.path), call);
    Ok(Exit::Ok)
}

pub(crate) fn run_restore(args: &RestoreArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    if args.path.starts_with('@') && !Path::new(&args.path).exists() {
        let message = format!("`{}` is a snapshot, not a backup", args.path);
        let hint = format!("`ctx reset {}` makes it the newest snapshot", args.path);
        return Err(Failure::usage(message).with_hint(hint));
    }
    let request = RestoreRequest { path: args.path.clone() };
    let done =
        call.on(&call.store(), |workspace, control| backup::restore(workspace, &request, control))?;
    report(&done, &format!("restored {} from {}", call.store().url(), args.path), call);
    Ok(Exit::Ok)
}

fn report(done: &BackupResponse, words: &str, call: &mut Call<'_>) {
    match call.output.format() {
        Format::Human => call.output.note(&format!("{words}, {}", size(done.bytes))),
        _ => call.output.form(done),
    }
}
