//! `backup` and `restore`: copies of a store in a file.

use std::path::Path;

use contextree::store::Store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::Access;
use crate::{Advice, Control, Error, Progress, Workspace};

/// Copies the store into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// The file to write.
    pub path: String,
}

/// Creates the store from a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// The backup.
    pub path: String,
}

/// A copied store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupResponse {
    /// The file that was written.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// Copies the store into a file, while others read and write.
///
/// # Errors
///
/// If the store is not a file, or the file to write exists.
pub fn backup(
    workspace: &Workspace,
    request: &BackupRequest,
    control: &Control<'_>,
) -> Result<BackupResponse, Error> {
    let _span = workspace.span("backup");
    let store = workspace.store(Access::Read)?;
    let whole = store.whole()?;
    let progress = &mut |done, of| pages(control, done, of);
    match whole.backup(Path::new(&request.path), progress)? {
        true => response(&request.path),
        false => Err(not_a_file(workspace)),
    }
}

/// Creates the store from a backup. The store must not exist yet.
///
/// # Errors
///
/// If the backup is not a store, or the store exists or is not a file.
pub fn restore(
    workspace: &Workspace,
    request: &RestoreRequest,
    control: &Control<'_>,
) -> Result<BackupResponse, Error> {
    let _span = workspace.span("restore");
    let Some(path) = workspace.sqlite_path() else {
        return Err(not_a_file(workspace));
    };
    std::fs::metadata(&request.path).map_err(|error| Error::io(&request.path, error))?;
    let (from, to) = (Path::new(&request.path), Path::new(path));
    Store::restore(from, to, &mut |done, of| pages(control, done, of))?;
    response(path)
}

fn pages(control: &Control<'_>, done: u64, of: u64) {
    control.at(Progress { task: "copying", unit: "pages", done, of: Some(of) });
}

fn response(path: &str) -> Result<BackupResponse, Error> {
    let bytes = std::fs::metadata(path).map_err(|error| Error::io(path, error))?.len();
    Ok(BackupResponse { path: path.to_owned(), bytes })
}

fn not_a_file(workspace: &Workspace) -> Error {
    Error::usage(format!("the store `{}` is not a file", workspace.url()))
        .with_advice(Advice::ExportHistory)
}
